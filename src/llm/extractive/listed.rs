//! Word lists that are looked up for every word of a session.

use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A set of words.
type Words = HashSet<&'static str, RandomState>;

/// A set of words, written as one text separated by blanks.
pub(super) struct Listed(LazyLock<Words, fn() -> Words>);

impl Listed {
    pub(super) const fn new(of: fn() -> Words) -> Self {
        Self(LazyLock::new(of))
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// The words of a text.
pub(super) fn split(words: &'static str) -> Words {
    words.split_whitespace().collect()
}
