//! Converts the window and its archive to a folder of Markdown files and back:
//!
//! ```text
//! CONTEXT.md                    the rules
//! active/current_status.md      goal, blocker, recent tasks
//! active/decisions.log.md       decisions
//! archive/history.md            older tasks, one line each
//! archive/epics/<name>.md       the same by epic
//! archive/epics/2026-W47.md     the same by ISO week
//! archive/weekly/2026-W47.md    the same, as earlier versions exported it: it is only read
//! ```
//!
//! [`render`] writes each entry as one line, that of a task with its ids: the record id and the caller's (`T-7 task-1:
//! [failed] intent: summary`). What a line cannot say (an outcome, an epic, an id that looks like none, colons in an intent) is JSON in
//! an HTML comment behind it. [`parse`] restores all of it but for line breaks, the
//! blank behind `because` at the beginning of a task, and a decision without a reason that reads like one with a reason.
//!
//! Folders written by people are parsed as far as possible, and everything else is reported as unplaced:
//!
//! - entries are bullets, numbered lines, headings with a date or an id, and rows of tables; ids may be bold, in
//!   backticks, and followed by a colon or a dash; deeper lines and named parts (`Intent:`, `Summary:`, `Reason:`)
//!   belong to the entry above them;
//! - goal, blocker and time of the status are lines or headings (`Current Goal:`, `## Active Blocker`, `Last Updated:`);
//! - every section of the rules is one, below the headings that it stands under.

mod entry;
mod items;
mod parse;

pub(super) use parse::parse;

use crate::cli::folder::hash;
use crate::domain::document::written_time;
use crate::domain::window::WindowImport;
use chrono::Datelike as _;
use entry::Entry;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// The content of a folder. Times are whole seconds; goals, epics and decisions are single lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Folder {
    /// Static rules, one text each.
    pub(super) rules: Vec<String>,
    /// Status, recent tasks and decisions, newest first, and older tasks, oldest first.
    pub(super) window: WindowImport,
}

/// A line that could not be assigned to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Unplaced {
    /// Path of its file inside the folder.
    pub(super) file: String,
    /// Its line number, from 1.
    pub(super) line: usize,
    /// Its text.
    pub(super) text: String,
}

/// An end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// The top.
    First,
    /// The bottom.
    Last,
}

/// What an order was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum By {
    /// The dates of the entries.
    Dates,
    /// The numbers in their ids.
    Ids,
    /// The file: what is appended to has the newest last.
    File,
}

/// Which end of a file was taken as the newest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Newest {
    /// Path of the file inside the folder.
    pub(super) file: String,
    /// The end.
    pub(super) end: End,
    /// Why.
    pub(super) by: By,
}

/// The result of parsing a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Parsed {
    /// The content.
    pub(super) folder: Folder,
    /// The lines that could not be assigned.
    pub(super) unplaced: Vec<Unplaced>,
    /// The order of the files with several entries.
    pub(super) newest: Vec<Newest>,
}

/// The file of the rules.
const RULES: &str = "CONTEXT.md";
/// The file of status and recent tasks.
const STATUS: &str = "active/current_status.md";
/// The file of decisions.
const DECISIONS: &str = "active/decisions.log.md";
/// The file of older tasks.
const HISTORY: &str = "archive/history.md";
/// The first line of [`RULES`] as the service writes it.
const RULES_TITLE: &str = "# Context";
/// The folder of older tasks by epic and by week, with a trailing slash.
pub(super) const EPICS: &str = "archive/epics/";

/// The folder of older tasks by week, in exports of earlier versions.
pub(super) const WEEKLY: &str = "archive/weekly/";

/// The files of every folder; files of epics and weeks are additional.
pub(super) const FILES: [&str; 4] = [RULES, STATUS, DECISIONS, HISTORY];

/// Whether a name without its extension is that of an ISO week: `2026-W47`.
fn is_week(name: &str) -> bool {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once("-W")
        .or_else(|| name.split_once("-w"))
        .is_some_and(|(year, week)| digits(year, 4) && digits(week, 2))
}

