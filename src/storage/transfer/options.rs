//! How a file is imported, and what an import came to.

use crate::domain::ids::VaultId;

/// What becomes of a memory that exists already and is not the one in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The import ends.
    Fail,
    /// It stays as it is.
    Skip,
    /// The versions it does not have are put behind its newest, in order: same `context_id`, text and actor;
    /// new number; source `import`, the time of the import. A text equal to the version before makes none. Runs,
    /// operations and record lines are left out; the records are what the texts say.
    Append,
}

/// How a file is imported.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The vault it goes into; `None`: the one it came from.
    pub into_vault: Option<VaultId>,
    /// What becomes of memories that exist.
    pub on_conflict: OnConflict,
    /// The longest line that is read, in bytes; a line is held in memory as a whole.
    pub max_line_bytes: usize,
    /// The largest document that is taken, in bytes.
    pub max_document_bytes: usize,
}

/// What an import came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Memories that are new.
    pub created: u64,
    /// Memories that got further versions.
    pub appended: u64,
    /// Memories that had all of it before.
    pub unchanged: u64,
    /// Memories left as they are though they differ.
    pub skipped: u64,
}
