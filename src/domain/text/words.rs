//! Splits text into words.
//!
//! A word is a run of letters and digits, in lower case; every other character is a separator, so
//! `src/main.rs` has three words. Combining marks belong to the word that they are in or after. Scripts
//! without blanks between words (Chinese, Japanese) are split into single characters.
//!
//! Words are compared in NFC and without accents, so that spelling variants match: `Ärger` as one character,
//! as a letter and a mark, and as `arger`. Marks of other scripts are kept, because there they change the
//! letter.

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Number of leading bytes of a word that count; longer words (keys, blobs) are cut.
pub const MAX_WORD_BYTES: usize = 128;

/// The byte ranges of the words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let word = word_from(text, at)?;
        at = word.end;
        Some(word)
    })
}

/// Counts the words of a text, up to `most`. For ASCII it counts the beginnings of words in blocks.
pub(in crate::domain) fn count_words(text: &str, most: usize) -> usize {
    if !text.is_ascii() {
        return words(text).take(most).count();
    }
    let bytes = text.as_bytes();
    let is_word = |byte: &u8| ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10);
    let begins = |(before, byte): (&u8, &u8)| u8::from(is_word(byte) & !is_word(before));
    // Blocks small enough for a byte counter, so that the compiler can vectorise the loop.
    let parts = bytes
        .chunks(128)
        .zip(bytes.get(1..).unwrap_or_default().chunks(128));
    let begun: usize = parts
        .map(|(before, bytes)| usize::from(before.iter().zip(bytes).map(begins).sum::<u8>()))
        .sum();
    most.min(begun + usize::from(bytes.first().is_some_and(is_word)))
}

/// The role of a byte in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::domain) enum Byte {
    /// It separates words.
    Divides,
    /// A letter or digit.
    Word,
    /// It is part of a character that must be decoded.
    Other,
}

/// Indexed by byte: a table lookup is the cheapest test when splitting a whole document.
pub(in crate::domain) static BYTES: [Byte; 256] = {
    let mut bytes = [Byte::Other; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        bytes[byte as usize] = if byte.is_ascii_alphanumeric() {
            Byte::Word
        } else {
            Byte::Divides
        };
        byte += 1;
    }
    bytes
};

/// The first word that begins at or after `from`, which must be the start of a character. Most texts are
/// mostly ASCII, whose characters need no decoding.
#[inline]
pub(in crate::domain) fn word_from(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    let (start, alone) = loop {
        match BYTES[usize::from(*bytes.get(at)?)] {
            Byte::Divides => at += 1,
            Byte::Word => break (at, false),
            Byte::Other => {
                let c = text[at..].chars().next()?;
                // A mark may be a letter too, but a word of marks alone would be folded to nothing.
                if c.is_alphanumeric() && !is_combining_mark(c) {
                    break (at, is_single_char_word(c));
                }
                at += c.len_utf8();
            }
        }
    };
    if alone {
        at += text[at..].chars().next()?.len_utf8();
    }
    while let Some(byte) = bytes.get(at) {
        match BYTES[usize::from(*byte)] {
            Byte::Word if !alone => at += 1,
            Byte::Other => {
                let goes_on = |c: &char| {
                    is_combining_mark(*c) || (!alone && c.is_alphanumeric() && !is_single_char_word(*c))
                };
                let Some(c) = text[at..].chars().next().filter(goes_on) else {
                    break;
                };
                at += c.len_utf8();
            }
            Byte::Word | Byte::Divides => break,
        }
    }
    Some(start..at)
}

/// Normalises a word for comparison.
#[must_use]
pub fn folded_word(word: &str) -> String {
    let mut folded = String::with_capacity(word.len().min(MAX_WORD_BYTES));
    fold(word, &mut folded);
    folded
}

/// Like [`folded_word`], replacing the content of `folded`.
pub(in crate::domain) fn fold(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(&word[..word.len().min(MAX_WORD_BYTES)]);
        folded.make_ascii_lowercase();
        return;
    }
    for c in folded_chars(word) {
        if folded.len() + c.len_utf8() > MAX_WORD_BYTES {
            break;
        }
        folded.push(c);
    }
}

