//! Describes changes as text for the log that people read.

use super::document::Record;
use super::ids::RecordId;
use super::memory::{AppliedOperation, OperationName, RecordChange};
use super::text::lines::{clipped, start_of};
use super::text::one_line;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Maximum number of characters quoted of a record in a log line.
const QUOTE_CHARS: usize = 120;

/// The reason for archiving a record that a new document omits.
#[must_use]
pub fn left_out_by(version: i64) -> String {
    format!("left out by version {version}")
}

/// What a put does, for [`of_text`].
pub const PUT: &str = "document put";

/// What the restoration of an older version does, for [`of_text`].
#[must_use]
pub fn restored(version: i64, reason: Option<&str>) -> String {
    let because = reason.map_or_else(String::new, |reason| format!(" (because {})", one_line(reason)));
    format!("version {version} restored{because}")
}

/// Describes the replacement of the whole document: what did it, the sizes, and what became of the records.
#[must_use]
pub fn of_text(what: &str, (before, after): (&str, &str), changes: &[RecordChange]) -> String {
    let mut log = format!("{what}: {} bytes", after.len());
    if !before.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(log, ", before {}", before.len());
    }
    record_lines(&mut log, changes);
    log
}

fn record_lines(log: &mut String, changes: &[RecordChange]) {
    for change in changes {
        match change {
            RecordChange::Added(record) => line(log, '+', &quote(record)),
            RecordChange::Changed { new, .. } => line(log, '~', &quote(new)),
            RecordChange::Archived(record) => {
                let text = that_left(Some(&record.content));
                line(log, '-', &format!("{} left out{text}", record.id));
            }
        }
    }
}

/// Describes operations, one line each, after the hand-written bullets that were assigned ids: what was added besides.
#[must_use]
pub fn of_operations(operations: &[AppliedOperation], changes: &[RecordChange]) -> String {
    let mut log = String::new();
    let named: HashSet<RecordId> = operations.iter().filter_map(|operation| operation.id).collect();
    for change in changes {
        if let RecordChange::Added(record) = change
            && !named.contains(&record.id)
        {
            let id = record.id;
            line(&mut log, '~', &format!("{id} given to a bullet written by hand"));
        }
    }
    for operation in operations {
        let id = operation.id.map(|id| id.to_string()).unwrap_or_default();
        // A task has no reason.
        let because = operation.reason.as_deref();
        let because = because.map_or_else(String::new, |reason| format!(" (because {reason})"));
        let content = operation.content.as_deref().unwrap_or_default();
        let (sign, text) = match operation.op {
            OperationName::RewriteProgress => ('~', "progress rewritten".to_owned()),
            OperationName::Add => {
                let what = operation.label.as_deref().unwrap_or(content);
                ('+', format!("{id} {}{because}", cut(what)))
            }
            OperationName::RewriteStatus => ('~', format!("status set: {}", cut(content))),
            OperationName::Mark => ('~', format!("{id} marked: {content}{because}")),
            OperationName::Archive => {
                let by = operation.superseded_by;
                let replaced = by.map_or_else(String::new, |by| format!("; {by} replaced {id}"));
                let text = that_left(operation.content.as_deref());
                ('-', format!("{id} archived{because}{replaced}{text}"))
            }
        };
        line(&mut log, sign, &text);
    }
    log
}

fn line(log: &mut String, sign: char, text: &str) {
    if !log.is_empty() {
        log.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = write!(log, "{sign} {text}");
}

/// The text that left the document, after the words that say so.
fn that_left(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(": {}", cut(text)))
}

fn quote(record: &Record) -> String {
    format!(
        "{} {}",
        record.id,
        cut(record.label.as_deref().unwrap_or(&record.content))
    )
}

/// The first line, cut to [`QUOTE_CHARS`].
fn cut(text: &str) -> String {
    clipped(text.lines().next().unwrap_or_default(), QUOTE_CHARS)
}

/// As much of a line as a log quotes of it.
pub(super) fn quoted_start(line: &str) -> &str {
    start_of(line, QUOTE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::memory::project;

    #[test]
    fn the_log_quotes_the_text_that_left() {
        let long = "ä".repeat(QUOTE_CHARS + 1);
        let before = format!("# Key Learnings\n- KL-1 because a: one thing\n- KL-2 because b: {long}\n");
        let log = of_text(PUT, (&before, ""), &project(&before, ""));
        let cut = "ä".repeat(QUOTE_CHARS);
        assert!(
            log.ends_with(&format!("\n- KL-1 left out: one thing\n- KL-2 left out: {cut}…")),
            "{log}"
        );
    }
}
