//! Parses records: `- <ID> [<time>] because <reason>: <content>`. Id, time and reason may each be missing in
//! text written by hand. The brackets may hold marks too: [`Marks`].
//!
//! Snippets are kept byte for byte. A single line follows `=> ` directly; several lines start on the
//! next line, each indented by two spaces, with empty lines left empty.

use super::lines::{BLANKS, is_blank, is_blank_byte, without_end};
use super::outline::{Layout, outline};
use super::render::{Brackets, Marks};
use crate::domain::ids::{RecordId, RecordKind};
use chrono::{DateTime, Utc};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;

/// An active record of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id, unique among the active records.
    pub id: RecordId,
    /// The time on its line.
    pub time: Option<DateTime<Utc>>,
    /// Whether it is pinned, and until when it holds.
    pub marks: Marks,
    /// The reason for keeping it.
    pub reason: Option<String>,
    /// The label of a snippet; only for VC records with a `=>`.
    pub label: Option<String>,
    /// For a VC record with a label the snippet, byte for byte. Otherwise the text after the reason and the
    /// record's other lines, each with two spaces of indentation removed.
    pub content: String,
}

/// A parsed bullet of a section with records. It has no id if none is written on it, or if an earlier bullet
/// has the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::domain) struct Entry {
    pub(in crate::domain) kind: RecordKind,
    pub(in crate::domain) id: Option<RecordId>,
    pub(in crate::domain) time: Option<DateTime<Utc>>,
    pub(in crate::domain) marks: Marks,
    pub(in crate::domain) reason: Option<String>,
    pub(in crate::domain) label: Option<String>,
    pub(in crate::domain) content: String,
    /// Byte range of all its lines.
    pub(in crate::domain) range: Range<usize>,
    /// Byte range of the id; empty, at the position where an id belongs, if none is written.
    pub(in crate::domain) id_range: Range<usize>,
    /// Byte range of the brackets with time and marks; empty, at the position where they belong, if there are none.
    pub(in crate::domain) brackets: Range<usize>,
}

/// Returns the active records of all kinds, in document order. If two record lines have the same id, the
/// first one counts. Linear.
#[must_use]
pub fn records(text: &str) -> Vec<Record> {
    entries(text).filter_map(Entry::into_record).collect()
}

/// The pinned records of a document. Linear.
pub(in crate::domain) fn pinned(text: &str) -> HashSet<RecordId> {
    // Most documents have none, and reading all records takes the longest of what an update checks.
    if !text.contains("pinned") {
        return HashSet::new();
    }
    let records = records(text).into_iter();
    records
        .filter(|record| record.marks.pinned)
        .map(|record| record.id)
        .collect()
}

/// Returns the ids of the active records with the byte ranges of their lines, in document order. Linear.
#[must_use]
pub fn record_ranges(text: &str) -> Vec<(RecordId, Range<usize>)> {
    let bullets = Layout::of(text).bullets;
    let mut seen = HashSet::with_capacity_and_hasher(bullets.len(), RandomState::default());
    let ids = bullets.into_iter().filter_map(|bullet| {
        let line = &text[bullet.range.start + "- ".len()..bullet.range.end];
        let (id, _) = id_of(line, bullet.section.record_kind()?)?;
        Some((id, bullet.range))
    });
    ids.filter(|(id, _)| seen.insert(*id)).collect()
}

/// Parses one of the [`record_ranges`] of a document.
pub(in crate::domain) fn record_at(text: &str, id: RecordId, range: &Range<usize>) -> Record {
    Entry::read(text, range.clone(), id.kind).into_record_of(id)
}

/// Returns the record and the section title that contain the word at byte offset `byte`. Linear.
#[must_use]
pub fn location_of(text: &str, byte: usize) -> (Option<RecordId>, Option<String>) {
    let record = record_ranges(text)
        .into_iter()
        .find(|(_, range)| range.contains(&byte));
    let section = outline(text)
        .into_iter()
        .find(|section| section.range.contains(&byte));
    (record.map(|(id, _)| id), section.map(|section| section.title))
}

