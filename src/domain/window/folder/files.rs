//! The names of the files in the folder.

/// The file of the rules.
pub const RULES: &str = "CONTEXT.md";
/// The file of status and recent tasks.
pub(super) const STATUS: &str = "active/current_status.md";
/// The file of decisions.
pub(super) const DECISIONS: &str = "active/decisions.log.md";
/// The file of older tasks.
pub(super) const HISTORY: &str = "archive/history.md";
/// The folder of older tasks by epic, with a trailing slash.
pub const EPICS: &str = "archive/epics/";

/// The folder of older tasks by week, with a trailing slash.
pub const WEEKLY: &str = "archive/weekly/";

/// The files of every folder; files of epics and weeks are additional.
pub const FILES: [&str; 4] = [RULES, STATUS, DECISIONS, HISTORY];
