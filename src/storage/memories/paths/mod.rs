//! Files of the memory tool: `memory_paths` links the paths of a root to memories.
//!
//! Creating, moving and unlinking a file locks the root's row of `memory_roots` first and then the memory's row, so
//! that no file is ever below another file. Editing a file locks only its memory: if the file is moved or unlinked
//! meanwhile, the edit counts as earlier.

mod read;
mod unlink;
mod write;

pub use write::FileWrite;

pub(in crate::storage) use read::{Found, find, hold_root, insert};

use crate::domain::ids::{ContextId, MemoryId, RootName, VaultId};
use crate::domain::memory_files::{FilePath, Listing};
use crate::storage::{ContextMetadata, Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A tree of files.
#[derive(Debug, Clone)]
pub struct FileTree {
    /// The vault.
    pub vault: VaultId,
    /// Its name.
    pub root: RootName,
}

/// What exists at a path.
#[derive(Debug)]
pub enum FileEntry {
    /// A file and its text.
    File(StoredFile, String),
    /// A directory, which may not exist.
    Directory(Listing),
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryFile)]
pub struct StoredFile {
    /// Its path.
    #[schema(value_type = String, example = "/memories/notes/tea.md")]
    pub path: FilePath,
    /// The memory that it is.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// That memory's newest version.
    #[schema(minimum = 1)]
    pub version: i64,
    /// Its id: in double quotes the entity tag of the file's text.
    #[schema(value_type = String)]
    pub context_id: ContextId,
    /// The size of the text.
    #[schema(minimum = 0)]
    pub bytes: i32,
    /// When that version was made.
    pub changed_at: DateTime<Utc>,
}

impl StoredFile {
    fn of(path: &FilePath, newest: ContextMetadata) -> Self {
        Self {
            path: path.clone(),
            memory_id: newest.memory_id,
            version: newest.version,
            context_id: newest.context_id,
            bytes: newest.bytes,
            changed_at: newest.creation_time,
        }
    }
}

/// The result of writing a file.
#[derive(Debug)]
pub struct WrittenFile {
    /// The file as it is now.
    pub file: StoredFile,
    /// Whether it had this text already, so that no version was created.
    pub unchanged: bool,
    /// The message for the model.
    pub response: String,
}

/// The result of a command.
#[derive(Debug)]
pub struct FileChange {
    /// The message for the model.
    pub response: String,
    /// The file, if the command concerned one.
    pub file: Option<StoredFile>,
}

impl From<WrittenFile> for FileChange {
    fn from(written: WrittenFile) -> Self {
        Self {
            response: written.response,
            file: Some(written.file),
        }
    }
}
