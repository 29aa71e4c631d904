//! The input of an update, read once for the words that are asked about.

use super::passage::{Evidence, Origin};
use super::quotes::quote_of;
use super::scripts::Scripts;
use super::word::Key;
use super::words::{Sieve, Token, scan};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many sentences are remembered of a word. A word that stands in more says little about any of them.
const MOST_SENTENCES: usize = 64;

/// Passages that are told of an operation.
const MOST_PASSAGES: usize = 2;

/// All that the caller of an update sent, not only what its models were shown.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// What was just done or is being done.
    pub task: &'a str,
    /// The messages' contents, oldest first.
    pub messages: Vec<&'a str>,
}

impl<'a> Input<'a> {
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

/// A sentence, by its number in the whole input, and the first byte of a word in its text.
#[derive(Debug, Clone, Copy)]
struct Posting {
    sentence: u32,
    at: usize,
}

/// Where the words that were asked about stand.
#[derive(Debug)]
pub(super) struct Found<'i, 'a> {
    input: &'i Input<'a>,
    postings: HashMap<Key, Vec<Posting>, RandomState>,
    /// The text of each sentence, and its first byte.
    sentences: Vec<(u32, usize)>,
    /// The scripts that the input has words in.
    pub(super) scripts: Scripts,
}

impl<'i, 'a> Found<'i, 'a> {
    /// Reads the input for these words. Linear, whatever they are.
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
                    if !is_known && of_word.len() < MOST_SENTENCES && word.is_content(text) {
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

    /// Whether a word stands in the input.
    pub(super) fn has(&self, key: Key) -> bool {
        self.postings.get(&key).is_some_and(|places| !places.is_empty())
    }

    /// The sentences that share most of these words, the best first; of equal ones the earlier.
    pub(super) fn evidence(&self, words: impl IntoIterator<Item = Key>) -> Vec<Evidence> {
        // Of each sentence how many words it shares, and where the first of them stands.
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
        best.truncate(MOST_PASSAGES);
        best.into_iter()
            .map(|(sentence, (_, at))| self.passage(sentence, at))
            .collect()
    }

    /// The sentence around a byte of a text.
    pub(super) fn sentence_at(&self, place: usize, at: usize) -> Evidence {
        let behind = self.sentences.partition_point(|(of, start)| {
            (usize::try_from(*of).unwrap_or(usize::MAX), *start) <= (place, at)
        });
        self.passage(u32::try_from(behind.saturating_sub(1)).unwrap_or(u32::MAX), at)
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
