//! Content words: what two texts are compared by.
//!
//! A word by Unicode word boundaries, NFKC, case folded, of three or more characters or with a digit, less function
//! words and the DSL's own ([`super::function_words`]). Scripts that put no blanks between words, and Hangul, whose
//! words carry their particles, give every pair of neighbouring characters of a run instead.
//!
//! Two words match if they are equal or equal in their first six characters, so a word's [`Key`] is those characters.

use super::function_words::is_function_word;
use super::scripts::{self, Scripts};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Characters in which two words have to be equal.
const KEY_CHARS: usize = 6;

/// The shortest word without a digit, in characters.
const LEAST_CHARS: usize = 3;

/// What words are compared by: up to six folded characters, 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(u128);

/// One content word of a text. A function word that matches its key is still among them: see [`Word::is_content`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) key: Key,
    /// Its bytes in the text; of a pair the two characters, of a normalised run the run.
    pub(super) range: Range<usize>,
    /// The scripts of its letters; none for a number.
    pub(super) scripts: Scripts,
}

impl Word {
    /// Whether it means something by itself.
    pub(super) fn is_content(&self, text: &str) -> bool {
        !is_function_word(&folded(&text[self.range.clone()]))
    }
}

/// What a scan meets.
pub(super) enum Token {
    Word(Word),
    /// The end of a sentence, in bytes.
    SentenceEnd(usize),
}

/// The content words of a short text, each key once, in their order.
pub(super) fn content_words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut seen = std::collections::HashSet::new();
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

/// A text as words are compared: NFKC, case folded.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(fold_char).collect()
}

/// Full case folding as far as lower case does not do it.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        'ß' | 'ẞ' => ('s', Some('s')),
        'ς' => ('σ', None),
        _ => ('\0', None),
    };
    let lower = (first == '\0').then(|| c.to_lowercase());
    let special = [Some(first).filter(|c| *c != '\0'), second];
    lower.into_iter().flatten().chain(special.into_iter().flatten())
}

/// Meets the words and sentence ends of a text in their order. Linear.
pub(super) fn scan(text: &str, mut meet: impl FnMut(Token)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let blank = bytes[at];
        if blank.is_ascii_whitespace() {
            if blank == b'\n' {
                meet(Token::SentenceEnd(at + 1));
            }
            at += 1;
            continue;
        }
        let end = bytes[at..]
            .iter()
            .position(u8::is_ascii_whitespace)
            .map_or(bytes.len(), |length| at + length);
        let chunk = &text[at..end];
        match chunk.is_ascii() {
            true => ascii_words(chunk, at, &mut meet),
            false => words(chunk, at, &mut meet),
        }
        if matches!(bytes[end - 1], b'.' | b'!' | b'?') {
            meet(Token::SentenceEnd(end));
        }
        at = end;
    }
}

/// A word as it is read.
struct Open {
    start: usize,
    key: u128,
    chars: usize,
    has_digit: bool,
    scripts: Scripts,
}

impl Open {
    fn at(start: usize) -> Self {
        Self {
            start,
            key: 0,
            chars: 0,
            has_digit: false,
            scripts: Scripts::NONE,
        }
    }

    /// Takes a folded character.
    fn push(&mut self, c: char) {
        if self.chars < KEY_CHARS {
            self.key = (self.key << 21) | u128::from(u32::from(c));
        }
        self.chars += 1;
        self.has_digit |= c.is_numeric();
    }

    fn close(self, end: usize) -> Option<Word> {
        (self.chars >= LEAST_CHARS || self.has_digit).then_some(Word {
            key: Key(self.key),
            range: self.start..end,
            scripts: self.scripts,
        })
    }
}

