//! Splits the document into parts of a prompt.

use super::category::FREE;
use super::part::{Part, PartSource, Piece, PieceId, without_blank_edges};
use crate::domain::document::{Entry, Layout, ManagedSection, Section, entries};
use chrono::{DateTime, Utc};

/// The part name of a managed section.
pub(super) fn name_of(section: ManagedSection) -> &'static str {
    match section {
        ManagedSection::CurrentProgress => "current_progress",
        ManagedSection::KeyLearnings => "key_learnings",
        ManagedSection::VerbatimContext => "verbatim_context",
        ManagedSection::ActiveContext => "active_context",
        ManagedSection::RecentTasks => "recent_tasks",
        ManagedSection::Decisions => "decisions",
    }
}

/// The non-empty parts of a document, in no particular order, without the records that have expired by then. Linear.
pub(super) fn document_parts(text: &str, now: DateTime<Utc>) -> Vec<Part> {
    let layout = Layout::of(text);
    let records: Vec<Entry> = entries(text, &layout).collect();
    let mut parts = Vec::new();
    let before = layout
        .sections
        .first()
        .map_or(text.len(), |first| first.range.start);
    // Only the last text of a document can end inside an open fence.
    let closing = |end: usize| layout.closing_line().filter(|_| end == text.len());
    let mut free: Vec<_> = Piece::of(PieceId::Text, &text[..before], closing(before))
        .into_iter()
        .collect();
    for section in &layout.sections {
        let (range, closing) = (section.range.clone(), closing(section.range.end));
        match section.managed {
            None => free.extend(Piece::of(PieceId::Text, &text[range], closing)),
            Some(managed) => parts.extend(managed_part(text, managed, section, (&records, now), closing)),
        }
    }
    if !free.is_empty() {
        parts.push(part(FREE, free));
    }
    parts
}

fn part(name: &str, pieces: Vec<Piece>) -> Part {
    Part {
        name: name.to_owned(),
        source: PartSource::Document,
        pieces,
    }
}

/// A managed section with its records as separate pieces; `None` if there is nothing below its heading.
fn managed_part(
    text: &str,
    managed: ManagedSection,
    section: &Section,
    (records, now): (&[Entry], DateTime<Utc>),
    closing: Option<String>,
) -> Option<Part> {
    if text[section.body.clone()].trim().is_empty() {
        return None;
    }
    let first = records.partition_point(|entry| entry.range.start < section.range.start);
    let last = records.partition_point(|entry| entry.range.start < section.range.end);
    // Start and kind of each piece; a piece ends where the next begins.
    let mut begins = vec![(section.range.start, Some(PieceId::Text))];
    let mut expired: Vec<String> = Vec::new();
    for entry in &records[first..last] {
        let has_expired = entry.marks.has_expired(now);
        if has_expired {
            let name = entry
                .id
                .map_or_else(|| "one without an id".to_owned(), |id| id.to_string());
            expired.push(name);
        }
        begins.push((
            entry.range.start,
            (!has_expired).then_some(PieceId::Record(entry.id)),
        ));
        let after = first_nonblank_line(text, entry.range.end).min(section.range.end);
        begins.push((after, Some(PieceId::Text)));
    }
    let ends = begins
        .iter()
        .skip(1)
        .map(|(start, _)| *start)
        .chain([section.range.end]);
    let mut pieces: Vec<Piece> = begins
        .iter()
        .zip(ends)
        .filter_map(|((start, id), end)| piece(id.clone()?, &text[*start..end]))
        .collect();
    if let (Some(last), Some(line)) = (pieces.last_mut(), closing) {
        last.text.push('\n');
        last.text.push_str(line.trim_end());
    }
    if !expired.is_empty() {
        if let Some(last) = pieces.last_mut() {
            last.gap = "\n".to_owned();
        }
        let note = format!("(Left out, expired: {}.)", expired.join(", "));
        pieces.extend(Piece::of(PieceId::Text, &note, None));
    }
    Some(part(name_of(managed), pieces))
}

/// A piece with the blank lines after it; `None` if all lines are blank.
fn piece(id: PieceId, lines: &str) -> Option<Piece> {
    let shown = without_blank_edges(lines);
    let begin = lines.find(shown)?;
    (!shown.is_empty()).then(|| Piece {
        id,
        text: shown.to_owned(),
        gap: lines[begin + shown.len()..].to_owned(),
    })
}

/// The start of the first non-blank line at or after `from`, which must be the start of a line.
fn first_nonblank_line(text: &str, from: usize) -> usize {
    let blank = &text[from..];
    match blank.find(|c: char| !c.is_whitespace()) {
        Some(text_start) => blank[..text_start]
            .rfind(['\n', '\r'])
            .map_or(from, |end| from + end + 1),
        None => text.len(),
    }
}
