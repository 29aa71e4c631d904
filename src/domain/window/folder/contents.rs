//! What a folder says.

use super::super::status::Status;
use super::super::take_over::{Brought, BroughtDecision, BroughtTask};

/// What a folder says. Times are in whole seconds, goals, epics and decisions are single lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    /// Static rules, each a text of its own.
    pub rules: Vec<String>,
    /// Goal, blocker, and when they changed.
    pub status: Status,
    /// Recent tasks, in the order of the file.
    pub tasks: Vec<BroughtTask>,
    /// Decisions, likewise.
    pub decisions: Vec<BroughtDecision>,
    /// Older tasks, likewise.
    pub history: Vec<BroughtTask>,
}

/// A line that could not be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Its file, as a path inside the folder.
    pub file: String,
    /// Its number, from 1 on.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// A folder that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parsed {
    /// What it says.
    pub folder: Folder,
    /// What could not be placed.
    pub unplaced: Vec<Unplaced>,
}

impl From<Folder> for Brought {
    /// Everything but the rules, which are prompt items.
    fn from(folder: Folder) -> Self {
        Self {
            status: folder.status,
            tasks: folder.tasks,
            decisions: folder.decisions,
            history: folder.history,
        }
    }
}
