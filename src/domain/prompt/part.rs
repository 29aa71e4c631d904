//! The parts of a prompt: their names, the pieces that can be dropped from them, and those made of a document.

use crate::domain::document::{Entry, Layout, ManagedSection, Section, entries};
use crate::domain::ids::{Category, ItemId, RecordId};
use chrono::{DateTime, Utc};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The separator between two parts and between two items: the end of a line and an empty line.
pub(super) const EMPTY_LINE: &str = "\n\n";

/// The source of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum PartSource {
    /// Items of a category.
    Items,
    /// Text of the document.
    Document,
    /// The current time.
    Clock,
}

listed! {
    /// What a part can be made of.
    PartSource as "PromptPartSource";
}

/// The kind of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceId {
    /// Text that is dropped only with its part.
    Text,
    /// An item.
    Item(ItemId),
    /// A bullet of a section with records; without an id it is not a record yet.
    Record(Option<RecordId>),
}

/// Some lines of a part, without surrounding blank lines and without the last line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its kind.
    pub id: PieceId,
    /// Its text.
    pub text: String,
    /// The separator before the next piece of its part: line ends and blank lines.
    pub(super) gap: String,
}

/// A part of a prompt. It has at least one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The category of its items, or its built-in name.
    pub name: String,
    /// Its source.
    pub source: PartSource,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

impl Part {
    pub(super) fn new(name: &str, source: PartSource, pieces: Vec<Piece>) -> Self {
        Self {
            name: name.to_owned(),
            source,
            pieces,
        }
    }
}

impl Piece {
    /// A piece followed by an empty line; `None` if the text contains only blanks. `closing` is the line that
    /// closes a code fence left open at its end.
    pub(super) fn of(id: PieceId, text: &str, closing: Option<String>) -> Option<Self> {
        let mut text = without_blank_edges(text).to_owned();
        if text.is_empty() {
            return None;
        }
        if let Some(line) = closing {
            text.push('\n');
            text.push_str(line.trim_end());
        }
        Some(Self {
            id,
            text,
            gap: EMPTY_LINE.to_owned(),
        })
    }
}

/// Removes leading and trailing blank lines and the last line end. A line is blank if it contains only
/// Unicode whitespace; at the start a CR alone also ends a line, and a byte order mark is removed. The result
/// begins at a non-blank line, where a tokenizer starts a new token, so pieces can be counted separately.
pub(super) fn without_blank_edges(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let Some(first) = text.find(|c: char| !c.is_whitespace()) else {
        return "";
    };
    let start = text[..first].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let written = text.trim_end().len();
    let end = text[written..].find('\n').map_or(text.len(), |lf| written + lf);
    let shown = &text[start..end];
    shown.strip_suffix('\r').unwrap_or(shown)
}

/// Static rules and anti-goals; only administrators may write them, and no budget drops them.
pub const RULES: &str = "rules";

/// The steps of the current work.
pub(super) const WORKFLOW: &str = "workflow";
/// Date and time: generated for each prompt, unless there are items of this category.
pub(super) const DATETIME: &str = "datetime";
/// The free part of the document, which no operation of the service changes.
pub(super) const FREE: &str = "free";

/// How many of [`PARTS`] are the stable prefix. Categories that are not among them come behind it.
pub(super) const STABLE: usize = 3;

/// The names of all built-in parts of a prompt, in order.
pub const PARTS: [&str; 12] = [
    RULES,
    "user_information",
    "tool_guidance",
    FREE,
    "key_learnings",
    "verbatim_context",
    "decisions",
    "active_context",
    "recent_tasks",
    WORKFLOW,
    "current_progress",
    DATETIME,
];

/// Where a part stands in a prompt.
pub(super) fn place_of(name: &str) -> (usize, &str) {
    match PARTS.iter().position(|known| *known == name) {
        Some(place) if place < STABLE => (place, ""),
        Some(place) => (place + 1, ""),
        None => (STABLE, name),
    }
}

