//! The content of a folder.

use super::super::import::{ImportedDecision, ImportedTask, WindowImport};
use super::super::status::Status;

/// The content of a folder. Times are whole seconds; goals, epics and decisions are single lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    /// Static rules, one text each.
    pub rules: Vec<String>,
    /// Goal, blocker, and when they last changed.
    pub status: Status,
    /// Recent tasks, in the order of the file.
    pub tasks: Vec<ImportedTask>,
    /// Decisions, in the order of the file.
    pub decisions: Vec<ImportedDecision>,
    /// Older tasks, in the order of the file.
    pub history: Vec<ImportedTask>,
}

/// A line that could not be assigned to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Path of its file inside the folder.
    pub file: String,
    /// Its line number, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

/// The result of parsing a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The content.
    pub folder: Folder,
    /// The lines that could not be assigned.
    pub unplaced: Vec<Unplaced>,
}

impl From<Folder> for WindowImport {
    /// Converts everything except the rules, which are prompt items.
    fn from(folder: Folder) -> Self {
        Self {
            status: folder.status,
            tasks: folder.tasks,
            decisions: folder.decisions,
            history: folder.history,
        }
    }
}
