//! Changes memories. Everything that creates a version (puts, updates, operations, tasks, decisions, status, restores,
//! imports) goes through it:
//!
//! ```text
//! request ── a decision: Fn(&Head) -> Keep | Save(NewVersion) | rejection      pure, may be called again
//!    │
//!    ├─ optimistic: the head from the cache, or the one that a model was called with
//!    │     decide → Prepared ── batcher ── one transaction for many ─┐
//!    │     skipped (head moved, row locked)? ↓                       ├─ save(&[Prepared])  the one writer of `memories`,
//!    └─ locked: SELECT … FOR UPDATE, read the head                   │     `memory_contexts`, `records`, `record_changes`,
//!          decide → Prepared ── a transaction of its own ────────────┘     `updates`, `events`
//!    committed: head cache, notifications, events; then the request is answered
//! ```
//!
//! An optimistic decision is saved only if the head is unchanged (compare-and-swap on `memories.head_context_id`). A
//! change is never rejected because of a head that may be outdated. Both paths call the same decision and the same
//! `save`, and a property test compares them.

pub mod change;
mod error;
mod group_commit;
mod head;
mod new_version;
mod pieces;
pub mod put;
pub mod restore;
mod save;
mod stored_operations;
pub mod window;

pub(super) use change::save_locked;
pub use change::{AlsoRead, Decision};
pub use error::{Missing, WriteError};
pub(super) use group_commit::MemoryLocks;
pub(super) use group_commit::Submitted;
pub(super) use head::lock_memory;
pub use head::{EntityTags, Head, PreconditionFailed, Preconditions};
pub use new_version::NewVersion;
pub(super) use new_version::Prepared;
pub(super) use stored_operations::operation_details;
