//! Why a write failed: the cases that a client can act on.

use super::head::PreconditionFailed;
use crate::domain::document::InvalidDocument;
use crate::domain::ids::RecordId;
use crate::domain::memory::Collapse;
use crate::domain::memory::EditError;
use crate::domain::memory_files::Refusal;
use crate::domain::prompt::TooManyItems;
use crate::storage::contexts::Redaction;
use crate::storage::{StorageError, TransactionError};

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A precondition does not hold.
    #[error(transparent)]
    PreconditionFailed(#[from] PreconditionFailed),
    /// What is to be changed does not exist.
    #[error("there is no such {}", match .0 { Missing::Memory => "memory", Missing::Version => "memory or version", Missing::File => "file" })]
    NotFound(Missing),
    /// The text would remove much of the newest version.
    #[error("the text would lose much of what the document says")]
    Collapses(Vec<Collapse>),
    /// The version was redacted.
    #[error("version {version} was redacted")]
    Redacted {
        /// Its number.
        version: i64,
        /// The redaction.
        redaction: Redaction,
    },
    /// It is the newest version, which always has a text.
    #[error("version {version} is the newest")]
    IsHead {
        /// Its number.
        version: i64,
    },
    /// The text of an older version is no longer valid: the limit is lower than when it was written.
    #[error(transparent)]
    Invalid(#[from] InvalidDocument),
    /// A task with this id has other content.
    #[error("task_id belongs to {0} already, which says something else")]
    OtherTask(RecordId),
    /// The change of the window is not possible.
    #[error(transparent)]
    Window(#[from] EditError),
    /// Other files are in conflict with it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There would be more prompt items, or bytes of them, than their limit.
    #[error(transparent)]
    TooManyItems(#[from] TooManyItems),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The memory.
    Memory,
    /// The memory, or its version.
    Version,
    /// The file.
    File,
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl TransactionError for WriteError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            _ => None,
        }
    }
}
