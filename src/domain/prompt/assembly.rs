//! Assembling a prompt: its parts in their order, its text, and what it counts.

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

/// What a prompt is assembled of.
#[derive(Debug, Clone, Copy)]
pub struct Material<'m> {
    /// The items that are shown: the vault's before the memory's, each in the order they were added.
    pub items: &'m [PromptItem],
    /// The document, if the memory has one.
    pub document: Option<&'m str>,
    /// The time that the prompt tells.
    pub time: DateTime<Utc>,
    /// Where it is told.
    pub zone: Tz,
    /// Which parts are wanted.
    pub selection: &'m Selection,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// What a budget took out of it, in the order of the parts.
    pub dropped: Vec<Dropped>,
    /// How much records matter to the query, in thousandths; empty without one.
    pub scores: Vec<(RecordId, usize)>,
}

/// Assembles the parts of a prompt in their order (see the module), and drops what is over the budget. `max_tokens`
/// is the budget with what counts tokens; without it nothing is dropped, and nothing is counted. Linear, but for the
/// sorting of categories.
///
/// # Errors
/// [`OverBudget`] if the rules alone are over the budget.
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
    let told_datetime = take(DATETIME);
    let mut sections = document_parts(material.document.unwrap_or_default());
    sections.sort_by_key(|part| place_among_sections(&part.name));
    let progress = sections.pop_if(|last| last.name == name_of(ManagedSection::CurrentProgress));
    let others = categories
        .into_iter()
        .map(|(name, pieces)| of_items(name, pieces));
    let is_empty = material.items.is_empty() && material.document.is_none();
    let datetime = match told_datetime {
        Some(told) => Some(told),
        // Of nothing at all the prompt is empty, unless the time was asked for.
        None if is_empty && material.selection.include.is_none() => None,
        None => Some(of_clock(material)),
    };
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

/// Free text first, then the managed sections in the order of a prompt, which is not that of documents.
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
    /// Its text: no line end behind the last part.
    #[must_use]
    pub fn text(&self) -> String {
        written(&pieces(&self.parts))
    }

    /// The SHA-256, in hexadecimal, of what `rules`, `user_information` and `tool_guidance` are in this prompt: as
    /// long as it is the same, the prompt begins with the same bytes. Of nothing, if it has none of them.
    #[must_use]
    pub fn prefix_hash(&self) -> String {
        let stable = self
            .parts
            .iter()
            .take_while(|part| STABLE.contains(&part.name.as_str()))
            .count();
        hex::encode(Sha256::digest(written(&pieces(&self.parts[..stable]))))
    }

    /// The tokens of each part, with the empty line behind it; their sum is that of the text.
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