/// Whether a word of a text equals this folded word, or begins with it. Does not allocate.
pub(in crate::domain) fn matches(word: &str, folded: &str, prefix: bool) -> bool {
    if word.is_ascii() {
        let word = &word.as_bytes()[..word.len().min(MAX_WORD_BYTES)];
        let begins = word
            .get(..folded.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(folded.as_bytes()));
        return begins && (prefix || word.len() == folded.len());
    }
    let mut chars = folded_chars(word);
    let mut bytes = 0;
    for expected in folded.chars() {
        if chars.next() != Some(expected) {
            return false;
        }
        bytes += expected.len_utf8();
    }
    prefix
        || chars
            .next()
            .is_none_or(|next| bytes + next.len_utf8() > MAX_WORD_BYTES)
}

fn folded_chars(word: &str) -> impl Iterator<Item = char> + '_ {
    word.nfd()
        .filter(|c| !is_accent(*c))
        .nfc()
        .flat_map(char::to_lowercase)
        // The lower case of one letter may be a letter and an accent (İ).
        .filter(|c| !is_accent(*c))
}

/// The combining marks of Latin, Greek and Cyrillic letters.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether it is a Kana or Han character: in these scripts no blanks stand between words.
#[must_use]
pub fn is_single_char_word(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(|place| folded_word(&text[place])).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(
            all("Fix `src/main.rs`: KL-3!"),
            ["fix", "src", "main", "rs", "kl", "3"]
        );
        assert_eq!(
            all("snake_case Vec<String> don't"),
            ["snake", "case", "vec", "string", "don", "t"]
        );
        assert_eq!(
            all("ÄRGER Straße Cafe\u{301}s ΣΑΣ"),
            ["arger", "straße", "cafes", "σασ"]
        );
        assert_eq!(all("記憶 memory カナx"), ["記", "憶", "memory", "カ", "ナ", "x"]);
        assert_eq!(all(" \n--- \u{301} \u{363} \u{345}"), [""; 0]);
        assert_eq!(all("\u{363}a b\u{363}"), ["a", "b"]);
    }

    #[test]
    fn one_word_is_found_however_it_is_spelt() {
        for (one, other) in [
            ("Ärger", "A\u{308}rger"),
            ("Ärger", "arger"),
            ("naïve", "NAIVE"),
            ("ệ", "e\u{323}\u{302}"),
            ("Ελλάδα", "ελλαδα"),
            ("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
            ("が", "か\u{3099}"),
            ("İstanbul", "istanbul"),
        ] {
            assert_eq!(all(one), all(other), "{one}");
            assert!(matches(one, &folded_word(other), false), "{one}");
        }
        assert_ne!(all("が"), all("か"));
        assert_eq!(all("か\u{3099}な").len(), 2);
    }

    #[test]
    fn a_long_word_counts_by_its_beginning() {
        let (long, longer) = ("x".repeat(128), "x".repeat(500));
        assert_eq!(folded_word(&longer), long);
        assert!(matches(&longer, &long, false) && !matches(&longer, &long[1..], false));
    }

    /// Reference implementation, character by character.
    fn defined(text: &str) -> Vec<Range<usize>> {
        let mut chars = text.char_indices().peekable();
        let mut words = Vec::new();
        while let Some((start, first)) = chars.find(|(_, c)| c.is_alphanumeric() && !is_combining_mark(*c)) {
            let mut end = start + first.len_utf8();
            let alone = is_single_char_word(first);
            while let Some((at, c)) = chars.next_if(|(_, c)| {
                is_combining_mark(*c) || (!alone && c.is_alphanumeric() && !is_single_char_word(*c))
            }) {
                end = at + c.len_utf8();
            }
            words.push(start..end);
        }
        words
    }

    proptest! {
        #[test]
        fn words_are_found_as_they_are_defined(text in "([a-z0-9 -]|\\PC|[か-な\u{3099}\u{301}\u{363}記é]){0,60}") {
            prop_assert_eq!(words(&text).collect::<Vec<_>>(), defined(&text));
        }

        #[test]
        fn words_are_counted(text in "([a-zA-Z0-9@`{\\[/:^~ -]|é|記){0,300}", most in 0_usize..200) {
            prop_assert_eq!(count_words(&text, most), words(&text).take(most).count());
        }

        #[test]
        fn a_word_matches_what_it_is_folded_to(text in "(\\PC|[\u{345}\u{363}\u{903}\u{e31}]){0,80}") {
            for place in words(&text) {
                let word = &text[place];
                let folded = folded_word(word);
                prop_assert!(!folded.is_empty());
                prop_assert!(matches(word, &folded, false) && matches(word, &folded, true));
            }
        }
    }
}