/// Parses the bullets of the sections with records of these kinds, in document order. Linear.
pub(in crate::domain) fn entries_of(
    text: &str,
    is_wanted: impl Fn(RecordKind) -> bool,
) -> impl Iterator<Item = Entry> {
    let mut seen: HashSet<_, RandomState> = HashSet::default();
    let bullets = Layout::of(text).bullets.into_iter();
    bullets.filter_map(move |bullet| {
        let kind = bullet.section.record_kind().filter(|kind| is_wanted(*kind))?;
        let mut entry = Entry::read(text, bullet.range, kind);
        // An id counts in the section of its kind alone, so that other sections have none of these.
        entry.id = entry.id.filter(|id| seen.insert(*id));
        Some(entry)
    })
}

/// The same of all kinds.
pub(in crate::domain) fn entries(text: &str) -> impl Iterator<Item = Entry> {
    entries_of(text, |_| true)
}

impl Entry {
    /// Parses one bullet. Does not detect that an earlier bullet has the same id.
    pub(in crate::domain) fn read(text: &str, range: Range<usize>, kind: RecordKind) -> Self {
        let dash_end = range.start + "- ".len();
        let line = text[dash_end..range.end].split('\n').next().unwrap_or_default();
        let mut body_start = skip_blanks(line, 0);
        let mut id_range = dash_end..dash_end;
        let id = id_of(line, kind).map(|(id, word)| {
            id_range = dash_end + body_start..dash_end + body_start + word.len();
            body_start = skip_blanks(line, body_start + word.len());
            id
        });
        let found = Brackets::at(&line[body_start..]);
        let mut brackets = dash_end + body_start..dash_end + body_start;
        if let Some(found) = found {
            brackets.end += found.written.len();
            body_start = skip_blanks(line, body_start + found.written.len());
        }
        let own = &text[dash_end + body_start..range.end];
        let (first, rest) = own.split_at(own.find('\n').map_or(own.len(), |lf| lf + 1));
        let (reason, text_after_reason) = reason_and_rest(without_end(first));
        let snippet = match kind {
            RecordKind::Verbatim => text_after_reason.split_once("=>"),
            _ => None,
        };
        let (label, content) = match snippet {
            Some((label, body_start)) => (
                Some(label.trim_matches(BLANKS)),
                snippet_of(body_start, first, rest),
            ),
            None => (None, text_of_lines(text_after_reason, rest)),
        };
        Self {
            kind,
            id,
            time: found.and_then(|found| Some(found.time?.1)),
            marks: found.map(|found| found.marks).unwrap_or_default(),
            reason: reason.map(str::to_owned),
            label: label.filter(|label| !label.is_empty()).map(str::to_owned),
            content,
            range,
            id_range,
            brackets,
        }
    }

    /// Whether the bullet has no text.
    pub(in crate::domain) fn is_empty(&self) -> bool {
        self.reason.is_none() && self.label.is_none() && self.content.is_empty()
    }

    /// Returns the record, if the bullet has an id.
    pub(in crate::domain) fn into_record(self) -> Option<Record> {
        self.id.map(|id| self.into_record_of(id))
    }

    /// Returns the record with the given id.
    pub(in crate::domain) fn into_record_of(self, id: RecordId) -> Record {
        Record {
            id,
            time: self.time,
            marks: self.marks,
            reason: self.reason,
            label: self.label,
            content: self.content,
        }
    }
}

/// Returns the id after a bullet's dash, if it is one of this kind, and as it is written.
fn id_of(line: &str, kind: RecordKind) -> Option<(RecordId, &str)> {
    let bytes = line.as_bytes();
    let begin = bytes.iter().position(|byte| !is_blank_byte(*byte))?;
    let ends = |byte: &u8| is_blank_byte(*byte) || *byte == b'\n';
    let end = bytes[begin..].iter().position(ends);
    let word = &line[begin..end.map_or(line.len(), |end| begin + end)];
    let id: RecordId = word.parse().ok()?;
    (id.kind == kind).then_some((id, word))
}

