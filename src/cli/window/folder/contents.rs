//! The content of a folder, and the names of its files.

use crate::domain::window::{ImportedDecision, ImportedTask, Status, WindowImport};
use serde::Serialize;

/// The content of a folder. Times are whole seconds; goals, epics and decisions are single lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::cli::window) struct Folder {
    /// Static rules, one text each.
    pub(in crate::cli::window) rules: Vec<String>,
    /// Goal, blocker, and when they last changed.
    pub(in crate::cli::window) status: Status,
    /// Recent tasks, newest first.
    pub(in crate::cli::window) tasks: Vec<ImportedTask>,
    /// Decisions, newest first.
    pub(in crate::cli::window) decisions: Vec<ImportedDecision>,
    /// Older tasks, oldest first.
    pub(in crate::cli::window) history: Vec<ImportedTask>,
}

/// A line that could not be assigned to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli::window) struct Unplaced {
    /// Path of its file inside the folder.
    pub(in crate::cli::window) file: String,
    /// Its line number, from 1.
    pub(in crate::cli::window) line: usize,
    /// Its text.
    pub(in crate::cli::window) text: String,
}

/// An end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli::window) enum End {
    /// The top.
    First,
    /// The bottom.
    Last,
}

/// What an order was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli::window) enum By {
    /// The dates of the entries.
    Dates,
    /// The numbers in their ids.
    Ids,
    /// The file: what is appended to has the newest last.
    File,
}

/// Which end of a file was taken as the newest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli::window) struct Newest {
    /// Path of the file inside the folder.
    pub(in crate::cli::window) file: String,
    /// The end.
    pub(in crate::cli::window) end: End,
    /// Why.
    pub(in crate::cli::window) by: By,
}

/// The result of parsing a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::cli::window) struct Parsed {
    /// The content.
    pub(in crate::cli::window) folder: Folder,
    /// The lines that could not be assigned.
    pub(in crate::cli::window) unplaced: Vec<Unplaced>,
    /// The order of the files with several entries.
    pub(in crate::cli::window) newest: Vec<Newest>,
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

/// The file of the rules.
pub(in crate::cli::window) const RULES: &str = "CONTEXT.md";
/// The file of status and recent tasks.
pub(super) const STATUS: &str = "active/current_status.md";
/// The file of decisions.
pub(super) const DECISIONS: &str = "active/decisions.log.md";
/// The file of older tasks.
pub(super) const HISTORY: &str = "archive/history.md";
/// The first line of [`RULES`] as the service writes it.
pub(super) const RULES_TITLE: &str = "# Context";
/// The folder of older tasks by epic and by week, with a trailing slash.
pub(in crate::cli::window) const EPICS: &str = "archive/epics/";

/// The files of every folder; files of epics and weeks are additional.
pub(in crate::cli::window) const FILES: [&str; 4] = [RULES, STATUS, DECISIONS, HISTORY];

/// Whether a name without its extension is that of an ISO week: `2026-W47`.
pub(super) fn is_week(name: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once("-W")
        .or_else(|| name.split_once("-w"))
        .is_some_and(|(year, week)| digits(year, 4) && digits(week, 2))
}

/// Whether a file tells the tasks of a week.
pub(super) fn is_weekly(path: &str) -> bool {
    let name = path.strip_prefix(EPICS).and_then(|name| name.strip_suffix(".md"));
    name.is_some_and(is_week)
}
