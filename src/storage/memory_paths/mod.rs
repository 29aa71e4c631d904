//! Files of the memory tool: `memory_paths`, which memory stands at which path of a root.
//!
//! Whoever makes, moves or unlinks a file locks the root's row of `memory_roots` first and the memory's row after it,
//! so that no file ever stands below another file. Whoever edits one locks its memory only: an edit of a file that is
//! moved or unlinked meanwhile is one that came before.

mod create;
mod edit;
mod read;
mod tree;
mod unlink;

pub(super) use tree::{Place, hold_root, insert, place_of};

use super::{ChangeError, Storage, StorageError, error};
use crate::domain::ids::{MemoryId, RootName, VaultId};
use crate::domain::memory_files::{Listing, Refusal};
use futures::future::BoxFuture;

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

/// What stands at a path.
#[derive(Debug)]
pub enum FileEntry {
    /// A file and its text.
    File(FileVersion, String),
    /// A directory, which may be one that does not exist.
    Directory(Listing),
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

/// Runs a transaction again that lost a race.
async fn repeated<'t, T>(
    transaction: impl Fn() -> BoxFuture<'t, Result<T, FileError>>,
) -> Result<T, FileError> {
    let mut repeats = 0;
    loop {
        match transaction().await {
            Err(FileError::Storage(error)) if error::may_repeat(&error) && repeats < error::MAX_REPEATS => {
                repeats += 1;
            }
            other => return other,
        }
    }
}
