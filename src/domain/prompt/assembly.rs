//! Assembles a prompt: its parts in order, its text, and its token counts.

use super::budget::{Dropped, OverBudget, fit};
use super::item::PromptItem;
use super::part::{
    Count, DATETIME, PARTS, Part, PartSource, Piece, PieceId, STABLE, document_parts, joined, place_of,
    written,
};
use crate::domain::document::closing_fence;
use crate::domain::ids::RecordId;
use crate::domain::text::words::{folded_word, words};
use chrono::{DateTime, Offset, Utc};
use chrono_tz::Tz;
use sha2::Digest as _;
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};

/// The input of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Material<'m> {
    /// The visible items: the vault's before the memory's, each in insertion order.
    pub items: &'m [PromptItem],
    /// The document, if the memory has one.
    pub document: Option<&'m str>,
    /// What to say about the memory itself, beside the time: how full it is, what waits.
    pub note: Option<&'m str>,
    /// The time to show.
    pub time: DateTime<Utc>,
    /// The time zone to show it in.
    pub zone: Tz,
    /// The selected parts.
    pub selection: &'m Selection,
}

/// An assembled prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// What the budget removed, in the order of the parts.
    pub dropped: Vec<Dropped>,
    /// The relevance of records to the query, in thousandths; empty without a query.
    pub scores: Vec<(RecordId, usize)>,
}

/// Assembles the parts of a prompt in order (see the module) and drops what exceeds the budget. `max_tokens`
/// is the budget and the token counter; without it nothing is dropped or counted. Linear, except for sorting
/// the categories.
///
/// # Errors
/// [`OverBudget`] if the rules alone exceed the budget.
pub fn assemble(
    material: &Material<'_>,
    max_tokens: Option<(usize, Count<'_>)>,
) -> Result<Assembly, OverBudget> {
    let mut found = parts(material);
    found.retain(|part| material.selection.takes(&part.name));
    let Selection { query, near, .. } = material.selection;
    let query = query.as_deref().map(|query| Relevance::of(query, near));
    let scores = query.as_ref().map_or_else(Vec::new, |query| query.scores(&found));
    let (parts, dropped) = match max_tokens {
        Some((max_tokens, count)) => fit(found, query.as_ref(), max_tokens, count)?,
        None => (found, Vec::new()),
    };
    Ok(Assembly {
        parts,
        dropped,
        scores,
    })
}

fn parts(material: &Material<'_>) -> Vec<Part> {
    let mut categories: BTreeMap<&str, Vec<Piece>> = BTreeMap::new();
    for item in material.items {
        let id = PieceId::Item(item.item_id.clone());
        if let Some(piece) = Piece::of(id, &item.content, closing_fence(&item.content)) {
            categories.entry(item.category.as_str()).or_default().push(piece);
        }
    }
    let of_items = categories.into_iter();
    let of_items = of_items.map(|(name, pieces)| Part::new(name, PartSource::Items, pieces));
    let mut parts: Vec<Part> = of_items.collect();
    parts.extend(document_parts(
        material.document.unwrap_or_default(),
        material.time,
    ));
    let is_empty = material.items.is_empty() && material.document.is_none();
    let has_time = parts.iter().any(|part| part.name == DATETIME);
    // Without any content the prompt is empty, unless the time was requested explicitly.
    if !has_time && (!is_empty || material.selection.include.is_some()) {
        let line = clock_line(material.time, material.zone);
        let pieces = Piece::of(PieceId::Text, &line, None).into_iter().collect();
        parts.push(Part::new(DATETIME, PartSource::Clock, pieces));
    }
    parts.sort_by(|one, other| place_of(&one.name).cmp(&place_of(&other.name)));
    if let (Some(last), Some(note)) = (parts.last_mut(), material.note)
        && last.name == DATETIME
    {
        last.pieces.extend(Piece::of(PieceId::Text, note, None));
    }
    parts
}

impl Assembly {
    /// The text of the prompt, without a line end after the last part.
    #[must_use]
    pub fn text(&self) -> String {
        written(&pieces(&self.parts))
    }

    /// The SHA-256, in hexadecimal, of `rules`, `user_information` and `tool_guidance` in this prompt: while
    /// it is unchanged, the prompt begins with the same bytes. Without these parts, the hash of the empty
    /// text.
    #[must_use]
    pub fn prefix_hash(&self) -> String {
        let is_stable = |part: &&Part| PARTS[..STABLE].contains(&part.name.as_str());
        let stable = self.parts.iter().take_while(is_stable).count();
        hex::encode(Sha256::digest(written(&pieces(&self.parts[..stable]))))
    }

    /// The tokens of each part, including the empty line after it; their sum is the count of the text.
    #[must_use]
    pub fn tokens(&self, count: Count<'_>) -> Vec<usize> {
        let mut tokens = vec![0; self.parts.len()];
        for (part, text, gap) in joined(&pieces(&self.parts)) {
            tokens[part] += count(&[text, gap].concat());
        }
        tokens
    }
}

fn pieces(parts: &[Part]) -> Vec<(usize, &Piece)> {
    let parts = parts.iter().enumerate();
    parts
        .flat_map(|(place, part)| part.pieces.iter().map(move |piece| (place, piece)))
        .collect()
}

/// Names of parts to include and to exclude.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these parts; all parts if `None`.
    pub include: Option<BTreeSet<String>>,
    /// None of these parts.
    pub exclude: BTreeSet<String>,
    /// The purpose of the prompt: under a budget, records relevant to it are dropped last.
    pub query: Option<String>,
    /// The semantically nearest records, with their similarity in thousandths.
    pub near: BTreeMap<RecordId, u16>,
}

