//! Pieces of parts behind each other: their text, and what it counts.

use super::part::{EMPTY_LINE, Piece};

/// How many tokens a text has.
pub type Count<'c> = &'c dyn Fn(&str) -> usize;

/// The tokens of pieces as they stand behind each other, with the places of their parts. A tokenizer begins anew
/// where a line begins that is not blank, so each piece is counted by itself, and the counts can be kept.
pub(super) fn tokens(pieces: &[(usize, &Piece)], count: Count<'_>) -> usize {
    joined(pieces)
        .map(|(_, text, gap)| count(&[text, gap].concat()))
        .sum()
}

pub(super) fn written(pieces: &[(usize, &Piece)]) -> String {
    let mut written = String::new();
    for (_, text, gap) in joined(pieces) {
        written.push_str(text);
        written.push_str(gap);
    }
    written
}

/// Each piece with the place of its part and what stands behind it: its own gap within a part, an empty line
/// between parts, nothing at the end.
pub(super) fn joined<'p>(pieces: &[(usize, &'p Piece)]) -> impl Iterator<Item = (usize, &'p str, &'p str)> {
    let next = pieces.iter().skip(1).map(|(part, _)| Some(*part)).chain([None]);
    pieces.iter().zip(next).map(|((part, piece), next)| {
        let gap = match next {
            Some(next) if next == *part => piece.gap.as_str(),
            Some(_) => EMPTY_LINE,
            None => "",
        };
        (*part, piece.text.as_str(), gap)
    })
}
