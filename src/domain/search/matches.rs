//! Finds the words of a query in a text.

use super::query::Query;
use crate::domain::text::words::{BYTES, Byte, matches, word_from};
use std::ops::Range;

/// Number of bytes skipped at once, and the maximum number of words for which that is possible.
const BLOCK: usize = 32;
const FIRST: usize = 4;

/// The bit that converts an ASCII letter to lower case; it changes other characters too.
const SMALL: u8 = 0x20;

/// The first two bytes of a word, lower case; only the bits of the second byte under `mask` are compared.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    first: u8,
    second: u8,
    mask: u8,
}

impl Beginning {
    /// Matches no word.
    const NONE: Self = Self {
        first: u8::MAX,
        second: 0,
        mask: 0,
    };

    fn of(word: &str) -> Self {
        let mut bytes = word.bytes().map(|byte| byte | SMALL);
        let first = bytes.next().unwrap_or(u8::MAX);
        match bytes.next() {
            Some(second) => Self {
                first,
                second,
                mask: u8::MAX,
            },
            None => Self { first, ..Self::NONE },
        }
    }
}

/// Whether a word that begins like one of these, or with a non-ASCII character, may begin in a block after
/// its first and before its last byte. Branch-free, so that the compiler can vectorise it.
fn may_begin(block: &[u8], beginnings: [Beginning; FIRST]) -> bool {
    let (before, bytes, after) = (&block[..BLOCK], &block[1..=BLOCK], &block[2..BLOCK + 2]);
    let mut any = false;
    for ((before, byte), after) in before.iter().zip(bytes).zip(after) {
        let (small, next) = (byte | SMALL, after | SMALL);
        let mut is_like = false;
        for beginning in beginnings {
            is_like |= (small == beginning.first) & (next & beginning.mask == beginning.second);
        }
        // A non-ASCII byte may be a combining accent.
        let is_one = is_like | !after.is_ascii();
        let is_letter = (before | SMALL).wrapping_sub(b'a') < 26;
        let is_digit = before.wrapping_sub(b'0') < 10;
        any |= (is_one & !(is_letter | is_digit)) | !byte.is_ascii();
    }
    any
}

/// The role of a byte when searching for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It separates words.
    Divides,
    /// A searched word may begin with it.
    Begins,
    /// It is part of a word.
    Word,
    /// It is part of a character that must be decoded.
    Other,
}

/// The searched words.
#[derive(Debug)]
pub(super) struct Terms<'q> {
    /// Each word, and whether it also matches longer words that begin with it.
    words: Vec<(&'q str, bool)>,
    /// The role of each byte.
    roles: [Role; 256],
    /// The beginnings of the words; `None` if there are too many words.
    beginnings: Option<[Beginning; FIRST]>,
}

impl<'q> Terms<'q> {
    pub(super) fn of(query: &'q Query) -> Self {
        let words = query.marked();
        let mut roles = BYTES.map(|byte| match byte {
            Byte::Divides => Role::Divides,
            Byte::Word => Role::Word,
            Byte::Other => Role::Other,
        });
        for (word, _) in &words {
            if let Some(&byte) = word.as_bytes().first()
                && byte.is_ascii()
            {
                roles[usize::from(byte.to_ascii_lowercase())] = Role::Begins;
                roles[usize::from(byte.to_ascii_uppercase())] = Role::Begins;
            }
        }
        let mut beginnings = [Beginning::NONE; FIRST];
        for (beginning, (word, _)) in beginnings.iter_mut().zip(&words) {
            *beginning = Beginning::of(word);
        }
        let beginnings = (words.len() <= FIRST).then_some(beginnings);
        Self {
            words,
            roles,
            beginnings,
        }
    }

    fn role(&self, byte: u8) -> Role {
        self.roles[usize::from(byte)]
    }

    /// The start of the first block after `at` in which a word may begin, or of the last part of the text.
    /// Skips most of a text in blocks.
    fn pass_over(&self, bytes: &[u8], mut at: usize) -> usize {
        let Some(beginnings) = self.beginnings else {
            return at;
        };
        // The start of the text counts as a separator.
        while at > 0
            && let Some(block) = bytes.get(at - 1..=at + BLOCK)
            && !may_begin(block, beginnings)
        {
            at += BLOCK;
        }
        at
    }

    /// The indices of the words.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.words.len()
    }

    /// The index of the term that matches a word of a text.
    pub(super) fn position(&self, word: &str) -> Option<usize> {
        let first = *word.as_bytes().first()?;
        // A non-ASCII character may be an accented form of an ASCII letter.
        if self.role(first) == Role::Word {
            return None;
        }
        self.words
            .iter()
            .position(|(term, prefix)| matches(word, term, *prefix))
    }
}

/// Iterates over the words of a text that match a term, with the term's index. Only possible matches are
/// split into words.
pub(super) struct Matches<'t, 'q> {
    text: &'t str,
    terms: &'t Terms<'q>,
    /// Where the next word may begin.
    at: usize,
}

impl<'t, 'q> Matches<'t, 'q> {
    pub(super) fn new(text: &'t str, terms: &'t Terms<'q>) -> Self {
        Self { text, terms, at: 0 }
    }

    /// The next word to compare.
    fn candidate(&self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            at = self.terms.pass_over(bytes, at);
            let end = bytes.len().min(at + BLOCK);
            if at == end {
                return None;
            }
            for (at, byte) in (at..end).zip(&bytes[at..end]) {
                match self.terms.role(*byte) {
                    Role::Divides | Role::Word => {}
                    Role::Begins if at > self.at && self.terms.role(bytes[at - 1]) != Role::Divides => {}
                    Role::Begins => return word_from(self.text, at),
                    Role::Other => {
                        let before = &bytes[self.at..at];
                        let divider = before
                            .iter()
                            .rposition(|byte| self.terms.role(*byte) == Role::Divides);
                        return word_from(self.text, self.at + divider.map_or(0, |divider| divider + 1));
                    }
                }
            }
            at = end;
        }
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = (Range<usize>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let word = self.candidate()?;
            self.at = word.end;
            if let Some(term) = self.terms.position(&self.text[word.clone()]) {
                return Some((word, term));
            }
        }
    }
}
