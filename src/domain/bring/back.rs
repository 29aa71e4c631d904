//! A document as Markdown for people and other agents: without ids, times and reasons.

use crate::domain::document::{Entry, ManagedSection, entries_of, outline};
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};

/// Writes a document as Markdown: records become bullets and snippets code blocks, all other text stays as it is.
/// With `with_work`, what is being done is written too: progress, status and tasks. Records that have expired `now` are left out.
#[must_use]
pub fn as_markdown(document: &str, with_work: bool, now: Option<DateTime<Utc>>) -> String {
    let (mut out, mut at) = (String::with_capacity(document.len()), 0);
    let mut entries = entries_of(document, |_| true).peekable();
    for section in outline(document) {
        out.push_str(&document[at..section.range.start]);
        let is_work = matches!(
            section.managed,
            Some(
                ManagedSection::CurrentProgress | ManagedSection::ActiveContext | ManagedSection::RecentTasks
            )
        );
        at = match is_work && !with_work {
            true => section.range.end,
            false => section.range.start,
        };
        while let Some(entry) = entries.next_if(|entry| entry.range.start < section.range.end) {
            if at <= entry.range.start {
                out.push_str(&document[at..entry.range.start]);
                if !now.is_some_and(|now| entry.marks.has_expired(now)) {
                    out.push_str(&written(&entry));
                }
                at = entry.range.end;
            }
        }
    }
    out.push_str(&document[at..]);
    format!("{}\n", out.trim())
}

fn written(entry: &Entry) -> String {
    match &entry.label {
        Some(label) => {
            let fence = fence_around(&entry.content);
            format!("\n{label}\n\n{fence}\n{}\n{fence}\n", entry.content)
        }
        None => format!("- {}\n", one_line(&entry.content)),
    }
}

/// A fence that is longer than any run of backticks in a text.
pub(super) fn fence_around(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or_default().max(2) + 1)
}
