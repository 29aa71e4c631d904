//! A document as HTML: records as entries with their age and evidence, all other text as Markdown.

use super::super::failure::Failure;
use super::super::link;
use super::super::markdown;
use super::super::parts::{Escaped, Markup, When};
use super::super::visit::Visit;
use super::data;
use crate::domain::document::{Record, outline, record_ranges, records};
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Bytes of HTML per page of a document.
const PAGE_BYTES: usize = 60_000;

/// The maximum number of bytes of a document that become one piece of HTML.
const PIECE_BYTES: usize = 8_000;

/// Metadata of a document.
pub(super) struct About<'a> {
    pub(super) vault: &'a str,
    pub(super) memory: &'a str,
    pub(super) now: DateTime<Utc>,
    /// The records that the service knows, by id.
    pub(super) known: HashMap<String, data::Record>,
    /// Records added after this version are marked.
    pub(super) since: Option<i64>,
    /// Whether records have a link to the forms that change them.
    pub(super) can_change: bool,
}

/// A page of a document.
pub(super) struct Shown {
    pub(super) html: Markup,
    /// The byte offset of the next page.
    pub(super) next: Option<usize>,
}

enum Piece<'t> {
    Text(&'t str),
    /// Text of a section in which each line has its own meaning.
    Lines(&'t str),
    Record(Record, &'t str),
}

/// Renders a document from a byte offset on.
pub(super) fn show(text: &str, from: usize, about: &About<'_>) -> Shown {
    let mut html = String::new();
    let mut in_list = false;
    let mut next = None;
    let mut above = 1;
    for (start, piece) in pieces(text) {
        if start < from {
            continue;
        }
        if html.len() > PAGE_BYTES {
            next = Some(start);
            break;
        }
        match piece {
            Piece::Text(text) | Piece::Lines(text) if text.trim().is_empty() => {}
            Piece::Text(text) => {
                if std::mem::take(&mut in_list) {
                    html.push_str("</ul>");
                }
                html.push_str(&markdown::render(text, &mut above));
            }
            Piece::Lines(text) => html.push_str(&markdown::render(&in_paragraphs(text), &mut above)),
            Piece::Record(record, written) => {
                if !std::mem::replace(&mut in_list, true) {
                    html.push_str(r#"<ul class="records">"#);
                }
                entry(&mut html, &record, written, about);
            }
        }
    }
    if in_list {
        html.push_str("</ul>");
    }
    Shown {
        html: Markup(html),
        next,
    }
}

/// The records of a document and the text between them, in order, with their offsets.
fn pieces(text: &str) -> Vec<(usize, Piece<'_>)> {
    let mut whole: Vec<(Range<usize>, Option<Record>)> = Vec::new();
    for ((_, range), record) in record_ranges(text).into_iter().zip(records(text)) {
        whole.push((range, Some(record)));
    }
    for section in outline(text) {
        if section
            .managed
            .is_some_and(|managed| managed.record_kind().is_none())
        {
            whole.push((section.body, None));
        }
    }
    whole.sort_by_key(|(range, _)| range.start);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (range, record) in whole {
        cut(&mut pieces, text, at..range.start, Piece::Text);
        at = range.end;
        match record {
            Some(record) => pieces.push((range.start, Piece::Record(record, &text[range]))),
            None => cut(&mut pieces, text, range, Piece::Lines),
        }
    }
    cut(&mut pieces, text, at..text.len(), Piece::Text);
    pieces
}

/// The lines of a section as paragraphs and lists, which Markdown would join.
fn in_paragraphs(text: &str) -> String {
    if text.contains("```") || text.contains("~~~") {
        return text.to_owned();
    }
    let mut apart = String::new();
    for line in text.lines() {
        if !line.starts_with([' ', '\t', '-', '*', '+']) {
            apart.push('\n');
        }
        apart.push_str(line);
        apart.push('\n');
    }
    apart
}

/// Splits a text at empty lines outside of code fences into pieces of limited size; a longer line is split.
fn cut<'t>(
    pieces: &mut Vec<(usize, Piece<'t>)>,
    text: &'t str,
    range: Range<usize>,
    piece: fn(&'t str) -> Piece<'t>,
) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let length = if rest.len() <= PIECE_BYTES {
            rest.len()
        } else {
            length_of_piece(rest)
        };
        pieces.push((at, piece(&rest[..length])));
        at += length;
    }
}

fn length_of_piece(rest: &str) -> usize {
    let window = &rest[..rest.floor_char_boundary(PIECE_BYTES)];
    let mut fenced = false;
    let mut between = None;
    let mut any_line = None;
    let mut at = 0;
    for line in window.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        at += line.len();
        if line.ends_with('\n') {
            any_line = Some(at);
            if trimmed.trim_end().is_empty() && !fenced {
                between = Some(at);
            }
        }
    }
    between.or(any_line).unwrap_or(window.len())
}

/// Writing to a string cannot fail, so the result is ignored.
fn entry(html: &mut String, record: &Record, written: &str, about: &About<'_>) {
    let id = record.id.to_string();
    let known = about.known.get(&id);
    let is_new = known
        .zip(about.since)
        .is_some_and(|(known, since)| known.created_version > since);
    let new = if is_new { " new" } else { "" };
    let href = link::memory(about.vault, about.memory, &["records", &id]);
    let _ = write!(
        html,
        r#"<li class="record{new}" id="{id}"><div class="head"><a href="{href}"><code>{id}</code></a>"#
    );
    if let Some(known) = known {
        let when = When::new(known.created_at, about.now);
        let version = link::memory(
            about.vault,
            about.memory,
            &["versions", &known.created_version.to_string()],
        );
        let _ = write!(
            html,
            r#"<span>{when}</span><span class="muted">by <bdi>{}</bdi> in <a href="{version}">version {}</a></span>"#,
            Escaped(&known.created_by),
            known.created_version,
        );
        if known.failed {
            html.push_str(r#"<span class="tag bad">failed</span>"#);
        }
    } else if let Some(time) = record.time {
        let _ = write!(html, "<span>{}</span>", When::new(time, about.now));
    }
    if is_new {
        html.push_str(r#"<span class="tag warn">new</span>"#);
    }
    if about.can_change && known.is_some() {
        let _ = write!(
            html,
            r#"<a href="{href}#change" aria-label="Change {id}">Change</a>"#
        );
    }
    html.push_str("</div>");
    match &record.label {
        Some(label) => {
            let _ = write!(
                html,
                "<p><strong><bdi>{}</bdi></strong></p><pre><code>{}</code></pre>",
                Escaped(label),
                Escaped(&record.content)
            );
        }
        None => {
            let _ = write!(html, r#"<p class="free">{}</p>"#, Escaped(&record.content));
        }
    }
    if let Some(reason) = &record.reason {
        let _ = write!(
            html,
            r#"<p class="reason">because <bdi>{}</bdi></p>"#,
            Escaped(reason)
        );
    }
    let evidence = known.map(|known| known.evidence.as_slice()).unwrap_or_default();
    if !evidence.is_empty() {
        let _ = write!(
            html,
            "<details><summary>Evidence of {id} ({})</summary>",
            evidence.len()
        );
        for passage in evidence {
            let _ = write!(
                html,
                r#"<blockquote class="free">{}</blockquote><p class="hint">{}</p>"#,
                Escaped(&passage.quote),
                Escaped(&passage.place())
            );
        }
        html.push_str("</details>");
    }
    debug_assert!(!written.is_empty(), "a record has lines");
    html.push_str("</li>");
}

/// The byte offset of the requested page: `?from=`.
pub(super) fn start(visit: &Visit, text: &str) -> Result<usize, Failure> {
    let Some(from) = visit.param("from") else {
        return Ok(0);
    };
    let place = from.parse().ok().filter(|place| text.is_char_boundary(*place));
    place.ok_or_else(|| {
        Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "from must be a byte of the document at which a character begins, at most {}",
                text.len()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About<'static> {
        About {
            vault: "v",
            memory: "m",
            now: DateTime::UNIX_EPOCH,
            known: HashMap::new(),
            since: None,
            can_change: false,
        }
    }

    fn all(text: &str) -> (String, usize) {
        let (mut from, mut pages, mut whole) = (0, 0, String::new());
        loop {
            let Shown { html, next } = show(text, from, &about());
            assert!(html.0.len() < 120_000, "{}", html.0.len());
            whole.push_str(&html.0);
            pages += 1;
            match next {
                Some(next) => {
                    assert!(next > from);
                    from = next;
                }
                None => return (whole, pages),
            }
        }
    }

    #[test]
    fn records_are_entries_and_all_else_is_markdown() {
        let text = "# Notes\n*a*\n\n# Key Learnings\nprose\n- KL-1 because <b>x</b>: one & <i>two</i>\n- KL-2 because y: three\n\n# End\n";
        let (html, pages) = all(text);
        assert_eq!(pages, 1);
        assert_eq!(html.matches("<li class=\"record\"").count(), 2, "{html}");
        assert_eq!(html.matches("<ul class=\"records\">").count(), 1, "{html}");
        assert!(html.contains("one &amp; &lt;i&gt;two&lt;/i&gt;"), "{html}");
        assert!(
            html.contains("<em>a</em>") && html.contains("<h2>End</h2>") && html.contains("<p>prose</p>")
        );
        assert!(!html.contains("<b>") && !html.contains("<i>"));
    }

    #[test]
    fn goal_blocker_and_progress_are_lines() {
        let text = "# Active Context\nGoal: one\nBlocker: none\n\n# Current Progress\nCompleted:\n  - a\n  - b\nIn Progress:\n  - c\n";
        let (html, _) = all(text);
        for part in [
            "<p>Goal: one</p>",
            "<p>Blocker: none</p>",
            "<p>In Progress:</p>",
            "<li>b</li>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_long_document_goes_on_on_another_page_and_loses_nothing() {
        let line = "a".repeat(100_000);
        let (html, pages) = all(&line);
        assert!(pages >= 2);
        assert_eq!(html.matches('a').count(), line.len());
        let (html, _) = all(&"&<".repeat(50_000));
        assert_eq!(html.matches("&lt;").count(), 50_000);
        let paragraphs = "word word\n\n".repeat(9_000);
        assert_eq!(all(&paragraphs).0.matches("<p>").count(), 9_000);
    }

    #[test]
    fn characters_of_many_bytes_are_not_cut() {
        let (html, _) = all(&"ñ漢🙂".repeat(9_000));
        assert_eq!(html.matches("🙂").count(), 9_000);
    }
}
