//! Whether two texts share words.

use super::word::{Key, Word};
use super::words::content_words;
use foldhash::fast::RandomState;
use std::collections::HashSet;

/// Number of these words that a text contains.
pub(super) fn shared(words: &[Word], others: &HashSet<Key, RandomState>) -> usize {
    words.iter().filter(|word| others.contains(&word.key)).count()
}

/// The keys of a text's content words.
pub(super) fn keys(text: &str) -> impl Iterator<Item = Key> {
    content_words(text).into_iter().map(|word| word.key)
}

/// Whether a text shares a content word with one of the others. A text without content words, or in scripts
/// that none of the others uses, cannot be compared and is accepted.
#[must_use]
pub fn shares_a_word<'t>(text: &str, others: impl IntoIterator<Item = &'t str>) -> bool {
    let words = content_words(text);
    let mut known: HashSet<Key, RandomState> = HashSet::default();
    let mut scripts = super::scripts::Scripts::NONE;
    for word in others.into_iter().flat_map(content_words) {
        known.insert(word.key);
        scripts = scripts.with(word.scripts);
    }
    let can_be_compared = words.iter().any(|word| word.scripts.share(scripts));
    !can_be_compared || shared(&words, &known) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shares_a_word_or_cannot_be_compared() {
        assert!(shares_a_word(
            "Retries were added",
            ["a retry", "Added: retries with back-off"]
        ));
        assert!(!shares_a_word("The whale sings", ["retries with back-off"]));
        assert!(shares_a_word("パーサーを書いた", ["wrote the parser"]));
        assert!(shares_a_word("so it is", ["wrote the parser"]));
    }
}
