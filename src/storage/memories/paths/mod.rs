//! Files of the memory tool: `memory_paths`, which memory stands at which path of a root.
//!
//! Whoever makes, moves or unlinks a file locks the root's row of `memory_roots` first and the memory's row after it,
//! so that no file ever stands below another file. Whoever edits one locks its memory only: an edit of a file that is
//! moved or unlinked meanwhile is one that came before.

mod create;
mod edit;
mod list;
mod put;
mod read;
mod tree;
mod unlink;

pub(in crate::storage) use tree::{Place, hold_root, insert, place_of};

use crate::domain::ids::{ContextId, MemoryId, RootName, VaultId};
use crate::domain::memory_files::{FilePath, Listing, Refusal};
use crate::storage::database::repeat::TransactionError;
use crate::storage::{ChangeError, Storage, StorageError};
use chrono::{DateTime, Utc};

/// A tree of files.
#[derive(Debug, Clone)]
pub struct FileTree {
    /// The vault.
    pub vault: VaultId,
    /// Its name.
    pub root: RootName,
}

/// Which version of a memory a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// The memory.
    pub memory: MemoryId,
    /// The newest version's number.
    pub version: i64,
}

/// What a command that changes files came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// What the model is told.
    pub told: String,
    /// The file, if it was about one.
    pub file: Option<FileVersion>,
}

/// What stands at a path.
#[derive(Debug)]
pub enum FileEntry {
    /// A file and its text.
    File(FileVersion, String),
    /// A directory, which may be one that does not exist.
    Directory(Listing),
}

/// A file with what is known of its newest version, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path.
    pub path: FilePath,
    /// The memory.
    pub memory_id: MemoryId,
    /// The newest version's number.
    pub version: i64,
    /// The newest version's id.
    pub context_id: ContextId,
    /// The size of its text.
    pub bytes: i32,
    /// When it was made.
    pub changed_at: DateTime<Utc>,
}

/// What a put of a file came to.
#[derive(Debug)]
pub struct WrittenFile {
    /// The file as it is now.
    pub file: StoredFile,
    /// Whether its text was this already, so that no version was made.
    pub unchanged: bool,
}

/// Why a conditional write of a file was not made.
#[derive(Debug, thiserror::Error)]
pub enum WriteFileError {
    /// A precondition does not hold.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if there is no such file.
        current: Option<ContextId>,
    },
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// Other files stand against it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed; nothing was changed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<sqlx::Error> for WriteFileError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// Why nothing was done with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The files stand against it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed; nothing was changed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TransactionError for FileError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::Refused(_) => None,
        }
    }
}

impl From<sqlx::Error> for FileError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl From<ChangeError<Refusal>> for FileError {
    fn from(error: ChangeError<Refusal>) -> Self {
        match error {
            ChangeError::Refused(refusal) => Self::Refused(refusal),
            ChangeError::Storage(error) => Self::Storage(error),
        }
    }
}

impl TransactionError for WriteFileError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            _ => None,
        }
    }
}