fn skip_blanks(line: &str, from: usize) -> usize {
    line.len() - line[from..].trim_start_matches(BLANKS).len()
}

/// Splits off `because <reason>:` by the rule of the DSL: the reason ends at the first `:` followed by a
/// blank or the end of the line or, if there is none, at the first `:`. Without a reason the whole text is
/// content.
fn reason_and_rest(line: &str) -> (Option<&str>, &str) {
    let parts = line
        .split_at_checked("because".len())
        .filter(|(word, rest)| word.eq_ignore_ascii_case("because") && rest.starts_with(BLANKS))
        .and_then(|(_, rest)| {
            let colon = reason_end(rest, |c| BLANKS.contains(&c))?;
            Some((rest[..colon].trim_matches(BLANKS), &rest[colon + 1..]))
        })
        .filter(|(reason, _)| !reason.is_empty());
    match parts {
        Some((reason, rest)) => (Some(reason), rest),
        None => (None, line),
    }
}

/// Byte offset of the `:` that ends a reason: the first one followed by a blank or the end, or else the first.
pub(in crate::domain) fn reason_end(text: &str, is_blank: impl Fn(char) -> bool) -> Option<usize> {
    colon_before_blank(text, is_blank).or_else(|| text.find(':'))
}

/// Byte offset of the first `:` followed by a blank or the end of a document's line.
pub(in crate::domain) fn end_of_reason(text: &str) -> Option<usize> {
    colon_before_blank(text, |c| BLANKS.contains(&c))
}

fn colon_before_blank(text: &str, is_blank: impl Fn(char) -> bool) -> Option<usize> {
    let mut colons = text.match_indices(':').map(|(place, _)| place);
    colons.find(|place| text[place + 1..].chars().next().is_none_or(&is_blank))
}

/// Joins the content of a record that is not a snippet: the rest of its first line and its other lines.
fn text_of_lines(first: &str, rest: &str) -> String {
    let mut content = first.trim_matches(BLANKS).to_owned();
    for line in rest.lines() {
        if !content.is_empty() {
            content.push('\n');
        }
        if !is_blank(line) {
            content.push_str(line.strip_prefix(INDENT).unwrap_or(line));
        }
    }
    content.truncate(content.trim_end_matches(BLANKS).len());
    content
}

const INDENT: &str = "  ";

/// Normalises a snippet to what a document can store: without its last line end and trailing blank lines, and
/// with U+FFFD for NUL. Idempotent.
pub(in crate::domain) fn normalised_snippet(snippet: &str) -> String {
    trimmed(snippet).replace('\0', "\u{fffd}")
}

fn trimmed(mut snippet: &str) -> &str {
    while let Some((before, last)) = snippet.rsplit_once('\n') {
        if !is_blank(last) {
            break;
        }
        snippet = before;
    }
    if is_blank(snippet) {
        ""
    } else {
        snippet.trim_end_matches('\r')
    }
}

/// Writes the text after the label: ` => `, the normalised snippet, and the end of its last line.
pub(super) fn push_snippet(out: &mut String, snippet: &str) {
    let snippet = normalised_snippet(snippet);
    if !snippet.contains('\n') {
        out.push_str(if snippet.is_empty() { " =>" } else { " => " });
        out.push_str(&snippet);
    } else {
        out.push_str(" =>\n");
        for line in snippet.split_inclusive('\n') {
            if !without_end(line).is_empty() {
                out.push_str(INDENT);
            }
            out.push_str(line);
        }
    }
    out.push('\n');
}

/// Parses the snippet of a record from the text after `=>` on its first line, that whole line (for its line
/// end), and its other lines.
fn snippet_of(after: &str, first: &str, rest: &str) -> String {
    let mut snippet = String::with_capacity(after.len() + rest.len());
    if !is_blank(after) {
        snippet.push_str(after.strip_prefix([' ', '\t']).unwrap_or(after));
        snippet.push_str(&first[without_end(first).len()..]);
    }
    for line in rest.split_inclusive('\n') {
        snippet.push_str(line.strip_prefix(INDENT).unwrap_or(line));
    }
    trimmed(&snippet).to_owned()
}
