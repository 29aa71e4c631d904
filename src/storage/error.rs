//! What can go wrong with the database, told apart by what a caller can do about it.

use crate::domain::ids::UpdateId;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use std::time::Duration;

/// A failure of the database.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The database cannot be reached or cannot take work just now; trying again later helps.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// A stored value that the service would never have written.
    #[error("corrupt row: {table}.{column} of {row}: {problem}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row, by its key.
        row: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A statement changed another number of rows than it must.
    #[error("{statement} changed {actual} rows instead of {expected}")]
    WrongRowCount {
        /// Which statement.
        statement: &'static str,
        /// How many rows it must change.
        expected: u64,
        /// How many it changed.
        actual: u64,
    },
    /// The run that was to be finished by hand does not wait for it any more; nothing was saved.
    #[error("run {0} was finished by another")]
    AlreadyResolved(UpdateId),
    /// The proposal that was to be decided does not wait for it any more; nothing was saved.
    #[error("proposal {0} was decided by another, or is gone")]
    AlreadyDecided(UpdateId),
    /// The run that was claimed is not this worker's any more: it was called off, taken over or deleted. Nothing was
    /// saved.
    #[error("the claim of run {0} is lost")]
    ClaimLost(UpdateId),
    /// The claim of an idempotency key under which it was to be saved does not stand any more: another request took the
    /// key over, or it was given up. Nothing was saved.
    #[error("the claim of the idempotency key is lost")]
    KeyTakenOver,
    /// The vault would hold more than it may. Nothing was saved.
    #[error(transparent)]
    OverQuota(#[from] crate::storage::usage::quotas::OverQuota),
    /// Anything else: a fault of the service or of the schema.
    #[error("database error: {0}")]
    Internal(#[source] sqlx::Error),
}

/// What a database of several nodes says of a node that it lost, or of rows that two changed at once (XX000): whether it
/// was done is not known. A single server says so of its own faults, which is another error ([`crate::storage::database::connection`]).
#[derive(Debug, thiserror::Error)]
#[error("a node of the database failed, and whether it was done is not known: {0}")]
pub(super) struct OutcomeUnknown(pub(super) Box<dyn DatabaseError>);

impl StorageError {
    /// How long a client should wait before it tries again, where trying again helps.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        matches!(self, Self::Unavailable(_)).then_some(Duration::from_secs(1))
    }
}

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        let unavailable = match &error {
            E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed | E::Io(_) | E::Tls(_) | E::Protocol(_) => {
                true
            }
            E::Database(database) => database.code().is_some_and(|code| is_unavailable(&code)),
            E::AnyDriverError(other) => other.is::<OutcomeUnknown>(),
            _ => false,
        };
        if unavailable {
            Self::Unavailable(error)
        } else {
            Self::Internal(error)
        }
    }
}

/// SQLSTATE classes that pass by themselves: connection (08), resources (53), operator intervention such
/// as a shutdown (57P), read-only after a failover (25006), a row that somebody else holds for too long (55P03), and
/// transactions that lost too many races.
fn is_unavailable(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("53")
        || code.starts_with("57P")
        || code == "25006"
        || code == "55000"
        || code == "55P03"
        || is_lost_race(code)
}

/// Serialization failure and deadlock: nothing was done, and the same transaction may be run again.
pub(super) fn is_lost_race(code: &str) -> bool {
    code == "40001" || code == "40P01"
}

/// Whether an error says that the row a foreign key names is not there any more.
pub(super) fn is_gone(error: &StorageError) -> bool {
    sqlstate(error).is_some_and(|code| code == "23503")
}

/// Whether an error says that a unique index has the key already.
pub(super) fn is_taken(error: &StorageError) -> bool {
    sqlstate(error).is_some_and(|code| code == "23505")
}

/// Whether an error says that the transaction lost a race and may be repeated.
pub(super) fn may_repeat(error: &StorageError) -> bool {
    sqlstate(error).is_some_and(|code| is_lost_race(&code))
}

/// Whether an error is the answer to a statement, which it undid: the connection lives on.
pub(super) fn is_of_a_statement(error: &StorageError) -> bool {
    let (StorageError::Unavailable(inner) | StorageError::Internal(inner)) = error else {
        return false;
    };
    if let sqlx::Error::AnyDriverError(other) = inner {
        return other.is::<OutcomeUnknown>();
    }
    let database = inner.as_database_error();
    let refusal = database.and_then(|database| database.try_downcast_ref::<PgDatabaseError>());
    refusal.is_some_and(|refusal| refusal.severity() == PgSeverity::Error)
}

fn sqlstate(error: &StorageError) -> Option<std::borrow::Cow<'_, str>> {
    match error {
        StorageError::Unavailable(inner) | StorageError::Internal(inner) => {
            inner.as_database_error().and_then(|database| database.code())
        }
        StorageError::Corrupt { .. }
        | StorageError::WrongRowCount { .. }
        | StorageError::AlreadyResolved(_)
        | StorageError::AlreadyDecided(_)
        | StorageError::ClaimLost(_)
        | StorageError::KeyTakenOver
        | StorageError::OverQuota(_) => None,
    }
}
