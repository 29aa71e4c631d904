//! Joins the pieces of parts into text and counts their tokens.

use super::part::{EMPTY_LINE, Piece};

/// Counts the tokens of a text.
pub type Count<'c> = &'c dyn Fn(&str) -> usize;

/// Counts the tokens of consecutive pieces, given with the indices of their parts. A tokenizer starts a new
/// token at a non-blank line, so each piece can be counted separately and the counts can be cached.
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

/// Each piece with the index of its part and the separator after it: its own gap within a part, an empty line
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
