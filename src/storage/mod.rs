//! PostgreSQL: the pool, named transactions, and every SQL statement of the service.
//!
//! One file per aggregate. Statements follow the discipline of DESIGN §8: each has `vault_id = $n` on
//! every table it touches; ids and times come from the service; no session state, so that a
//! transaction-mode pooler can stand between; outcomes are told apart by SQLSTATE and statement.

pub mod archivings;
mod batcher;
mod columns;
mod connection;
pub mod contexts;
mod deadline;
mod distribution;
pub mod embedded;
mod error;
pub mod events;
pub mod evidence;
mod exchanges;
mod failing;
mod handoff_reads;
pub mod handoffs;
mod head_cache;
mod heartbeat;
mod hosts;
pub mod idempotency;
pub mod keys;
mod lanes;
pub mod listen;
mod liveness;
pub mod memories;
pub mod memories_sorted;
pub mod memory_paths;
mod migrate;
pub mod origins;
mod outcomes;
mod pages;
mod pool;
pub mod prompt_items;
pub mod proposals;
mod prune_runs;
pub mod queue;
mod readiness;
mod rebuild;
pub mod record_history;
pub mod records;
pub mod redact;
mod repeat;
mod replica;
mod retention;
pub mod search;
pub mod search_vectors;
pub mod server_state;
mod session;
pub mod sessions;
mod stored;
mod transaction;
pub mod transfer;
pub mod updates;
pub mod usage;
pub mod window;
pub mod write;

pub use contexts::{Context, ContextMetadata, ContextRef, Redaction, Source};
pub use deadline::{Class, Deadlines};
pub use distribution::Distribution;
pub use error::StorageError;
pub use failing::FailingVaults;
pub use head_cache::{HeadCacheUse, STALENESS_BOUND};
pub use lanes::OWN_CONNECTIONS;
pub use memories::DeleteError;
pub use origins::Blame;
pub use pages::Rows;
pub use pool::{PoolOptions, Storage};
pub use rebuild::Rebuilt;
pub use redact::RedactError;
pub use session::keeps_prepared_statements;
pub use stored::{OverQuota, Quotas, Stored};
pub use write::put::{Guard, Put, PutError, PutJob};
pub use write::restore::{RestoreError, RestoreJob};
pub use write::window::{NewDecision, TakenOver, WindowChange, WindowChangeError, Writer};
pub use write::{
    ChangeError, Decision, EntityTags, Head, HeadSnapshot, NewVersion, Outcome, Preconditions, WindowRows,
};
