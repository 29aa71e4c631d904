//! What a prompt loses where it is to have fewer tokens.

use super::category::{DATETIME, FREE, GENERATED, STABLE, WORKFLOW};
use super::joined::{Count, tokens};
use super::part::{Part, PartSource, Piece, PieceId};
use super::relevance::Relevance;

/// Sections whose records go first, one by one, and where the oldest stands in them: tasks and decisions are
/// written at the top.
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

/// What goes as a whole behind those, before the categories that only their components know.
const BEFORE_CATEGORIES: [&str; 1] = [FREE];

/// And behind those categories.
const BEHIND_CATEGORIES: [&str; 6] = [
    "active_context",
    "current_progress",
    WORKFLOW,
    DATETIME,
    STABLE[2],
    STABLE[1],
];

/// One step: a record, or what is left of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drop {
    /// The part, by its place.
    pub part: usize,
    /// The piece, by its place in the part; `None` for all that is left of the part.
    pub piece: Option<usize>,
}

/// The rules alone are over the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rules alone have {needed} tokens, and they are never dropped")]
pub struct OverBudget {
    /// How many tokens the rules have.
    pub needed: usize,
}

/// What a budget took out of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The part's name.
    pub name: String,
    /// What the part is made of.
    pub source: PartSource,
    /// Whether nothing of it is left.
    pub whole: bool,
    /// What went.
    pub pieces: Vec<PieceId>,
}

/// What is dropped, in this order, until the prompt fits:
///
/// 1. `recent_tasks`, `decisions`, `verbatim_context`, `key_learnings`, in this order: record by record from the
///    oldest on, and with the last record what is left of the section;
/// 2. `free` as a whole;
/// 3. other categories as a whole, the last by name first;
/// 4. as a whole `active_context`, `current_progress`, `workflow`, `datetime`, `tool_guidance`, `user_information`.
///
/// `rules` are never dropped. With a query the records of 1. that do not matter to it ([`Relevance`]) go first, in that
/// order, then the others, of each section those that matter least first.
#[must_use]
pub fn drops(parts: &[Part], query: Option<&Relevance>) -> Vec<Drop> {
    let place = |name: &str| parts.iter().position(|part| part.name == name);
    let whole = |part| Drop { part, piece: None };
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
        // Stable: of those that matter alike the oldest stays first.
        records.sort_by_key(|(score, _)| *score);
        let unwanted = records.partition_point(|(score, _)| *score == 0);
        let goes_at_once = unwanted == records.len();
        // What is left goes with the last record.
        records.pop();
        for (index, (_, piece)) in records.into_iter().enumerate() {
            let steps = if index < unwanted {
                &mut steps
            } else {
                &mut wanted_steps
            };
            steps.push(Drop {
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
    steps.extend(BEHIND_CATEGORIES.into_iter().filter_map(place).map(whole));
    steps
}

/// Drops as few steps of [`drops`] as make the parts fit, and says what went.
///
/// # Errors
/// [`OverBudget`] if nothing but the rules is left and they do not fit.
pub(super) fn fit(
    parts: Vec<Part>,
    query: Option<&Relevance>,
    max_tokens: usize,
    count: Count<'_>,
) -> Result<(Vec<Part>, Vec<Dropped>), OverBudget> {
    let steps = drops(&parts, query);
    let tokens_without = |steps: &[Drop]| {
        let kept = Kept::without(&parts, steps);
        tokens(&kept.pieces(&parts), count)
    };
    if tokens_without(&[]) <= max_tokens {
        return Ok((parts, Vec::new()));
    }
    let needed = tokens_without(&steps);
    if needed > max_tokens {
        return Err(OverBudget { needed });
    }
    // Each step takes tokens away, so those that are too few stand before those that are enough.
    let (mut too_few, mut enough) = (0, steps.len());
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if tokens_without(&steps[..middle]) <= max_tokens {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(Kept::without(&parts, &steps[..enough]).divide(parts))
}

/// Which pieces are left: by part, then by piece.
struct Kept(Vec<Vec<bool>>);

impl Kept {
    fn without(parts: &[Part], steps: &[Drop]) -> Self {
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

    /// What is left, and what is not.
    fn divide(self, parts: Vec<Part>) -> (Vec<Part>, Vec<Dropped>) {
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        for (part, kept) in parts.into_iter().zip(self.0) {
            let Part { name, source, pieces } = part;
            let (pieces, dropped): (Vec<_>, Vec<_>) =
                pieces.into_iter().zip(kept).partition(|(_, kept)| *kept);
            if !dropped.is_empty() {
                gone.push(Dropped {
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
        (left, gone)
    }
}
