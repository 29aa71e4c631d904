//! Builds the PostgreSQL `tsvector` of a document.

use crate::domain::ids::VaultId;
use crate::domain::text::words::{MAX_WORD_BYTES, folded_word, words};
use foldhash::fast::RandomState;
use std::borrow::Cow;
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
    // Of most words the lexeme is a slice of this.
    let lower = text.to_ascii_lowercase();
    let mut lexemes: HashMap<Cow<'_, str>, Positions, RandomState> =
        HashMap::with_capacity_and_hasher(text.len() / BYTES_PER_LEXEME, RandomState::default());
    let mut all: Vec<Position> = Vec::with_capacity(text.len() / BYTES_PER_WORD);
    let mut bytes = 0;
    for (index, place) in words(text).enumerate() {
        let word = &lower[place.clone()];
        let lexeme = match word.is_ascii() {
            true => Cow::Borrowed(&word[..word.len().min(MAX_WORD_BYTES)]),
            false => Cow::Owned(folded_word(&text[place])),
        };
        let positions = lexemes.entry(lexeme).or_default();
        if positions.count < MAX_POSITIONS && bytes < MAX_BYTES {
            // A lexeme has at most 128 bytes and some overhead.
            bytes += if positions.count == 0 { 136 } else { 2 };
            positions.add((index + 1).min(LAST_POSITION), &mut all);
        }
    }
    let mut vector = vault_lexeme(vault);
    vector.reserve(text.len() + lexemes.len() * 4);
    let mut digits = itoa::Buffer::new();
    for (lexeme, positions) in lexemes.iter().filter(|(_, positions)| positions.count > 0) {
        // A lexeme contains only letters and digits, so nothing needs escaping.
        vector.push_str(" '");
        vector.push_str(lexeme);
        vector.push_str("':");
        let mut at = positions.first;
        for number in 0..positions.count {
            if number > 0 {
                vector.push(',');
            }
            vector.push_str(digits.format(all[at].position));
            at = all[at].next;
        }
    }
    vector
}

/// The approximate number of bytes of a text per word, and per distinct word: for the initial sizes of tables.
const BYTES_PER_WORD: usize = 6;
const BYTES_PER_LEXEME: usize = 14;

/// The positions of one lexeme: a chain in a list of all.
#[derive(Debug, Default)]
struct Positions {
    count: usize,
    first: usize,
    last: usize,
}

/// A position, and the index in the list of the next one of its lexeme, if there is one.
#[derive(Debug)]
struct Position {
    position: usize,
    next: usize,
}

impl Positions {
    fn add(&mut self, position: usize, all: &mut Vec<Position>) {
        let place = all.len();
        all.push(Position { position, next: 0 });
        if self.count == 0 {
            self.first = place;
        } else {
            all[self.last].next = place;
        }
        self.last = place;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn every_word_is_in_it_as_it_is_compared(text in "([a-cA-C0-9]{1,3}[ ./]|\\PC|[éÉ記\u{301}]){0,80}") {
            let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (place, position) in words(&text).zip(1..) {
                defined.entry(folded_word(&text[place])).or_default().push(position.to_string());
            }
            let defined = defined.iter().map(|(lexeme, positions)| format!("'{lexeme}':{}", positions.join(",")));
            let vector = vector(&"acme".parse().unwrap(), &text);
            let mut parts: Vec<_> = vector.split(' ').skip(1).map(str::to_owned).collect();
            parts.sort_unstable();
            let mut defined: Vec<_> = defined.collect();
            defined.sort_unstable();
            prop_assert_eq!(parts, defined);
        }
    }

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
