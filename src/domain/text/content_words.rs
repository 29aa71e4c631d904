//! Splits text into content words, by which texts are compared.
//!
//! A word has Unicode word boundaries, is NFKC normalised and case folded, and has at least three characters
//! or a digit. Function words and keywords of the DSL are excluded ([`super::function_words`]). In scripts
//! without blanks between words, and in Hangul, whose words include their particles, every pair of
//! neighbouring characters counts as a word instead.
//!
//! Two words match if their first six characters are equal; these are the word's [`Key`].

use super::function_words::is_function_word;
use super::plain_words;
use super::scripts::{self, Scripts};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Number of leading characters in which two words must be equal.
const KEY_CHARS: usize = 6;

/// Minimum number of characters of a word without a digit.
const LEAST_CHARS: usize = 3;

/// The comparison key of a word: up to six folded characters, 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::domain) struct Key(u128);

/// A word of a text. Function words are included: see [`Word::is_content`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::domain) struct Word {
    pub(in crate::domain) key: Key,
    /// Its byte range in the text; for a pair the two characters, for a normalised run the whole run.
    pub(in crate::domain) range: Range<usize>,
    /// The scripts of its letters; none for a number.
    pub(in crate::domain) scripts: Scripts,
}

impl Word {
    /// Whether it is not a function word.
    pub(in crate::domain) fn is_content(&self, text: &str) -> bool {
        !is_function_word(&comparable(&text[self.range.clone()]))
    }
}

/// Normalises a text for word comparison: NFKC, case folded.
pub(super) fn comparable(text: &str) -> String {
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
    pub(in crate::domain) scripts: Scripts,
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

/// Bits of a [`Sieve`].
const SIEVE_BITS: u32 = 14;

/// A fast filter that rejects most keys that are not in a small set.
#[derive(Debug)]
pub(in crate::domain) struct Sieve(Vec<u64>);

impl Sieve {
    pub(in crate::domain) fn of<'k>(keys: impl Iterator<Item = &'k Key>) -> Self {
        let mut words = vec![0; 1 << (SIEVE_BITS - 6)];
        for key in keys {
            let (word, bit) = Self::place(*key);
            words[word] |= 1 << bit;
        }
        Self(words)
    }

    /// Whether the key may be in the set.
    pub(in crate::domain) fn may_have(&self, key: Key) -> bool {
        let (word, bit) = Self::place(key);
        self.0[word] & (1 << bit) != 0
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the halves of a number, and as many bits as there are places"
    )]
    fn place(Key(key): Key) -> (usize, u32) {
        // Fibonacci hashing: the upper bits of a product with 2^64 divided by the golden ratio.
        let mixed =
            (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SIEVE_BITS);
        ((mixed >> 6) as usize, (mixed & 63) as u32)
    }
}

/// A token found by a scan.
pub(in crate::domain) enum Token {
    Word(Word),
    /// The byte offset of the end of a sentence.
    SentenceEnd(usize),
}

/// The content words of a short text in order, without duplicate keys.
pub(in crate::domain) fn content_words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut seen: HashSet<Key, RandomState> = HashSet::default();
    scan(text, |token| {
        if let Token::Word(word) = token
            && word.is_content(text)
            && seen.insert(word.key)
        {
            words.push(word);
        }
    });
    words
}

/// Calls `visit` for the words and sentence ends of a text, in order. Linear.
pub(in crate::domain) fn scan(text: &str, mut visit: impl FnMut(Token)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let blank = bytes[at];
        if blank.is_ascii_whitespace() {
            if blank == b'\n' {
                visit(Token::SentenceEnd(at + 1));
            }
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < bytes.len() && !bytes[end].is_ascii_whitespace() {
            end += 1;
        }
        let chunk = &text[at..end];
        if !plain_words::scan(chunk, at, &mut |word| visit(Token::Word(word))) {
            words(chunk, at, &mut visit);
        }
        if matches!(bytes[end - 1], b'.' | b'!' | b'?') {
            visit(Token::SentenceEnd(end));
        }
        at = end;
    }
}

/// Splits a chunk without ASCII blanks: runs of pair scripts into pairs, the rest by Unicode's rules.
fn words(chunk: &str, offset: usize, visit: &mut impl FnMut(Token)) {
    let mut rest = 0;
    let mut at = 0;
    while let Some(c) = chunk[at..].chars().next() {
        if scripts::compared_by_pairs(c) {
            spaced_words(&chunk[rest..at], offset + rest, visit);
            let end = chunk[at..]
                .find(|c| !scripts::compared_by_pairs(c))
                .map_or(chunk.len(), |length| at + length);
            pairs(&chunk[at..end], offset + at, visit);
            (rest, at) = (end, end);
            continue;
        }
        at += c.len_utf8();
        if matches!(c, '。' | '！' | '？' | '｡' | '।') {
            spaced_words(&chunk[rest..at], offset + rest, visit);
            visit(Token::SentenceEnd(offset + at));
            rest = at;
        }
    }
    spaced_words(&chunk[rest..], offset + rest, visit);
}

