//! Which records matter to what a prompt is for.

use super::part::{Part, Piece, PieceId};
use crate::domain::ids::RecordId;
use crate::domain::search::words::{folded, words};
use std::collections::{BTreeMap, BTreeSet};

/// What a word counts; a similarity is in the same unit, so that it decides between as many words.
const OF_A_WORD: usize = 1_000;

/// What a prompt is for, as records are compared with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relevance {
    words: BTreeSet<String>,
    near: BTreeMap<RecordId, u16>,
}

impl Relevance {
    /// By the words of a query, and by the similarity, in thousandths, of the records nearest to it in meaning.
    #[must_use]
    pub fn of(query: &str, near: &BTreeMap<RecordId, u16>) -> Self {
        Self {
            words: words_of(query),
            near: near.clone(),
        }
    }

    /// How much a piece matters: its words of the query, each once, and its similarity; 0 is not at all.
    pub(super) fn score(&self, piece: &Piece) -> usize {
        let near = match piece.id {
            PieceId::Record(Some(id)) => self.near.get(&id).copied().unwrap_or(0),
            _ => 0,
        };
        let same = match self.words.is_empty() {
            true => 0,
            false => words_of(&piece.text).intersection(&self.words).count(),
        };
        same * OF_A_WORD + usize::from(near)
    }

    /// What the records of parts score, in thousandths, in their order.
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

/// The words of a text, each once.
fn words_of(text: &str) -> BTreeSet<String> {
    words(text).map(|word| folded(&text[word])).collect()
}
