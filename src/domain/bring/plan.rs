//! Adds pieces to a document: learnings as records, sections as free sections, each once.

use super::{Note, Piece, SourceFile, as_markdown, markdown};
use crate::domain::document::{Fence, closing_fence, outline, records};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{ChangedDocument, Counters, Edit, EditError, append_section};
use crate::domain::operation::AddedRecord;
use crate::domain::text::folded;
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A document with what was added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The document.
    pub text: String,
    /// What was added, in order; nothing if the document is unchanged.
    pub added: Vec<Added>,
    /// How many pieces were there already.
    pub present: usize,
}

/// A piece that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The id of its record; `None` for a section.
    #[serde(rename = "record_id")]
    pub id: Option<RecordId>,
    /// The learning, or the title of the section.
    pub text: String,
    /// Its file, and its line in Markdown.
    pub place: String,
}

/// Adds to a document the pieces that it does not have. A learning is there if a record or a bullet has its text, also
/// an archived record, of which `archived` has the contents; a section is there if one section of the document has its
/// lines in their order, lines of archived records aside, or if it is among the pieces twice. Case and blanks do not
/// count. Reads the document once for each section among the pieces; linear otherwise.
///
/// # Errors
///
/// [`EditError::IdsExhausted`].
pub fn plan(
    document: &str,
    counters: Counters,
    archived: &[String],
    pieces: &[Piece],
    now: DateTime<Utc>,
) -> Result<Plan, EditError> {
    let mut learnings = known_learnings(document, archived);
    let sections = KnownSections::of(document, archived);
    let (mut added, mut present) = (Vec::new(), 0);
    let mut text = document.to_owned();
    let mut closing_line = closing_fence(document);
    let mut numbers = HashMap::new();
    let mut titles: HashSet<String> = outline(document)
        .into_iter()
        .map(|section| folded(&section.title))
        .collect();
    let mut seen = HashSet::new();
    for piece in pieces {
        let Some(title) = &piece.title else { continue };
        let own: Vec<String> = lines_of(&piece.text).collect();
        if sections.have(&own) || !seen.insert((folded(title), own)) {
            present += 1;
            continue;
        }
        let title = free_title(title, &piece.place, &mut titles, &mut numbers);
        let body = format!("{}\n", piece.text);
        append_section(&mut text, closing_line, &title, &body);
        // A heading ends whatever is open above it.
        closing_line = closing_fence(&format!("# {title}\n{body}"));
        added.push(Added {
            id: None,
            text: title,
            place: piece.place.clone(),
        });
    }
    let with_sections = text;
    let mut edit = Edit::new(&with_sections, counters, now);
    let mut places = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.title.is_none()) {
        if !learnings.insert(folded(&piece.text)) {
            present += 1;
            continue;
        }
        let record = AddedRecord {
            reason: piece.reason(),
            content: piece.text.clone(),
            ..AddedRecord::default()
        };
        let time = piece.time.unwrap_or(now);
        edit.add(RecordKind::Learning, &record, time)?;
        places.push(&piece.place);
    }
    let ChangedDocument { text, operations, .. } = edit.finish();
    added.extend(operations.into_iter().zip(places).map(|(learning, place)| Added {
        id: learning.id,
        text: learning.content.unwrap_or_default(),
        place: place.clone(),
    }));
    Ok(Plan { text, added, present })
}

/// The learnings that a document has, or had, without regard to case and blanks.
fn known_learnings(document: &str, archived: &[String]) -> HashSet<String> {
    let mut learnings: HashSet<String> = archived.iter().map(|content| folded(content)).collect();
    learnings.extend(records(document).iter().map(|record| folded(&record.content)));
    let bullets =
        SourceFile::of("", document.as_bytes().to_vec()).and_then(|file| markdown(&file, Note::Plain));
    let bullets = bullets.unwrap_or_default().pieces.into_iter();
    let bullets = bullets.filter(|piece| piece.title.is_none());
    learnings.extend(bullets.map(|piece| folded(&piece.text)));
    learnings
}

/// The lines that a document has in each section, as they stand and as [`as_markdown()`] writes them, and those that
/// it had in records.
struct KnownSections {
    /// The lines before the first section, and those of each title, which a file may have together.
    forms: Vec<(Vec<String>, Vec<Vec<String>>)>,
    archived: HashSet<String>,
}

impl KnownSections {
    fn of(document: &str, archived: &[String]) -> Self {
        let forms = [document, &as_markdown(document, true, None)].map(|text| {
            let outlined = outline(text);
            let end = outlined.first().map_or(text.len(), |section| section.range.start);
            let mut of_title: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for section in outlined {
                let lines = of_title.entry(folded(&section.title)).or_default();
                lines.extend(lines_of(&text[section.body]));
            }
            // Also the text before the first section alone.
            let sections = of_title.into_values().chain([Vec::new()]);
            (lines_of(&text[..end]).collect(), sections.collect())
        });
        Self {
            forms: forms.into(),
            archived: archived.iter().flat_map(|content| lines_of(content)).collect(),
        }
    }

    /// Whether one section has these lines in their order, those of archived records aside.
    fn have(&self, lines: &[String]) -> bool {
        let wanted: Vec<_> = lines
            .iter()
            .filter(|line| !self.archived.contains(*line))
            .collect();
        self.forms.iter().any(|(before, sections)| {
            let rest = &wanted[in_order(&wanted, before)..];
            sections
                .iter()
                .any(|section| in_order(rest, section) == rest.len())
        })
    }
}

/// How many of the lines, from the first one on, stand in the text in their order.
fn in_order(lines: &[&String], text: &[String]) -> usize {
    let mut text = text.iter();
    let found = |line: &&&String| text.any(|known| known == **line);
    lines.iter().take_while(found).count()
}

/// The lines of a text that say something, folded.
fn lines_of(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .filter(|line| Fence::opened_by(line.trim_start()).is_none());
    lines.map(folded).filter(|line| !line.is_empty())
}

/// The title, or if it is taken, the title with its file and if need be a number: the next one of these.
fn free_title(
    title: &str,
    place: &str,
    taken: &mut HashSet<String>,
    numbers: &mut HashMap<String, usize>,
) -> String {
    let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
    let in_file = format!("{title} ({file})");
    let mut free = title.to_owned();
    while !taken.insert(folded(&free)) {
        let number = numbers.entry(folded(&in_file)).or_insert(0);
        *number += 1;
        free = match *number {
            1 => in_file.clone(),
            number => format!("{title} ({file}, {number})"),
        };
    }
    free
}
