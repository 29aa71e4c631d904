//! Decides what a prompt loses to fit into a token budget.

use super::assembly::Relevance;
use super::part::{
    Count, DATETIME, FREE, GENERATED, Part, PartSource, Piece, PieceId, STABLE, WORKFLOW, tokens,
};

/// Sections that are reduced record by record first, and the position of their oldest record: tasks and
/// decisions are inserted at the top.
const BY_RECORD: [(&str, Oldest); 4] = [
    ("recent_tasks", Oldest::Last),
    ("decisions", Oldest::Last),
    ("verbatim_context", Oldest::First),
    ("key_learnings", Oldest::First),
];

#[derive(Debug, Clone, Copy)]
enum Oldest {
    First,
    Last,
}

/// Dropped as a whole after that, before the custom categories.
const BEFORE_CATEGORIES: [&str; 1] = [FREE];

/// Dropped as a whole after the custom categories.
const AFTER_CATEGORIES: [&str; 6] = [
    "active_context",
    "current_progress",
    WORKFLOW,
    DATETIME,
    STABLE[2],
    STABLE[1],
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
/// dropped first, in that order, then the others, within each section the least relevant first.
#[must_use]
pub fn drops(parts: &[Part], query: Option<&Relevance>) -> Vec<DropStep> {
    let place = |name: &str| parts.iter().position(|part| part.name == name);
    let whole = |part| DropStep { part, piece: None };
    let mut steps = Vec::new();
    let mut wanted_steps = Vec::new();
    for (name, oldest) in BY_RECORD {
        let Some(part) = place(name) else { continue };
        let pieces = parts[part].pieces.iter().enumerate();
        let mut records: Vec<(usize, usize)> = pieces
            .filter(|(_, piece)| matches!(piece.id, PieceId::Record(_)))
            .map(|(place, piece)| (query.map_or(0, |query| query.score(piece)), place))
            .collect();
        if let Oldest::Last = oldest {
            records.reverse();
        }
        // The sort is stable: among equally relevant records the oldest stays first.
        records.sort_by_key(|(score, _)| *score);
        let unwanted = records.partition_point(|(score, _)| *score == 0);
        let goes_at_once = unwanted == records.len();
        // The rest is dropped with the last record.
        records.pop();
        for (index, (_, piece)) in records.into_iter().enumerate() {
            let steps = if index < unwanted {
                &mut steps
            } else {
                &mut wanted_steps
            };
            steps.push(DropStep {
                part,
                piece: Some(piece),
            });
        }
        let steps = if goes_at_once {
            &mut steps
        } else {
            &mut wanted_steps
        };
        steps.push(whole(part));
    }
    steps.extend(wanted_steps);
    steps.extend(BEFORE_CATEGORIES.into_iter().filter_map(place).map(whole));
    let others = parts.iter().enumerate().rev().filter(|(_, part)| {
        let name = part.name.as_str();
        part.source == PartSource::Items
            && !STABLE.contains(&name)
            && name != WORKFLOW
            && !GENERATED.contains(&name)
    });
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
    parts: Vec<Part>,
    query: Option<&Relevance>,
    max_tokens: usize,
    count: Count<'_>,
) -> Result<(Vec<Part>, Vec<Dropped>), OverBudget> {
    let steps = drops(&parts, query);
    let tokens_without = |steps: &[DropStep]| {
        let kept = RemainingPieces::without(&parts, steps);
        tokens(&kept.pieces(&parts), count)
    };
    if tokens_without(&[]) <= max_tokens {
        return Ok((parts, Vec::new()));
    }
    let needed = tokens_without(&steps);
    if needed > max_tokens {
        return Err(OverBudget { needed });
    }
    // The token count falls with every step, so binary search finds the smallest sufficient number of steps.
    let (mut too_few, mut enough) = (0, steps.len());
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if tokens_without(&steps[..middle]) <= max_tokens {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(RemainingPieces::without(&parts, &steps[..enough]).divide(parts))
}

/// Which pieces remain: by part, then by piece.
struct RemainingPieces(Vec<Vec<bool>>);

impl RemainingPieces {
    fn without(parts: &[Part], steps: &[DropStep]) -> Self {
        let mut kept: Vec<Vec<bool>> = parts.iter().map(|part| vec![true; part.pieces.len()]).collect();
        for step in steps {
            match step.piece {
                Some(piece) => kept[step.part][piece] = false,
                None => kept[step.part].fill(false),
            }
        }
        Self(kept)
    }

    fn pieces<'p>(&self, parts: &'p [Part]) -> Vec<(usize, &'p Piece)> {
        let all = parts.iter().zip(&self.0).enumerate();
        all.flat_map(|(place, (part, kept))| {
            let pieces = part.pieces.iter().zip(kept);
            pieces
                .filter(|(_, kept)| **kept)
                .map(move |(piece, _)| (place, piece))
        })
        .collect()
    }

    /// Splits the parts into what remains and what was dropped.
    fn divide(self, parts: Vec<Part>) -> (Vec<Part>, Vec<Dropped>) {
        let (mut left, mut removed) = (Vec::new(), Vec::new());
        for (part, kept) in parts.into_iter().zip(self.0) {
            let Part { name, source, pieces } = part;
            let (pieces, dropped): (Vec<_>, Vec<_>) =
                pieces.into_iter().zip(kept).partition(|(_, kept)| *kept);
            if !dropped.is_empty() {
                removed.push(Dropped {
                    name: name.clone(),
                    source,
                    whole: pieces.is_empty(),
                    pieces: dropped.into_iter().map(|(piece, _)| piece.id).collect(),
                });
            }
            if !pieces.is_empty() {
                left.push(Part {
                    name,
                    source,
                    pieces: pieces.into_iter().map(|(piece, _)| piece).collect(),
                });
            }
        }
        (left, removed)
    }
}
