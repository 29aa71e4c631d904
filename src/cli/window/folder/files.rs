//! The names of the files in the folder.

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

/// The folder of older tasks by week of earlier exports, with a trailing slash.
pub(in crate::cli::window) const WEEKLY: &str = "archive/weekly/";

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
    let Some(path) = path.strip_suffix(".md") else {
        return false;
    };
    path.starts_with(WEEKLY) || path.strip_prefix(EPICS).is_some_and(is_week)
}
