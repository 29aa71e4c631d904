//! Renders the text that the service writes: record lines and the body of `Current Progress`.

use super::marks::{Marks, brackets};
use super::record::end_of_reason;
use super::snippet;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::Progress;
use crate::domain::text::lines::document_line;
use chrono::{DateTime, SecondsFormat, Utc};

/// The text of a new record. Characters that a record line cannot represent are normalised when it is
/// written:
///
/// - everything except a snippet becomes one line: lines are trimmed (space, tab, CR) and joined by single
///   blanks;
/// - a `:` followed by a blank inside a reason becomes `;`, since it would end the reason;
/// - a `=>` inside a label becomes `->`, since it would end the label;
/// - a snippet loses the end of its last line and trailing blank lines;
/// - NUL, which is not allowed in documents, becomes U+FFFD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewRecord<'a> {
    /// Whether it is pinned, and until when it holds.
    pub marks: Marks,
    /// The reason for keeping it.
    pub reason: Option<&'a str>,
    /// The label of a snippet; VC records only.
    pub label: Option<&'a str>,
    /// The content; for a VC record the snippet.
    pub content: &'a str,
}

/// Formats a time for record lines: RFC 3339, whole seconds, `Z`.
#[must_use]
pub fn written_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Renders the lines of a record.
pub(in crate::domain) fn record_lines(id: RecordId, time: DateTime<Utc>, record: &NewRecord<'_>) -> String {
    let brackets = brackets(Some(&written_time(time)), &record.marks);
    let mut out = format!("- {id} {brackets} ");
    let reason = document_line(record.reason.unwrap_or_default());
    if !reason.is_empty() {
        out.push_str("because ");
        push_reason(&mut out, &reason);
        out.push_str(": ");
    }
    if id.kind == RecordKind::Verbatim {
        out.push_str(&document_line(record.label.unwrap_or_default()).replace("=>", "->"));
        snippet::write(&mut out, record.content);
    } else {
        out.push_str(&document_line(record.content));
        out.push('\n');
    }
    out
}

/// Renders the body of `Current Progress`: each non-empty list under its sub-heading.
pub(in crate::domain) fn progress_body(progress: &Progress) -> String {
    let lists = [
        ("Completed", &progress.completed),
        ("In Progress", &progress.in_progress),
        ("Remaining", &progress.remaining),
    ];
    let mut body = String::new();
    for (title, bullets) in lists {
        let bullets = bullets
            .iter()
            .map(|bullet| document_line(bullet))
            .filter(|bullet| !bullet.is_empty());
        for (index, bullet) in bullets.enumerate() {
            if index == 0 {
                body.push_str(&format!("## {title}\n"));
            }
            body.push_str(&format!("- {bullet}\n"));
        }
    }
    body
}

/// Writes a reason so that parsing finds the same end. A `:` at its very end may stay, because the delimiter
/// follows it directly.
fn push_reason(out: &mut String, mut reason: &str) {
    while let Some(colon) = end_of_reason(reason).filter(|colon| colon + 1 < reason.len()) {
        out.push_str(&reason[..colon]);
        out.push(';');
        reason = &reason[colon + 1..];
    }
    out.push_str(reason);
}
