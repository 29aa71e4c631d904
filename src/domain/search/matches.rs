//! The words of a text that were searched for.

use super::query::Query;
use super::words::{BYTES, Byte, matches, word_from};
use std::ops::Range;

/// Bytes that are passed over at once, and of how many words at most the beginnings are known for that.
const BLOCK: usize = 32;
const FIRST: usize = 4;

/// The bit that makes an ASCII letter small; of what is none it makes something else.
const SMALL: u8 = 0x20;

/// The first two bytes of a word, letters small: behind the first, what stands under `mask` is compared.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    first: u8,
    second: u8,
    mask: u8,
}

impl Beginning {
    /// Of no word.
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

/// Whether a word that begins like one of these, or with a character that is not ASCII, may begin in a block behind its
/// first byte and before its last. Without branches, so that it is done for many bytes at once.
fn may_begin(block: &[u8], beginnings: [Beginning; FIRST]) -> bool {
    let (before, bytes, behind) = (&block[..BLOCK], &block[1..=BLOCK], &block[2..BLOCK + 2]);
    let mut any = false;
    for ((before, byte), behind) in before.iter().zip(bytes).zip(behind) {
        let (small, next) = (byte | SMALL, behind | SMALL);
        let mut is_like = false;
        for beginning in beginnings {
            is_like |= (small == beginning.first) & (next & beginning.mask == beginning.second);
        }
        // What is not ASCII may be an accent.
        let is_one = is_like | !behind.is_ascii();
        let is_letter = (before | SMALL).wrapping_sub(b'a') < 26;
        let is_digit = before.wrapping_sub(b'0') < 10;
        any |= (is_one & !(is_letter | is_digit)) | !byte.is_ascii();
    }
    any
}

/// What a byte of a text is to the words that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It divides words.
    Divides,
    /// One of the words may begin with it.
    Begins,
    /// Of a word.
    Word,
    /// Of a character that has to be decoded.
    Other,
}

/// The words that are marked.
#[derive(Debug)]
pub(super) struct Terms<'q> {
    /// Each with whether longer ones that begin with it are too.
    words: Vec<(&'q str, bool)>,
    /// By the byte.
    roles: [Role; 256],
    /// What they begin with; `None` if they are too many.
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

    /// The beginning of the first block behind `at` in which one of them may begin, or of the last part of the text. Most
    /// of a text is passed over here, some bytes at once.
    fn pass_over(&self, bytes: &[u8], mut at: usize) -> usize {
        let Some(beginnings) = self.beginnings else {
            return at;
        };
        // What stands before the first byte of a text divides.
        while at > 0
            && let Some(block) = bytes.get(at - 1..=at + BLOCK)
            && !may_begin(block, beginnings)
        {
            at += BLOCK;
        }
        at
    }

    /// Their places.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.words.len()
    }

    /// Which of them a word of a text is.
    pub(super) fn position(&self, word: &str) -> Option<usize> {
        let first = *word.as_bytes().first()?;
        // What is not ASCII may be an accented form of what is.
        if self.role(first) == Role::Word {
            return None;
        }
        self.words
            .iter()
            .position(|(term, prefix)| matches(word, term, *prefix))
    }
}

/// The words of a text that are among the terms, each with which of them it is. Only a word that may be one is divided
/// from the others.
pub(super) struct Matches<'t, 'q> {
    text: &'t str,
    terms: &'t Terms<'q>,
    /// Where a word may begin.
    at: usize,
}

impl<'t, 'q> Matches<'t, 'q> {
    pub(super) fn new(text: &'t str, terms: &'t Terms<'q>) -> Self {
        Self { text, terms, at: 0 }
    }

    /// The next word that has to be looked at.
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
