//! Builds the PostgreSQL `tsvector` of a document.

use super::words::{MAX_WORD_BYTES, fold, words};
use crate::domain::ids::VaultId;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The last position that a `tsvector` can store: later words are found, but not as adjacent.
const LAST_POSITION: usize = 16_383;

/// Maximum number of positions that a `tsvector` stores per word.
const MAX_POSITIONS: usize = 255;

/// A `tsvector` must be smaller than 1 MiB; words beyond this limit are not found. A document of 100 KiB
/// needs about a third of it.
const MAX_BYTES: usize = 900_000;

/// A lexeme that every document of a vault contains and that cannot be a word, because it contains a
/// separator. With it a search reads only its own vault, however many others share the index.
pub(super) fn vault_lexeme(vault: &VaultId) -> String {
    format!("'/{vault}'")
}

/// The document's words as the text of a `tsvector`.
#[must_use]
pub fn vector(vault: &VaultId, text: &str) -> String {
    let mut lexemes: HashMap<String, Vec<usize>, RandomState> = HashMap::default();
    let mut bytes = 0;
    let mut lexeme = String::with_capacity(MAX_WORD_BYTES);
    for (index, place) in words(text).enumerate() {
        fold(&text[place], &mut lexeme);
        let positions = match lexemes.get_mut(lexeme.as_str()) {
            Some(positions) => positions,
            None => lexemes.entry(lexeme.clone()).or_default(),
        };
        if positions.len() < MAX_POSITIONS && bytes < MAX_BYTES {
            // A lexeme has at most 128 bytes and some overhead.
            bytes += if positions.is_empty() { 136 } else { 2 };
            positions.push((index + 1).min(LAST_POSITION));
        }
    }
    let mut vector = vault_lexeme(vault);
    vector.reserve(text.len() + lexemes.len() * 4);
    let mut digits = itoa::Buffer::new();
    for (lexeme, positions) in lexemes.iter().filter(|(_, positions)| !positions.is_empty()) {
        // A lexeme contains only letters and digits, so nothing needs escaping.
        vector.push_str(" '");
        vector.push_str(lexeme);
        vector.push('\'');
        for (index, position) in positions.iter().enumerate() {
            vector.push(if index == 0 { ':' } else { ',' });
            vector.push_str(digits.format(*position));
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_its_words_with_their_places_and_its_vault() {
        let vector = vector(&"acme".parse().unwrap(), "A cat, a dog");
        let mut parts: Vec<_> = vector.split(' ').collect();
        parts.sort_unstable();
        assert_eq!(parts, ["'/acme'", "'a':1,3", "'cat':2", "'dog':4"]);
    }

    #[test]
    fn a_huge_document_stays_below_the_limits() {
        let vault = "acme".parse().unwrap();
        let same = "word ".repeat(100_000);
        assert_eq!(vector(&vault, &same).split(',').count(), MAX_POSITIONS);
        let different: String =
            (0..100_000).fold(String::new(), |text, number| text + &format!("w{number} "));
        let lexemes = vector(&vault, &different);
        assert!(
            lexemes.len() < MAX_BYTES && lexemes.contains("'w5000':5001"),
            "{}",
            lexemes.len()
        );
    }
}
