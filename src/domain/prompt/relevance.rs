//! The relevance of records to the query of a prompt.

use super::part::{Part, Piece, PieceId};
use crate::domain::ids::RecordId;
use crate::domain::text::words::{folded_word, words};
use std::collections::{BTreeMap, BTreeSet};

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
