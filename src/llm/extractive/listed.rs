//! Lists of words that are asked about for every word of a session.

use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A set of words, written as one text with blanks between them.
pub(super) struct Listed(
    LazyLock<HashSet<&'static str, RandomState>, fn() -> HashSet<&'static str, RandomState>>,
);

impl Listed {
    pub(super) const fn new(of: fn() -> HashSet<&'static str, RandomState>) -> Self {
        Self(LazyLock::new(of))
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// The words of a text.
pub(super) fn split(words: &'static str) -> HashSet<&'static str, RandomState> {
    words.split_whitespace().collect()
}
