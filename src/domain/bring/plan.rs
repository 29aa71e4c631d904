//! Adds pieces to a document: learnings as records, sections as free sections, each once.

use super::{Note, Piece, SourceFile, markdown};
use crate::domain::document::{Fence, closing_fence, outline, records};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::{ChangedDocument, Counters, Edit, EditError, append_section};
use crate::domain::operation::AddedRecord;
use crate::domain::text::folded;
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

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
/// an archived record, of which `archived` has the contents; a section is there if all its lines are. Case and blanks
/// do not count. Linear.
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
    let (mut learnings, mut lines) = known(document, archived);
    let (mut added, mut present) = (Vec::new(), 0);
    let mut text = document.to_owned();
    let mut closing_line = closing_fence(document);
    let mut numbers = HashMap::new();
    let mut titles: HashSet<String> = outline(document)
        .into_iter()
        .map(|section| folded(&section.title))
        .collect();
    for piece in pieces {
        let Some(title) = &piece.title else { continue };
        let own: Vec<String> = lines_of(&piece.text).collect();
        if own.iter().all(|line| lines.contains(line)) {
            present += 1;
            continue;
        }
        lines.extend(own);
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

/// The learnings and the lines that a document has, or had, without regard to case and blanks.
fn known(document: &str, archived: &[String]) -> (HashSet<String>, HashSet<String>) {
    let mut learnings: HashSet<String> = archived.iter().map(|content| folded(content)).collect();
    let mut lines: HashSet<String> = archived.iter().flat_map(|content| lines_of(content)).collect();
    lines.extend(lines_of(document));
    for record in records(document) {
        learnings.insert(folded(&record.content));
        lines.extend(lines_of(&record.content));
        lines.extend(record.label.as_deref().map(folded));
    }
    let bullets =
        SourceFile::of("", document.as_bytes().to_vec()).and_then(|file| markdown(&file, Note::Plain));
    let bullets = bullets.unwrap_or_default().pieces.into_iter();
    learnings.extend(
        bullets
            .filter(|piece| piece.title.is_none())
            .map(|piece| folded(&piece.text)),
    );
    (learnings, lines)
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
