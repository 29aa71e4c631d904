//! The input of an update, indexed once by the words of an answer.

use super::passage::{Evidence, Origin};
use super::quotes::quote_of;
use crate::domain::text::content_words::{Key, Sieve, Token, scan};
use crate::domain::text::scripts::Scripts;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of sentences stored per word; more frequent words are not significant.
const MAX_SENTENCES: usize = 64;

/// Maximum number of passages reported per operation.
const MAX_PASSAGES: usize = 2;

/// The complete input of an update, not only what its models were given.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The task description.
    pub task: &'a str,
    /// The contents of the messages, oldest first.
    pub messages: Vec<&'a str>,
}

impl<'a> Input<'a> {
    /// The size of its texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts().map(|(_, text)| text.len()).sum()
    }

    /// Its texts: the task, then the messages.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Origin, &'a str)> {
        let messages = self.messages.iter().enumerate();
        std::iter::once((Origin::Task, self.task))
            .chain(messages.map(|(index, text)| (Origin::Message(index), *text)))
    }

    fn text(&self, place: usize) -> &'a str {
        match place.checked_sub(1) {
            None => self.task,
            Some(index) => self.messages[index],
        }
    }
}

/// An occurrence of a word: sentence number in the whole input, and byte offset of the word in its text.
#[derive(Debug, Clone, Copy)]
struct Posting {
    sentence: u32,
    at: usize,
}

/// An index of the positions of the searched words.
#[derive(Debug)]
pub(super) struct WordIndex<'i, 'a> {
    input: &'i Input<'a>,
    postings: HashMap<Key, Vec<Posting>, RandomState>,
    /// The text and start offset of each sentence.
    sentences: Vec<(u32, usize)>,
    /// The scripts that occur in the input.
    pub(super) scripts: Scripts,
}

impl<'i, 'a> WordIndex<'i, 'a> {
    /// Indexes the input for these words. Linear.
    pub(super) fn of(input: &'i Input<'a>, asked: &HashSet<Key, RandomState>) -> Self {
        let mut postings: HashMap<Key, Vec<Posting>, RandomState> = HashMap::default();
        let sieve = Sieve::of(asked.iter());
        let mut sentences = Vec::new();
        let mut scripts = Scripts::NONE;
        for (place, (_, text)) in (0..).zip(input.texts()) {
            sentences.push((place, 0));
            scan(text, |token| match token {
                Token::SentenceEnd(at) => sentences.push((place, at)),
                Token::Word(word) => {
                    scripts = scripts.with(word.scripts);
                    if !sieve.may_have(word.key) || !asked.contains(&word.key) {
                        return;
                    }
                    let sentence = u32::try_from(sentences.len() - 1).unwrap_or(u32::MAX);
                    let of_word = postings.entry(word.key).or_default();
                    let is_known = of_word.last().is_some_and(|last| last.sentence == sentence);
                    if !is_known && of_word.len() < MAX_SENTENCES && word.is_content(text) {
                        of_word.push(Posting {
                            sentence,
                            at: word.range.start,
                        });
                    }
                }
            });
        }
        Self {
            input,
            postings,
            sentences,
            scripts,
        }
    }

    /// Whether a word occurs in the input.
    pub(super) fn has(&self, key: Key) -> bool {
        self.postings.get(&key).is_some_and(|places| !places.is_empty())
    }

    /// The sentences that share most of these words, best first; earlier sentences first among equals.
    pub(super) fn evidence(&self, words: impl IntoIterator<Item = Key>) -> Vec<Evidence> {
        // For each sentence the number of shared words and the position of the first one.
        let mut shares: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for key in words {
            for posting in self.postings.get(&key).into_iter().flatten() {
                let (count, at) = shares.entry(posting.sentence).or_insert((0, posting.at));
                *count += 1;
                *at = posting.at.min(*at);
            }
        }
        let mut best: Vec<_> = shares.into_iter().collect();
        best.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        best.truncate(MAX_PASSAGES);
        best.into_iter()
            .map(|(sentence, (_, at))| self.passage(sentence, at))
            .collect()
    }

    /// The sentence around a byte offset of a text.
    pub(super) fn sentence_at(&self, place: usize, at: usize) -> Evidence {
        let after = self.sentences.partition_point(|(of, start)| {
            (usize::try_from(*of).unwrap_or(usize::MAX), *start) <= (place, at)
        });
        self.passage(u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX), at)
    }

    fn passage(&self, sentence: u32, at: usize) -> Evidence {
        let sentence = usize::try_from(sentence).unwrap_or(usize::MAX);
        let (place, start) = self.sentences[sentence];
        let place_index = usize::try_from(place).unwrap_or(usize::MAX);
        let text = self.input.text(place_index);
        let end = match self.sentences.get(sentence + 1) {
            Some((next, end)) if *next == place => *end,
            _ => text.len(),
        };
        let origin = match place_index.checked_sub(1) {
            None => Origin::Task,
            Some(index) => Origin::Message(index),
        };
        quote_of(origin, text, start..end, at)
    }
}