/// Splits text in scripts with blanks between words.
fn spaced_words(part: &str, offset: usize, visit: &mut impl FnMut(Token)) {
    if plain_words::scan(part, offset, &mut |word| visit(Token::Word(word))) {
        return;
    }
    for (at, word) in part.unicode_word_indices() {
        let mut open = WordBuilder::at(offset + at);
        for c in word.chars() {
            open.scripts = open.scripts.with(scripts::of(c));
        }
        for c in word.nfkc().flat_map(fold_char) {
            open.has_digit |= c.is_numeric();
            open.push(c);
        }
        if let Some(word) = open.close(offset + at + word.len()) {
            visit(Token::Word(word));
        }
    }
}

/// Every pair of neighbouring characters of a run.
fn pairs(run: &str, offset: usize, visit: &mut impl FnMut(Token)) {
    // Half-width Katakana and compatibility ideographs are normalised to other characters.
    let normalised = run
        .chars()
        .any(scripts::is_compatibility)
        .then(|| run.nfkc().collect::<String>());
    let chars = normalised.as_deref().unwrap_or(run).char_indices();
    let mut before: Option<(usize, char, Scripts)> = None;
    for (at, c) in chars {
        let script = scripts::of(c);
        if let Some((start, first, first_script)) = before {
            let range = match normalised {
                Some(_) => offset..offset + run.len(),
                None => offset + start..offset + at + c.len_utf8(),
            };
            let key = (u128::from(u32::from(first)) << 21) | u128::from(u32::from(c));
            visit(Token::Word(Word {
                key: Key(key),
                range,
                scripts: first_script.with(script),
            }));
        }
        before = Some((at, c, script));
    }
}

/// Number of these words that a text contains.
pub(in crate::domain) fn shared(words: &[Word], others: &HashSet<Key, RandomState>) -> usize {
    words.iter().filter(|word| others.contains(&word.key)).count()
}

/// The keys of a text's content words.
pub(in crate::domain) fn keys(text: &str) -> impl Iterator<Item = Key> {
    content_words(text).into_iter().map(|word| word.key)
}

/// Whether a text shares a content word with one of the others. A text without content words, or in scripts
/// that none of the others uses, cannot be compared and is accepted.
#[must_use]
pub fn shares_a_word<'t>(text: &str, others: impl IntoIterator<Item = &'t str>) -> bool {
    let words = content_words(text);
    let mut known: HashSet<Key, RandomState> = HashSet::default();
    let mut scripts = Scripts::NONE;
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

    fn words_of(text: &str) -> Vec<String> {
        content_words(text)
            .into_iter()
            .map(|word| comparable(&text[word.range]))
            .collect()
    }

    fn matches(one: &str, other: &str) -> bool {
        content_words(one)[0].key == content_words(other)[0].key
    }

    #[test]
    fn words_have_three_characters_or_a_digit_and_mean_something() {
        assert_eq!(
            words_of("The render_page of v2 isn't in std::fs, KL-3 is 1,000.5 because"),
            ["render_page", "v2", "std", "3", "1,000.5"]
        );
        assert_eq!(words_of("__ -- .. ''"), Vec::<String>::new());
    }

    #[test]
    fn ascii_words_are_those_of_unicode() {
        for text in [
            "a.b:c 3.5;6 can't foo_bar e.g. x:y:z 1:2 don''t a.1 1.a 'quoted' http://h.io/p?q=1",
            "--flag=value [x] {y} `code` a,b 1,b $3.00 __init__ 10%",
        ] {
            let mut unicode: Vec<&str> = text.unicode_words().filter(|w| *w != "_").collect();
            unicode.retain(|w| w.chars().count() >= 3 || w.chars().any(char::is_numeric));
            let mut find_in_input = Vec::new();
            scan(text, |token| {
                if let Token::Word(word) = token {
                    find_in_input.push(&text[word.range]);
                }
            });
            assert_eq!(find_in_input, unicode, "{text}");
        }
    }

    #[test]
    fn words_match_in_their_first_six_characters() {
        assert!(matches("parser", "parsers") && matches("migrations", "migrating"));
        assert!(!matches("parse", "parser") && !matches("cache", "caches"));
        assert!(matches("STRASSE", "Straße") && matches("ﬁnder", "finder") && matches("ＡＢＣ", "abc"));
        assert!(matches("Zürich", "Zu\u{308}rich"));
    }

    #[test]
    fn runs_without_blanks_are_pairs() {
        assert_eq!(words_of("東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(words_of("서울 API"), ["서울", "api"]);
        assert_eq!(words_of("ภาษา").len(), 3);
        assert!(matches("ｶﾞｽ", "ガス"));
        assert_eq!(words_of("猫"), Vec::<String>::new());
    }

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
