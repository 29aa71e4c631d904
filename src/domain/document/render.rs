//! What the service writes: record lines and the body of `Current Progress`.

use super::lines::BLANKS;
use super::record::end_of_reason;
use super::snippet;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::operation::Progress;
use chrono::{DateTime, SecondsFormat, Utc};

/// What a new record says. Text that a record line cannot hold is normalised when it is written:
///
/// - everything but a snippet becomes one line, its lines joined by single blanks, and loses the blanks
///   (space, tab, CR) around it;
/// - a `:` in a reason with a blank behind it would end the reason, and becomes `;`;
/// - a `=>` in a label would end the label, and becomes `->`;
/// - a snippet loses the end of its last line and trailing blank lines;
/// - NUL, which no document may hold, becomes U+FFFD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Why it is kept.
    pub reason: Option<&'a str>,
    /// What the snippet is; VC records only.
    pub label: Option<&'a str>,
    /// What it says; of a VC record the snippet.
    pub content: &'a str,
}

/// A time as record lines hold it: RFC 3339, seconds, Z.
#[must_use]
pub fn written_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The lines of a record.
pub(in crate::domain) fn record_lines(id: RecordId, time: DateTime<Utc>, record: &NewRecord<'_>) -> String {
    let mut out = format!("- {id} [{}] ", written_time(time));
    let reason = one_line(record.reason.unwrap_or_default());
    if !reason.is_empty() {
        out.push_str("because ");
        push_reason(&mut out, &reason);
        out.push_str(": ");
    }
    if id.kind == RecordKind::Verbatim {
        out.push_str(&one_line(record.label.unwrap_or_default()).replace("=>", "->"));
        snippet::write(&mut out, record.content);
    } else {
        out.push_str(&one_line(record.content));
        out.push('\n');
    }
    out
}

/// The body of `Current Progress`: its lists under their sub-headings, an empty one left out.
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
            .map(|bullet| one_line(bullet))
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

/// A text as one line.
pub(in crate::domain) fn one_line(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| line.trim_matches(BLANKS))
        .filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").replace('\0', "\u{fffd}")
}

/// Writes a reason so that its end is the one that reading finds. A `:` at its very end may stay: the one
/// written behind it stands between it and the blank.
fn push_reason(out: &mut String, mut reason: &str) {
    while let Some(colon) = end_of_reason(reason).filter(|colon| colon + 1 < reason.len()) {
        out.push_str(&reason[..colon]);
        out.push(';');
        reason = &reason[colon + 1..];
    }
    out.push_str(reason);
}
