//! PostgreSQL: the pool, named transactions, and every SQL statement of the service.
//!
//! One file per aggregate. Statements follow the discipline of DESIGN §8: each has `vault_id = $n` on
//! every table it touches; ids and times come from the service; no session state, so that a
//! transaction-mode pooler can stand between; outcomes are told apart by SQLSTATE and statement.

pub mod archivings;
mod captured;
pub mod change;
pub mod contexts;
pub mod embedded;
mod error;
pub mod events;
mod gather;
mod handoff_reads;
pub mod handoffs;
mod head;
mod heads;
pub mod idempotency;
pub mod keys;
pub mod listen;
pub mod memories;
mod migrate;
mod new_version;
pub mod origins;
mod pool;
mod precondition;
pub mod prompt_items;
pub mod put;
pub mod queue;
mod rebuild;
mod record_changes;
mod record_history;
pub mod records;
pub mod redact;
pub mod restore;
mod retention;
pub mod search;
mod session;
pub mod transfer;
pub mod updates;
pub mod usage;
pub mod window;
pub mod window_changes;

pub use captured::CapturedHead;
pub use change::{ChangeError, Decision, Outcome};
pub use contexts::{Context, ContextMetadata, ContextRef, Redaction, Source};
pub use error::StorageError;
pub use head::Head;
pub use heads::{HeadCacheUse, STALENESS_BOUND};
pub use memories::DeleteError;
pub use new_version::NewVersion;
pub use origins::Blame;
pub use pool::{PoolOptions, Storage};
pub use precondition::{EntityTags, Preconditions};
pub use put::{Guard, Put, PutError, PutJob};
pub use rebuild::Rebuilt;
pub use redact::RedactError;
pub use restore::RestoreError;
pub use session::keeps_prepared_statements;
pub use window::WindowRows;
pub use window_changes::{NewDecision, TakenOver, WindowChange, WindowChangeError, Writer};
