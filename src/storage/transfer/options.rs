//! Options and result of an import.

use crate::domain::ids::VaultId;

/// How to handle a memory that exists and differs from the one in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The import fails.
    Fail,
    /// The memory stays unchanged.
    Skip,
    /// The missing versions are appended after its newest, in order: same `context_id`, text and actor; new number;
    /// source `import`; the time of the import. A text equal to the version before creates none. Runs, operations and
    /// record lines are ignored; records are derived from the texts.
    Append,
}

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The target vault; `None` for the vault of the file.
    pub into_vault: Option<VaultId>,
    /// How to handle existing memories.
    pub on_conflict: OnConflict,
    /// Maximum length of a line in bytes; a line is in memory as a whole.
    pub max_line_bytes: usize,
    /// Maximum size of a document in bytes.
    pub max_document_bytes: usize,
}

/// The result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// New memories.
    pub created: u64,
    /// Memories with appended versions.
    pub appended: u64,
    /// Memories that were complete before.
    pub unchanged: u64,
    /// Memories that differ and were left unchanged.
    pub skipped: u64,
}
