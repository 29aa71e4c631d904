//! Describes changes as text for the log that people read.

use super::document::Record;
use super::ids::RecordId;
use super::memory::{AppliedOperation, OperationName, RecordChange};
use std::fmt::Write as _;

/// Maximum number of characters quoted of a record in a log line.
const QUOTE_CHARS: usize = 100;

/// The reason for archiving a record that a new document omits.
#[must_use]
pub fn left_out_by(version: i64) -> String {
    format!("left out by version {version}")
}

/// Describes the replacement of the whole document.
#[must_use]
pub fn of_text(before: &str, after: &str, changes: &[RecordChange]) -> String {
    let mut log = if before.is_empty() {
        format!("document put: {} bytes", after.len())
    } else {
        format!("document put: {} bytes, before {}", after.len(), before.len())
    };
    record_lines(&mut log, changes);
    log
}

/// Describes the restoration of an older version.
#[must_use]
pub fn of_restore(
    version: i64,
    reason: Option<&str>,
    (before, after): (&str, &str),
    changes: &[RecordChange],
) -> String {
    let because = reason.map_or_else(String::new, |reason| format!(" (because {})", cut(reason)));
    let mut log = format!(
        "version {version} restored{because}: {} bytes, before {}",
        after.len(),
        before.len()
    );
    record_lines(&mut log, changes);
    log
}

fn record_lines(log: &mut String, changes: &[RecordChange]) {
    for change in changes {
        match change {
            RecordChange::Added(record) => line(log, '+', &quote(record)),
            RecordChange::Changed(record) => line(log, '~', &quote(record)),
            RecordChange::Archived(id) => line(log, '-', &format!("{id} left out")),
        }
    }
}

/// Describes operations, one line each. `numbered` are hand-written bullets that were assigned ids.
#[must_use]
pub fn of_operations(operations: &[AppliedOperation], numbered: &[RecordId]) -> String {
    let mut log = String::new();
    for id in numbered {
        line(&mut log, '~', &format!("{id} given to a bullet written by hand"));
    }
    for operation in operations {
        let id = operation.id.map(|id| id.to_string()).unwrap_or_default();
        // A task has no reason.
        let reason = operation.reason.as_deref();
        let because = reason
            .map(|reason| format!(" (because {reason})"))
            .unwrap_or_default();
        match operation.op {
            OperationName::RewriteProgress => line(&mut log, '~', "progress rewritten"),
            OperationName::Add => {
                let what = operation
                    .label
                    .as_deref()
                    .or(operation.content.as_deref())
                    .unwrap_or_default();
                line(&mut log, '+', &format!("{id} {}{because}", cut(what)));
            }
            OperationName::RewriteStatus => line(
                &mut log,
                '~',
                &format!(
                    "status set: {}",
                    cut(operation.content.as_deref().unwrap_or_default())
                ),
            ),
            OperationName::Archive => {
                let by = operation.superseded_by;
                let replaced = by.map(|by| format!("; {by} replaced {id}")).unwrap_or_default();
                line(&mut log, '-', &format!("{id} archived{because}{replaced}"));
            }
        }
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

fn quote(record: &Record) -> String {
    format!(
        "{} {}",
        record.id,
        cut(record.label.as_deref().unwrap_or(&record.content))
    )
}

/// The first line, cut to [`QUOTE_CHARS`].
fn cut(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    match first.char_indices().nth(QUOTE_CHARS) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first.to_owned(),
    }
}