impl Selection {
    /// Whether a part is selected.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|names| names.contains(name));
        included && !self.exclude.contains(name)
    }

    /// Included names that match neither a part nor a category of these items: most likely misspelt.
    #[must_use]
    pub fn unknown(&self, items: &[PromptItem]) -> Vec<&str> {
        let known =
            |name: &&str| PARTS.contains(name) || items.iter().any(|item| item.category.as_str() == *name);
        let wanted = self.include.iter().flatten().map(String::as_str);
        wanted.filter(|name| !known(name)).collect()
    }
}

/// The score of a word. Similarities use the same unit, so they decide between records with the same number
/// of words.
const WORD_SCORE: usize = 1_000;

/// The query of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relevance {
    words: BTreeSet<String>,
    near: BTreeMap<RecordId, u16>,
}

impl Relevance {
    /// Combines the words of a query with the similarity, in thousandths, of the semantically nearest
    /// records.
    #[must_use]
    pub fn of(query: &str, near: &BTreeMap<RecordId, u16>) -> Self {
        Self {
            words: words_of(query),
            near: near.clone(),
        }
    }

    /// The score of a piece: the number of distinct query words in it plus its similarity; 0 means
    /// irrelevant.
    pub(super) fn score(&self, piece: &Piece) -> usize {
        let near = match piece.id {
            PieceId::Record(Some(id)) => self.near.get(&id).copied().unwrap_or(0),
            _ => 0,
        };
        let same = match self.words.is_empty() {
            true => 0,
            false => words_of(&piece.text).intersection(&self.words).count(),
        };
        same * WORD_SCORE + usize::from(near)
    }

    /// The scores of all records of the parts, in thousandths, in order.
    pub(super) fn scores(&self, parts: &[Part]) -> Vec<(RecordId, usize)> {
        let pieces = parts.iter().flat_map(|part| &part.pieces);
        pieces
            .filter_map(|piece| match piece.id {
                PieceId::Record(Some(id)) => Some((id, self.score(piece))),
                _ => None,
            })
            .collect()
    }
}

/// The distinct words of a text.
fn words_of(text: &str) -> BTreeSet<String> {
    words(text).map(|word| folded_word(&text[word])).collect()
}

/// Formats date and time in a zone, to the minute: within one minute the bytes are the same.
fn clock_line(time: DateTime<Utc>, zone: Tz) -> String {
    let local = time.with_timezone(&zone);
    let shown = local.format("Current date and time: %A, %Y-%m-%d %H:%M");
    if zone == Tz::UTC {
        return format!("{shown} (UTC)");
    }
    let minutes = local.offset().fix().local_minus_utc() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    format!("{shown} ({}, UTC{sign}{hours:02}:{minutes:02})", zone.name())
}
