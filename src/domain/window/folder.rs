//! The window and its archive as a folder of Markdown files, and back:
//!
//! ```text
//! CONTEXT.md                    the rules
//! active/current_status.md      goal, blocker, recent tasks
//! active/decisions.log.md       decisions
//! archive/history.md            older tasks, one line each
//! archive/epics/<name>.md       the same by epic
//! archive/weekly/2026-W47.md    the same by ISO week
//! ```
//!
//! Whatever [`render`] writes [`parse`] reads back as it was. Where a line alone would not say everything (several
//! lines of text, an outcome, a colon in an intent), an HTML comment behind it holds the rest as JSON. If a person has
//! changed such a line since, the line counts.
//!
//! A line of a task begins with its ids: that of its record, and the caller's (`T-7 task-1: [failed] intent: summary`).
//!
//! Folders that people keep are read as far as they can be: bullets and headings that begin with a date
//! (`2026-11-21`, `[2026-11-21]`, `### 2026-11-21 — title`, RFC 3339) are entries, and so are bullets without one; goal,
//! blocker and time of the status are lines or headings (`Current Goal:`, `## Active Blocker`, `Last Updated:`); what has
//! no place is listed.

mod entry;
mod parse;
mod render;
#[cfg(test)]
mod tests;

pub use parse::parse;
pub use render::render;

use super::status::Status;
use super::take_over::{Brought, BroughtDecision, BroughtTask};

/// The file of the rules.
pub const RULES: &str = "CONTEXT.md";
/// The file of status and recent tasks.
const STATUS: &str = "active/current_status.md";
/// The file of decisions.
const DECISIONS: &str = "active/decisions.log.md";
/// The file of older tasks.
const HISTORY: &str = "archive/history.md";
/// The folder of older tasks by epic, with a slash behind it.
pub const EPICS: &str = "archive/epics/";

/// The folder of older tasks by week, with a slash behind it.
pub const WEEKLY: &str = "archive/weekly/";

/// The files of every folder; those of epics and weeks come beside them.
pub const FILES: [&str; 4] = [RULES, STATUS, DECISIONS, HISTORY];

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
