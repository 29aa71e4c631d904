//! A content word and its comparison key.

use super::function_words::is_function_word;
use super::scripts::Scripts;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Number of leading characters in which two words must be equal.
const KEY_CHARS: usize = 6;

/// Minimum number of characters of a word without a digit.
const LEAST_CHARS: usize = 3;

/// The comparison key of a word: up to six folded characters, 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(pub(super) u128);

/// A word of a text. Function words are included: see [`Word::is_content`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) key: Key,
    /// Its byte range in the text; for a pair the two characters, for a normalised run the whole run.
    pub(super) range: Range<usize>,
    /// The scripts of its letters; none for a number.
    pub(super) scripts: Scripts,
}

impl Word {
    /// Whether it is not a function word.
    pub(super) fn is_content(&self, text: &str) -> bool {
        !is_function_word(&folded(&text[self.range.clone()]))
    }
}

/// Normalises a text for word comparison: NFKC, case folded.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(fold_char).collect()
}

/// Completes case folding where lower case is not sufficient.
pub(super) fn fold_char(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        'ß' | 'ẞ' => ('s', Some('s')),
        'ς' => ('σ', None),
        _ => ('\0', None),
    };
    let lower = (first == '\0').then(|| c.to_lowercase());
    let special = [Some(first).filter(|c| *c != '\0'), second];
    lower.into_iter().flatten().chain(special.into_iter().flatten())
}

/// A word being read.
pub(super) struct WordBuilder {
    start: usize,
    key: u128,
    chars: usize,
    pub(super) has_digit: bool,
    pub(super) scripts: Scripts,
}

impl WordBuilder {
    pub(super) fn at(start: usize) -> Self {
        Self {
            start,
            key: 0,
            chars: 0,
            has_digit: false,
            scripts: Scripts::NONE,
        }
    }

    /// Appends a folded character.
    pub(super) fn push(&mut self, c: char) {
        if self.chars < KEY_CHARS {
            self.key = (self.key << 21) | u128::from(u32::from(c));
        }
        self.chars += 1;
    }

    pub(super) fn close(self, end: usize) -> Option<Word> {
        (self.chars >= LEAST_CHARS || self.has_digit).then_some(Word {
            key: Key(self.key),
            range: self.start..end,
            scripts: self.scripts,
        })
    }
}
