//! The input of an update, indexed once by the words of an answer, and the passages of it that are reported.

use crate::domain::ids::RecordId;
use crate::domain::text::content_words::{Key, Scripts, Token, scan};
use crate::domain::text::{MASK, secrets};
use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use utoipa::ToSchema;

/// Maximum number of sentences stored per word; more frequent words are not significant.
const MAX_SENTENCES: usize = 64;

/// Maximum number of passages reported per operation.
const MAX_PASSAGES: usize = 2;

/// A passage of an update's input that carries a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// The text it stands in.
    pub from: EvidenceOrigin,
    /// Which message, from 0; null for the task.
    #[schema(minimum = 0)]
    #[serde(deserialize_with = "Option::deserialize")]
    pub index: Option<usize>,
    /// Its first byte in that text.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// Its text, at most 200 bytes; a credential in it is masked.
    pub quote: String,
    /// Of a merged learning: which of its parts it is the evidence of. The text is that of the update that wrote the part.
    #[schema(value_type = Option<String>, nullable = false, example = "KL-1")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
}

/// Which of the texts of an update's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceOrigin {
    /// The task.
    Task,
    /// A message.
    Message,
}

impl Evidence {
    /// The evidence of a record, as one that it was merged into keeps it.
    #[must_use]
    pub fn of(mut self, record: RecordId) -> Self {
        self.record.get_or_insert(record);
        self
    }
}

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
        self.texts().map(str::len).sum()
    }

    /// Its texts: the task, then the messages.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.task).chain(self.messages.iter().copied())
    }
}

/// An occurrence of a word: sentence number in the whole input, and byte offset of the word in its text.
#[derive(Debug, Clone, Copy)]
struct Posting {
    sentence: usize,
    at: usize,
}

/// An index of the positions of the searched words.
#[derive(Debug)]
pub(super) struct WordIndex<'a> {
    texts: Vec<&'a str>,
    postings: HashMap<Key, Vec<Posting>, RandomState>,
    /// The text and start offset of each sentence.
    sentences: Vec<(usize, usize)>,
    /// The scripts that occur in the input.
    pub(super) scripts: Scripts,
}

impl<'a> WordIndex<'a> {
    /// Indexes the input for these words. Linear.
    pub(super) fn of(input: &Input<'a>, asked: HashSet<Key, RandomState>) -> Self {
        let texts: Vec<&str> = input.texts().collect();
        let mut postings: HashMap<Key, Vec<Posting>, RandomState> =
            asked.into_iter().map(|key| (key, Vec::new())).collect();
        let mut sentences = Vec::new();
        let mut scripts = 0;
        for (place, text) in texts.iter().enumerate() {
            sentences.push((place, 0));
            scan(text, |token| match token {
                Token::SentenceEnd(at) => sentences.push((place, at)),
                Token::Word(word) => {
                    scripts |= word.scripts;
                    let Some(of_word) = postings.get_mut(&word.key) else {
                        return;
                    };
                    let sentence = sentences.len() - 1;
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
            texts,
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
        let mut shares: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
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
        let after = self.sentences.partition_point(|start| *start <= (place, at));
        self.passage(after.saturating_sub(1), at)
    }

    fn passage(&self, sentence: usize, at: usize) -> Evidence {
        let (place, start) = self.sentences[sentence];
        let end = match self.sentences.get(sentence + 1) {
            Some((next, end)) if *next == place => *end,
            _ => self.texts[place].len(),
        };
        quote_of(place, self.texts[place], start..end, at)
    }
}

/// Maximum length of a quotation in bytes.
const QUOTE_BYTES: usize = 200;

/// Number of bytes around a quotation that are searched for credentials.
const CONTEXT_BYTES: usize = 400;

/// Quotes a passage of a text of the input (see [`Input::texts`]) without surrounding blanks. From a longer passage it quotes the beginning or, if the
/// relevant word at `at` is later, the text from that word on.
///
/// Credentials are masked; `start` and `end` still refer to the original text.
pub(super) fn quote_of(place: usize, text: &str, range: Range<usize>, at: usize) -> Evidence {
    let passage = &text[range.clone()];
    let mut start = range.start + (passage.len() - passage.trim_start().len());
    let end = range.start + passage.trim_end().len();
    if end.saturating_sub(start) > QUOTE_BYTES && at >= start + QUOTE_BYTES * 3 / 4 {
        start = text.floor_char_boundary(at);
    }
    let start = start.min(end);
    let end = text.floor_char_boundary(end.min(start + QUOTE_BYTES)).max(start);
    // A credential that begins before or ends after the quotation must be detected too.
    let near = text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES))
        ..text.ceil_char_boundary((end + CONTEXT_BYTES).min(text.len()));
    let mut quote = String::with_capacity(end - start);
    let mut from = start;
    for secret in secrets(&text[near.clone()]) {
        let secret = near.start + secret.start..near.start + secret.end;
        if secret.end > from && secret.start < end {
            quote.push_str(&text[from..secret.start.max(from)]);
            quote.push_str(MASK);
            from = secret.end.min(end);
        }
    }
    quote.push_str(&text[from..end]);
    // A mask may be longer than the credential.
    quote.truncate(quote.floor_char_boundary(QUOTE_BYTES));
    Evidence {
        from: match place {
            0 => EvidenceOrigin::Task,
            _ => EvidenceOrigin::Message,
        },
        index: place.checked_sub(1),
        start,
        end,
        quote,
        record: None,
    }
}
