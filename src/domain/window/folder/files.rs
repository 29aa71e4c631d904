//! The files of the folder.

/// The file of the rules.
pub const RULES: &str = "CONTEXT.md";
/// The file of status and recent tasks.
pub(super) const STATUS: &str = "active/current_status.md";
/// The file of decisions.
pub(super) const DECISIONS: &str = "active/decisions.log.md";
/// The file of older tasks.
pub(super) const HISTORY: &str = "archive/history.md";
/// The folder of older tasks by epic, with a slash behind it.
pub const EPICS: &str = "archive/epics/";

/// The folder of older tasks by week, with a slash behind it.
pub const WEEKLY: &str = "archive/weekly/";

/// The files of every folder; those of epics and weeks come beside them.
pub const FILES: [&str; 4] = [RULES, STATUS, DECISIONS, HISTORY];