/// Words of a chunk without blanks of ASCII alone, by the same boundaries: `:`, `.` and `'` between letters, `,`, `;`,
/// `.` and `'` between digits, and `_` anywhere belong to a word.
fn ascii_words(chunk: &str, offset: usize, meet: &mut impl FnMut(Token)) {
    let bytes = chunk.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_word_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let mut open = Open::at(offset + at);
        while at < bytes.len() {
            let byte = bytes[at];
            let joins = is_word_byte(byte)
                || at > 0
                    && bytes.get(at + 1).is_some_and(|next| {
                        let before = bytes[at - 1];
                        let letters = before.is_ascii_alphabetic() && next.is_ascii_alphabetic();
                        let digits = before.is_ascii_digit() && next.is_ascii_digit();
                        matches!(byte, b'.' | b'\'') && (letters || digits)
                            || byte == b':' && letters
                            || matches!(byte, b',' | b';') && digits
                    });
            if !joins {
                break;
            }
            open.push(char::from(byte.to_ascii_lowercase()));
            if byte.is_ascii_alphabetic() {
                open.scripts = open.scripts.with(Scripts::LATIN);
            }
            at += 1;
        }
        // Underscores alone are no word.
        if chunk[open.start - offset..at].bytes().any(|b| b != b'_')
            && let Some(word) = open.close(offset + at)
        {
            meet(Token::Word(word));
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Words of any chunk without ASCII blanks: runs of pair scripts by pairs, what stands between by Unicode's rules.
fn words(chunk: &str, offset: usize, meet: &mut impl FnMut(Token)) {
    let mut rest = 0;
    let mut at = 0;
    while let Some(c) = chunk[at..].chars().next() {
        if scripts::goes_by_pairs(c) {
            spaced_words(&chunk[rest..at], offset + rest, meet);
            let end = chunk[at..]
                .find(|c| !scripts::goes_by_pairs(c))
                .map_or(chunk.len(), |length| at + length);
            pairs(&chunk[at..end], offset + at, meet);
            (rest, at) = (end, end);
            continue;
        }
        at += c.len_utf8();
        if matches!(c, '。' | '！' | '？' | '｡' | '।') {
            spaced_words(&chunk[rest..at], offset + rest, meet);
            meet(Token::SentenceEnd(offset + at));
            rest = at;
        }
    }
    spaced_words(&chunk[rest..], offset + rest, meet);
}

/// Words of scripts that put blanks between them.
fn spaced_words(part: &str, offset: usize, meet: &mut impl FnMut(Token)) {
    if part.is_ascii() {
        return ascii_words(part, offset, meet);
    }
    for (at, word) in part.unicode_word_indices() {
        let mut open = Open::at(offset + at);
        for c in word.chars() {
            open.scripts = open.scripts.with(scripts::of(c));
        }
        for c in word.nfkc().flat_map(fold_char) {
            open.push(c);
        }
        if let Some(word) = open.close(offset + at + word.len()) {
            meet(Token::Word(word));
        }
    }
}

/// Every pair of neighbouring characters of a run.
fn pairs(run: &str, offset: usize, meet: &mut impl FnMut(Token)) {
    // Half-width Katakana and compatibility ideographs come to other characters.
    let normalised = run
        .chars()
        .any(scripts::is_compatibility)
        .then(|| run.nfkc().collect::<String>());
    let chars = normalised.as_deref().unwrap_or(run).char_indices();
    let mut before: Option<(usize, char)> = None;
    for (at, c) in chars {
        if let Some((start, first)) = before {
            let range = match normalised {
                Some(_) => offset..offset + run.len(),
                None => offset + start..offset + at + c.len_utf8(),
            };
            let key = (u128::from(u32::from(first)) << 21) | u128::from(u32::from(c));
            meet(Token::Word(Word {
                key: Key(key),
                range,
                scripts: scripts::of(first).with(scripts::of(c)),
            }));
        }
        before = Some((at, c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        content_words(text)
            .into_iter()
            .map(|word| folded(&text[word.range]))
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
            let mut own = Vec::new();
            scan(text, |token| {
                if let Token::Word(word) = token {
                    own.push(&text[word.range]);
                }
            });
            assert_eq!(own, unicode, "{text}");
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
}
