//! Decides what a prompt loses to fit into a token budget.

use super::assembly::Relevance;
use super::part::{Count, DATETIME, FREE, PARTS, Part, PartSource, Piece, PieceId, WORKFLOW, tokens};

/// Sections that are reduced record by record first.
const BY_RECORD: [&str; 4] = ["recent_tasks", "decisions", "verbatim_context", "key_learnings"];

/// Dropped as a whole after the custom categories.
const AFTER_CATEGORIES: [&str; 6] = [
    "active_context",
    "current_progress",
    WORKFLOW,
    DATETIME,
    "tool_guidance",
    "user_information",
];

/// One step: dropping a record, or the rest of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropStep {
    /// Index of the part.
    pub part: usize,
    /// Index of the piece in the part; `None` for the rest of the part.
    pub piece: Option<usize>,
}

/// The rules alone exceed the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rules alone have {needed} tokens, and they are never dropped")]
pub struct OverBudget {
    /// The number of tokens of the rules.
    pub needed: usize,
}

/// What the budget removed from one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The part's name.
    pub name: String,
    /// The source of the part.
    pub source: PartSource,
    /// Whether the whole part was removed.
    pub whole: bool,
    /// The removed pieces.
    pub pieces: Vec<PieceId>,
}

/// The order in which content is dropped until the prompt fits:
///
/// 1. `recent_tasks`, `decisions`, `verbatim_context`, `key_learnings`, in this order: record by record,
///    oldest first; the rest of the section is dropped with its last record;
/// 2. `free` as a whole;
/// 3. other categories as a whole, in reverse order of their names;
/// 4. `active_context`, `current_progress`, `workflow`, `datetime`, `tool_guidance`, `user_information`, each
///    as a whole.
///
/// `rules` are never dropped. With a query, the records of step 1 that are not relevant ([`Relevance`]) are
/// dropped first, in that order, then the others, within each section the least relevant first. Before all of them go the records
/// that are too large by themselves (`fits`): others would be dropped for nothing.
#[must_use]
pub fn drops(parts: &[Part], query: Option<&Relevance>, fits: impl Fn(&Piece) -> bool) -> Vec<DropStep> {
    let place = |name: &str| parts.iter().position(|part| part.name == name);
    let whole = |part| DropStep { part, piece: None };
    // First those that do not fit even alone, then those that the query does not ask for.
    let mut of_records: Vec<((bool, bool), DropStep)> = Vec::new();
    let rank = |fits: bool, score: usize| (fits, fits && score > 0);
    for name in BY_RECORD {
        let Some(part) = place(name) else { continue };
        let pieces = parts[part].pieces.iter().enumerate();
        let mut records: Vec<(_, usize)> = pieces
            .filter_map(|(place, piece)| match piece.id {
                PieceId::Record(id) => {
                    let score = query.map_or(0, |query| query.score(piece));
                    Some(((fits(piece), score, id.is_none(), id), place))
                }
                _ => None,
            })
            .collect();
        // Among equally relevant records the oldest first: ids are given in the order of time, wherever the record stands. A
        // bullet that has none yet is the newest.
        records.sort();
        // The rest is dropped with the last record.
        let last = records.pop();
        of_records.extend(records.into_iter().map(|((fits, score, ..), piece)| {
            let piece = Some(piece);
            (rank(fits, score), DropStep { part, piece })
        }));
        let last = last.map_or(rank(true, 0), |((fits, score, ..), _)| rank(fits, score));
        of_records.push((last, whole(part)));
    }
    of_records.sort_by_key(|(rank, _)| *rank);
    let mut steps: Vec<DropStep> = of_records.into_iter().map(|(_, step)| step).collect();
    steps.extend(place(FREE).map(whole));
    let others = parts.iter().enumerate().rev();
    let others = others.filter(|(_, part)| !PARTS.contains(&part.name.as_str()));
    steps.extend(others.map(|(part, _)| whole(part)));
    steps.extend(AFTER_CATEGORIES.into_iter().filter_map(place).map(whole));
    steps
}

/// Applies as few steps of [`drops`] as needed to make the parts fit. Returns the remaining parts and what
/// was dropped.
///
/// # Errors
///
/// [`OverBudget`] if only the rules are left and they do not fit.
pub(super) fn fit(
    mut parts: Vec<Part>,
    query: Option<&Relevance>,
    max_tokens: usize,
    count: Count<'_>,
) -> Result<(Vec<Part>, Vec<Dropped>), OverBudget> {
    let tokens_without = |steps: &[DropStep]| {
        let kept = remaining(&parts, steps);
        let all = parts.iter().zip(&kept).enumerate();
        let pieces = all.flat_map(|(place, (part, kept))| {
            let pieces = part.pieces.iter().zip(kept).filter(|(_, kept)| **kept);
            pieces.map(move |(piece, _)| (place, piece))
        });
        tokens(&pieces.collect::<Vec<_>>(), count)
    };
    if tokens_without(&[]) <= max_tokens {
        return Ok((parts, Vec::new()));
    }
    let needed = tokens_without(&drops(&parts, query, |_| true));
    let Some(room) = max_tokens.checked_sub(needed) else {
        return Err(OverBudget { needed });
    };
    let steps = drops(&parts, query, |piece| count(&piece.text) <= room);
    // The token count falls with every step.
    let numbers: Vec<usize> = (0..=steps.len()).collect();
    let enough = numbers.partition_point(|number| tokens_without(&steps[..*number]) > max_tokens);
    let kept = remaining(&parts, &steps[..enough]);
    let mut dropped = Vec::new();
    for (part, kept) in parts.iter_mut().zip(kept) {
        let mut kept = kept.into_iter();
        let is_dropped = |_: &mut Piece| kept.next() == Some(false);
        let pieces: Vec<PieceId> = part
            .pieces
            .extract_if(.., is_dropped)
            .map(|piece| piece.id)
            .collect();
        if !pieces.is_empty() {
            dropped.push(Dropped {
                name: part.name.clone(),
                source: part.source,
                whole: part.pieces.is_empty(),
                pieces,
            });
        }
    }
    parts.retain(|part| !part.pieces.is_empty());
    Ok((parts, dropped))
}

/// Which pieces remain after some steps: by part, then by piece.
fn remaining(parts: &[Part], steps: &[DropStep]) -> Vec<Vec<bool>> {
    let mut kept: Vec<Vec<bool>> = parts.iter().map(|part| vec![true; part.pieces.len()]).collect();
    for step in steps {
        match step.piece {
            Some(piece) => kept[step.part][piece] = false,
            None => kept[step.part].fill(false),
        }
    }
    kept
}