/// Checks that items may use a category: not the name of a generated part, and no other spelling of a
/// built-in name, so that nothing can be mistaken for the rules.
///
/// # Errors
///
/// A sentence that may be shown to a client.
pub fn check_writable(category: &Category) -> Result<(), String> {
    let name = category.as_str();
    let known = PARTS.into_iter().find(|known| known.eq_ignore_ascii_case(name));
    let is_generated =
        |known| known == FREE || ManagedSection::ALL.into_iter().any(|of| name_of(of) == known);
    match known {
        Some(known) if is_generated(known) => Err(format!(
            "{known} is a part of the prompt that is not made of items; choose another name"
        )),
        // In another case it would be a different category.
        Some(known) if known != name => Err(format!("must be written {known}")),
        _ => Ok(()),
    }
}

/// Counts the tokens of a text.
pub type Count<'c> = &'c dyn Fn(&str) -> usize;

/// Counts the tokens of consecutive pieces, given with the indices of their parts. A tokenizer starts a new
/// token at a non-blank line, so each piece can be counted separately and the counts can be cached.
pub(super) fn tokens(pieces: &[(usize, &Piece)], count: Count<'_>) -> usize {
    joined(pieces)
        .map(|(_, text, gap)| count(&[text, gap].concat()))
        .sum()
}

pub(super) fn written(pieces: &[(usize, &Piece)]) -> String {
    let mut written = String::new();
    for (_, text, gap) in joined(pieces) {
        written.push_str(text);
        written.push_str(gap);
    }
    written
}

/// Each piece with the index of its part and the separator after it: its own gap within a part, an empty line
/// between parts, nothing at the end.
pub(super) fn joined<'p>(pieces: &[(usize, &'p Piece)]) -> impl Iterator<Item = (usize, &'p str, &'p str)> {
    let next = pieces.iter().skip(1).map(|(part, _)| Some(*part)).chain([None]);
    pieces.iter().zip(next).map(|((part, piece), next)| {
        let gap = match next {
            Some(next) if next == *part => piece.gap.as_str(),
            Some(_) => EMPTY_LINE,
            None => "",
        };
        (*part, piece.text.as_str(), gap)
    })
}

/// The part name of a managed section: `key_learnings` of `Key Learnings`.
pub(super) fn name_of(section: ManagedSection) -> String {
    section.title().to_lowercase().replace(' ', "_")
}

/// The non-empty parts of a document, in no particular order, without the records that have expired by then. Linear.
pub(super) fn document_parts(text: &str, now: DateTime<Utc>) -> Vec<Part> {
    let layout = Layout::of(text);
    let records: Vec<Entry> = entries(text).collect();
    let mut parts = Vec::new();
    let before = layout
        .sections()
        .next()
        .map_or(text.len(), |first| first.range.start);
    // Only the last text of a document can end inside an open fence.
    let closing = |end: usize| layout.closing_line().filter(|_| end == text.len());
    let mut free: Vec<_> = Piece::of(PieceId::Text, &text[..before], closing(before))
        .into_iter()
        .collect();
    for section in layout.sections() {
        let (range, closing) = (section.range.clone(), closing(section.range.end));
        match section.managed {
            None => free.extend(Piece::of(PieceId::Text, &text[range], closing)),
            Some(managed) => parts.extend(managed_part(text, managed, section, (&records, now), closing)),
        }
    }
    if !free.is_empty() {
        parts.push(Part::new(FREE, PartSource::Document, free));
    }
    parts
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
    begins.push((section.range.end, None));
    let pieces = begins.array_windows();
    let pieces = pieces.filter_map(|[(start, id), (end, _)]| piece(id.clone()?, &text[*start..*end]));
    let mut pieces: Vec<Piece> = pieces.collect();
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
    Some(Part::new(&name_of(managed), PartSource::Document, pieces))
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
    let Some(written) = text[from..].find(|c: char| !c.is_whitespace()) else {
        return text.len();
    };
    let blank = text[from..from + written].rfind(['\n', '\r']);
    blank.map_or(from, |end| from + end + 1)
}
