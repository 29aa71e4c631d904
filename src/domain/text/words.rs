//! Splits text into words.
//!
//! A word is a run of letters and digits, in lower case; every other character is a separator, so
//! `src/main.rs` has three words. Combining marks belong to the word that they are in or after. Scripts
//! without blanks between words (Chinese, Japanese) are split into single characters.
//!
//! Words are compared in NFKC and without accents, so that spelling variants match: `Ärger` as one character,
//! as a letter and a mark, and as `arger`; full-width and half-width forms, and ligatures. Marks of other scripts are kept, because there they change the
//! letter. `ß` is `ss`, and `ς` is `σ`.

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Number of leading bytes of a word that count; longer words (keys, blobs) are cut.
pub const MAX_WORD_BYTES: usize = 128;

/// The byte ranges of the words of a text, in order. Linear.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(begins_word)?;
        let mut rest = text[start..].chars();
        let is_single = rest.next().is_some_and(is_single_char_word);
        let ends = |c: char| match c.is_ascii() {
            true => is_single || !c.is_ascii_alphanumeric(),
            false => {
                let goes_on = !is_single && c.is_alphanumeric() && !is_single_char_word(c);
                !(goes_on || is_combining_mark(c) || is_half_width_mark(c))
            }
        };
        let rest = rest.as_str();
        at = text.len() - rest.len() + rest.find(ends).unwrap_or(rest.len());
        Some(start..at)
    })
}

/// A mark may be a letter too, but a word of marks alone, or of what is folded to nothing, would be empty.
fn begins_word(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric(),
        false => c.is_alphanumeric() && !is_combining_mark(c) && has_fold(c),
    }
}

/// Normalises a word for comparison.
#[must_use]
pub fn folded_word(word: &str) -> String {
    if word.is_ascii() {
        return word[..word.len().min(MAX_WORD_BYTES)].to_ascii_lowercase();
    }
    let mut parts = String::with_capacity(word.len());
    for c in word.chars() {
        fold_char(c, |c| parts.push(c));
    }
    let mut folded: String = parts.nfc().collect();
    folded.truncate(folded.floor_char_boundary(MAX_WORD_BYTES));
    folded
}

/// Whether a folded word equals another one, or begins with it.
pub(in crate::domain) fn matches(word: &str, wanted: &str, prefix: bool) -> bool {
    match prefix {
        true => word.starts_with(wanted),
        false => word == wanted,
    }
}

/// Calls `push` with the characters that one is folded to, as [`folded_word`] folds the words that it is in.
pub(super) fn fold_char(c: char, mut push: impl FnMut(char)) {
    if c.is_ascii() {
        return push(c.to_ascii_lowercase());
    }
    decompose_compatible(c, |part| {
        let lower = part.to_lowercase();
        for lower in lower.filter(|c| (c.is_alphanumeric() || is_combining_mark(*c)) && !is_accent(*c)) {
            match lower {
                'ß' => ['s', 's'].into_iter().for_each(&mut push),
                'ς' => push('σ'),
                lower => push(lower),
            }
        }
    });
}

/// Whether a character is folded to anything: an accent that stands alone, such as `ͺ`, is not.
fn has_fold(c: char) -> bool {
    let mut has_fold = false;
    fold_char(c, |_| has_fold = true);
    has_fold
}

/// The combining marks of Latin, Greek and Cyrillic letters.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether it is a Kana or Han character: in these scripts no blanks stand between words.
#[must_use]
pub fn is_single_char_word(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}')
}

/// The voicing marks of half-width Kana: letters to Unicode, but folded to the combining marks.
fn is_half_width_mark(c: char) -> bool {
    matches!(c, '\u{ff9e}' | '\u{ff9f}')
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
        for (text, words) in [
            ("Fix `src/main.rs`: KL-3!", "fix src main rs kl 3"),
            ("snake_case Vec<String> don't", "snake case vec string don t"),
            ("ÄRGER Straße Cafe\u{301}s ΣΑΣ", "arger strasse cafes σασ"),
            ("記憶 memory カナx", "記 憶 memory カ ナ x"),
            ("\u{363}a b\u{363}", "a b"),
        ] {
            assert_eq!(all(text).join(" "), words);
        }
        assert_eq!(all(" \n--- \u{301} \u{363} \u{345}"), [""; 0]);
    }

    #[test]
    fn one_word_is_found_however_it_is_spelt() {
        let pairs = "Ärger A\u{308}rger|Ärger arger|naïve NAIVE|ệ e\u{323}\u{302}|Ελλάδα ελλαδα|\
                     한글 \u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}|が か\u{3099}|カナ ｶﾅ|ガ ｶﾞ|\
                     İstanbul istanbul|Straße STRASSE|σοφός ΣΟΦΟΣ|ﬁnder finder|ＡＢＣ１ abc1";
        for pair in pairs.split('|') {
            let (one, other) = pair.split_once(' ').unwrap();
            assert_eq!(all(one), all(other), "{one}");
            assert!(matches(&folded_word(one), &folded_word(other), false), "{one}");
        }
        assert_ne!(all("が"), all("か"));
        assert_eq!(all("か\u{3099}な").len(), 2);
        // An accent that stands alone is no word, and one in a word is none of its letters.
        assert!(all("\u{37a} [\u{37a}]").is_empty());
        assert_eq!(all("a\u{37a} b"), all("a b"));
    }

    #[test]
    fn a_long_word_counts_by_its_beginning() {
        let (long, longer) = ("x".repeat(128), "x".repeat(500));
        assert_eq!(folded_word(&longer), long);
        assert!(!matches(&folded_word(&longer), &long[1..], false));
    }

    proptest! {
        #[test]
        fn a_word_is_folded_to_something(text in "(\\PC|[\u{345}\u{363}\u{903}\u{e31}]){0,80}") {
            for place in words(&text) {
                prop_assert!(!folded_word(&text[place]).is_empty());
            }
        }
    }
}
