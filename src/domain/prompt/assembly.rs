//! Assembles a prompt: its parts in order, its text, and its token counts.

use super::budget::{Dropped, OverBudget, fit};
use super::category::{DATETIME, STABLE, WORKFLOW};
use super::datetime;
use super::document_parts::{document_parts, name_of};
use super::item::PromptItem;
use super::joined::{Count, joined, written};
use super::part::{Part, PartSource, Piece, PieceId};
use super::relevance::Relevance;
use super::selection::Selection;
use crate::domain::document::{ManagedSection, closing_fence};
use crate::domain::ids::RecordId;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

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
    let mut take = |name: &str| {
        let pieces = categories.remove(name)?;
        Some(of_items(name, pieces))
    };
    let stable: Vec<_> = STABLE.into_iter().filter_map(&mut take).collect();
    let workflow = take(WORKFLOW);
    let item_datetime = take(DATETIME);
    let mut sections = document_parts(material.document.unwrap_or_default(), material.time);
    sections.sort_by_key(|part| place_among_sections(&part.name));
    let progress = sections.pop_if(|last| last.name == name_of(ManagedSection::CurrentProgress));
    let others = categories
        .into_iter()
        .map(|(name, pieces)| of_items(name, pieces));
    let is_empty = material.items.is_empty() && material.document.is_none();
    let mut datetime = match item_datetime {
        Some(time) => Some(time),
        // Without any content the prompt is empty, unless the time was requested explicitly.
        None if is_empty && material.selection.include.is_none() => None,
        None => Some(of_clock(material)),
    };
    if let (Some(part), Some(note)) = (&mut datetime, material.note) {
        part.pieces.extend(Piece::of(PieceId::Text, note, None));
    }
    stable
        .into_iter()
        .chain(others)
        .chain(sections)
        .chain(workflow)
        .chain(progress)
        .chain(datetime)
        .collect()
}

fn of_clock(material: &Material<'_>) -> Part {
    let line = datetime::line(material.time, material.zone);
    Part {
        name: DATETIME.to_owned(),
        source: PartSource::Clock,
        pieces: Piece::of(PieceId::Text, &line, None).into_iter().collect(),
    }
}

fn of_items(name: &str, pieces: Vec<Piece>) -> Part {
    Part {
        name: name.to_owned(),
        source: PartSource::Items,
        pieces,
    }
}

/// The position of a document part: free text first, then the managed sections in prompt order, which differs
/// from document order.
fn place_among_sections(name: &str) -> usize {
    const ORDER: [ManagedSection; 6] = [
        ManagedSection::KeyLearnings,
        ManagedSection::VerbatimContext,
        ManagedSection::Decisions,
        ManagedSection::ActiveContext,
        ManagedSection::RecentTasks,
        ManagedSection::CurrentProgress,
    ];
    let place = ORDER.into_iter().position(|section| name_of(section) == name);
    place.map_or(0, |place| place + 1)
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
        let stable = self
            .parts
            .iter()
            .take_while(|part| STABLE.contains(&part.name.as_str()))
            .count();
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
