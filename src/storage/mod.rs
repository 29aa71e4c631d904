//! PostgreSQL: all SQL statements of the service, in modules by subject.
//!
//! `database` is the access to the server (and `embedded` the server itself); `write` saves versions, `batcher` batches
//! them, `head_cache` caches newest versions; each other module contains the statements of one kind of
//! row. Statements follow DESIGN §8: each has `vault_id = $n` on every table it touches; ids and times come from the
//! service; there is no session state, so that a transaction-mode pooler can be used; errors are distinguished by
//! SQLSTATE and statement.

pub mod access;
mod batcher;
mod columns;
pub mod contexts;
pub mod database;
pub mod embedded;
mod error;
pub mod events;
pub mod handoffs;
mod head_cache;
pub mod idempotency;
pub mod maintenance;
pub mod memories;
mod pages;
pub mod prompt_items;
pub mod records;
pub mod search;
pub mod transfer;
pub mod updates;
pub mod usage;
pub mod window;
pub mod write;

pub use contexts::{Context, ContextMetadata, ContextRef, Redaction, Source, origins::Blame};
pub use database::{
    ACQUIRE_TIMEOUT, Class, Distribution, FailingVaults, OWN_CONNECTIONS, PoolOptions, Storage,
    TransactionError, is_direct,
};
pub use error::StorageError;
pub use head_cache::{HeadCacheUse, STALENESS_BOUND};
pub use maintenance::Rebuilt;
pub use pages::Rows;
pub use usage::stored::{OverQuota, Quotas, Stored};
pub use write::put::{Put, PutJob};
pub use write::restore::RestoreJob;
pub use write::window::{WindowChange, WindowImported, Writer};
pub use write::{AlsoRead, Decision, EntityTags, Head, NewVersion, PreconditionFailed, Preconditions};
pub use write::{Missing, WriteError};
