//! Errors of the database, by what a caller can do about them.

use crate::domain::ids::UpdateId;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use std::fmt::Display;
use std::time::Duration;

/// A storage error.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The database cannot be reached or is overloaded; a later attempt may succeed.
    #[error("the database is not available: {}", said(.0))]
    Unavailable(#[source] sqlx::Error),
    /// The database refuses the login, or has another name. A service that runs waits until that is repaired; one that
    /// starts ends.
    #[error("the database refuses connections: {}", said(.0))]
    Refused(#[source] sqlx::Error),
    /// A stored value that the service would never write.
    #[error("corrupt row: {table}.{column} of {row}: {problem}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The key of the row.
        row: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A statement found or changed another number of rows than it must.
    #[error("{0} did not find or change the rows that it must")]
    WrongRowCount(&'static str),
    /// The run to be completed by hand is no longer invalid; nothing was saved.
    #[error("run {0} was finished by another")]
    AlreadyResolved(UpdateId),
    /// The proposal is no longer undecided; nothing was saved.
    #[error("proposal {0} was decided by another, or is gone")]
    AlreadyDecided(UpdateId),
    /// The worker has lost its claim of a run: the run was cancelled, taken over or deleted. Nothing was saved.
    #[error("the claim of run {0} is lost")]
    ClaimLost(UpdateId),
    /// The claim of an idempotency key was lost: another request took the key over, or the claim was released. Nothing
    /// was saved.
    #[error("the claim of the idempotency key is lost")]
    KeyTakenOver,
    /// The vault's quota would be exceeded. Nothing was saved.
    #[error(transparent)]
    OverQuota(#[from] crate::storage::usage::stored::OverQuota),
    /// The database has no schema yet. Nothing was changed.
    #[error(
        "the database has no tables of this program yet: start the service, or run `working-memory migrate`"
    )]
    NoSchema,
    /// The schema is older than the first migration of this program. Nothing was changed.
    #[error(
        "the database has the tables of a program from before the first release (its migration {0}), which this program does \
         not read; nothing in it was changed. Carry each vault over: working-memory export --vault V --output V.jsonl with \
         that program, then working-memory import V.jsonl with this one and an empty database (another DATABASE_URL or \
         database.data_dir). Keys, events and handoffs are not carried over: docs/transfer.md"
    )]
    EarlierSchema(i64),
    /// The schema holds the tables of another program. Nothing was changed.
    #[error(
        "the schema {0} of the database is used by another program, whose migrations its table _sqlx_migrations lists; nothing \
         in it was changed. Name another database in DATABASE_URL, or another schema of this one, which must exist: add \
         ?options=-c%20search_path=NAME"
    )]
    SchemaOfAnother(String),
    /// The database stores text in another encoding. Nothing was changed.
    #[error(
        "the encoding of the database is {0}, and this program needs UTF8; nothing in it was changed. Create another one and \
         name it in DATABASE_URL: CREATE DATABASE working_memory TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
    )]
    NotUtf8(String),
    /// The schema is newer than the last migration of this program. Nothing was changed.
    #[error(
        "the schema of the database is newer than this program (it has migration {0}); run the program that migrated it, or a \
         newer one. Nothing was changed"
    )]
    NewerSchema(i64),
    /// There is nothing to revert: the schema is older than what is to stay.
    #[error(
        "the schema of the database is at migration {0}, below the one that is to stay; nothing was reverted"
    )]
    BelowTarget(i64),
    /// The memory was deleted after the change began. Nothing was saved.
    #[error("the memory was deleted meanwhile")]
    MemoryDeleted,
    /// A URL of the database is invalid, or requires what the driver does not know.
    #[error("configuration: a URL of the database cannot be used: {0}")]
    InvalidUrl(String),
    /// Anything else: a fault of the service or of the schema.
    #[error("database error: {}", said(.0))]
    Internal(#[source] sqlx::Error),
}

/// What the database said, without what the driver adds: the line of the server's own source.
fn said(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}

/// The error of a distributed database that lost a node, or whose rows were changed concurrently (XX000): the outcome
/// is unknown. A single server uses this code for internal errors, which are handled differently
/// ([`crate::storage::database::connection`]).
#[derive(Debug, thiserror::Error)]
#[error("a node of the database failed, and whether it was done is not known: {0}")]
pub(super) struct OutcomeUnknown(pub(super) Box<dyn DatabaseError>);

impl StorageError {
    /// A stored value that the service would never write.
    pub(super) fn corrupt(
        (table, column): (&'static str, &'static str),
        row: impl Into<String>,
        problem: impl Display,
    ) -> Self {
        Self::Corrupt {
            table,
            column,
            row: row.into(),
            problem: problem.to_string(),
        }
    }

    /// Whether the database failed. Every other error refuses what was asked for, which no retry changes.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::Refused(_)
                | Self::Internal(_)
                | Self::Corrupt { .. }
                | Self::WrongRowCount(_)
        )
    }

    /// How long a client should wait before it tries again; `None` if trying again does not help.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        matches!(self, Self::Unavailable(_) | Self::Refused(_)).then_some(Duration::from_secs(1))
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
        match error {
            E::Configuration(problem) => Self::InvalidUrl(problem.to_string()),
            E::Database(refusal) if refusal.code().is_some_and(|code| is_refusal(&code)) => {
                Self::Refused(E::Database(refusal))
            }
            error if unavailable => Self::Unavailable(error),
            error => Self::Internal(error),
        }
    }
}

/// Transient SQLSTATE classes: connection (08), resources (53), operator intervention such as a shutdown (57P),
/// read-only after a failover (25006), time-outs and cancellations by the server (55P03, 57014), and transactions that lost too
/// many races.
fn is_unavailable(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("53")
        || code.starts_with("57P")
        || code == READ_ONLY
        || code == "55000"
        || ["55P03", "57014"].contains(&code)
        || is_lost_race(code)
}

/// A login without the right (class 28: a wrong password, a role that may not log in), or no database of this name.
fn is_refusal(code: &str) -> bool {
    code.starts_with("28") || code == "3D000"
}

/// Serialization failure or deadlock: rolled back, and the same transaction may be run again.
pub(super) fn is_lost_race(code: &str) -> bool {
    code == "40001" || code == "40P01"
}

/// Whether the transaction lost a race and may be repeated: also if a row that it refers to was deleted meanwhile (23503).
pub(super) fn may_repeat(error: &StorageError) -> bool {
    sqlstate(error).is_some_and(|code| is_lost_race(&code) || code == "23503")
}

/// Whether a statement failed and was rolled back, while the connection is still usable.
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

/// The error code of a unique index that already contains the key.
pub(super) const UNIQUE_VIOLATION: &str = "23505";

/// The error code of a server whose disk is full.
pub(super) const DISK_FULL: &str = "53100";

/// The error code of a server that is read-only: a former primary, or a standby that is not promoted yet.
pub(super) const READ_ONLY: &str = "25006";

/// Whether it is an error of the server with this code.
pub(super) fn has_code(error: &StorageError, code: &str) -> bool {
    sqlstate(error).is_some_and(|found| found == code)
}

fn sqlstate(error: &StorageError) -> Option<std::borrow::Cow<'_, str>> {
    match error {
        StorageError::Unavailable(inner) | StorageError::Internal(inner) => {
            inner.as_database_error().and_then(|database| database.code())
        }
        _ => None,
    }
}