/// The name of a file of older tasks, which is that of a week or stands for an epic.
fn name_of_older(path: &str) -> Option<&str> {
    let name = path.strip_prefix(EPICS).or_else(|| path.strip_prefix(WEEKLY));
    name?.strip_suffix(".md")
}

/// Whether an export of this or an earlier version writes a file of older tasks at a path, for some epic or week.
pub(super) fn is_exported_older(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let name = name_of_older(path).filter(|name| !name.is_empty());
    name.is_some_and(|name| is_week(name) || name.chars().all(is_plain))
}

/// The line before each rule.
const RULE: &str = "<!-- rule -->";

/// Written if there is no goal or no blocker.
const NONE: &str = "none";

/// Renders the files of a folder as (path inside it, text), in the order of the module's list.
#[must_use]
pub(super) fn render(folder: &Folder) -> Vec<(String, String)> {
    let Folder { rules: all, window } = folder;
    let mut history = String::new();
    let mut epics: BTreeMap<&str, String> = BTreeMap::new();
    let mut weeks: BTreeMap<String, String> = BTreeMap::new();
    for task in &window.history {
        // The epic is the title of its file, and is not repeated on the line.
        let mut plain = task.clone();
        plain.task.details.epic = None;
        let line = plain.line();
        history.push_str(&line);
        if let Some(epic) = &task.task.details.epic {
            epics.entry(epic).or_default().push_str(&line);
        }
        let week = task.time.iso_week();
        let week = format!("{:04}-W{:02}", week.year(), week.week());
        weeks.entry(week).or_default().push_str(&line);
    }
    let mut files = vec![
        (RULES.to_owned(), rules(all)),
        (STATUS.to_owned(), status(window)),
        (DECISIONS.to_owned(), list("# Decisions", &window.decisions)),
        (HISTORY.to_owned(), format!("# History\n\n{history}")),
    ];
    let mut used = HashSet::new();
    for (epic, lines) in epics {
        let name = file_name(epic, &mut used);
        files.push((format!("{EPICS}{name}.md"), format!("# {epic}\n\n{lines}")));
    }
    for (week, lines) in weeks {
        files.push((format!("{EPICS}{week}.md"), format!("# {week}\n\n{lines}")));
    }
    files
}

fn list(title: &str, entries: &[impl Entry]) -> String {
    let lines: String = entries.iter().map(Entry::line).collect();
    format!("{title}\n\n{lines}")
}

fn status(window: &WindowImport) -> String {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| NONE.to_owned());
    let mut text = format!(
        "# Current Status\n\nCurrent Goal: {}\nActive Blocker: {}\n",
        shown(&window.status.goal),
        shown(&window.status.blocker)
    );
    if let Some(updated) = window.status.updated {
        text.push_str(&format!("Last Updated: {}\n", written_time(updated)));
    }
    text.push('\n');
    text + &list("## Recent Tasks", &window.tasks)
}

fn rules(rules: &[String]) -> String {
    let mut text = format!("{RULES_TITLE}\n\n");
    for rule in rules {
        text.push_str(RULE);
        text.push('\n');
        for line in rule.split_inclusive('\n') {
            // Escapes a line of a rule that looks like the marker, with an additional backslash.
            if line.trim_start_matches('\\').starts_with(RULE) {
                text.push('\\');
            }
            text.push_str(line);
        }
        text.push_str("\n\n");
    }
    text
}

/// A name for the file of an epic that no other has, and that is valid on any file system. It ends in digits of the epic's
/// hash where another file has the plain name.
fn file_name(epic: &str, used: &mut HashSet<String>) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    let name: String = epic.chars().take(64).map(plain).collect();
    let mut name = match name.trim_matches('-') {
        "" => "epic".to_owned(),
        trimmed => trimmed.to_owned(),
    };
    // The names of weeks are theirs.
    while is_week(&name) || !used.insert(name.clone()) {
        name = format!("{name}-{}", &hash(epic.as_bytes())[..8]);
    }
    name
}

#[cfg(test)]
mod tests;
