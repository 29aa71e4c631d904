//! Scores sentences by a weighted sum of features.
//!
//! The kind of claim that the rules of `worth` detect is one feature. Others are how much a sentence says,
//! how much the rest of the session is about the same, and signs of doubt. The weights are integers, fitted
//! to labelled sessions (docs/rules.md); no feature is a specific word.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::annotated::AnnotatedSentence;
use super::cues::{Language, Sign};
use super::sentence::Voice;
use super::session::Session;
use super::terms::{Stem, names};
use super::values::{Kind, Value, values};
use super::worth::{LIMIT, has_value};

/// A sentence with its features.
struct ScoredSentence<'s> {
    sentence: &'s AnnotatedSentence,
    values: Vec<Value>,
    /// The weight of its claim by the rules, 0 without a claim.
    weight: u8,
    reason: &'static str,
    /// Number of its terms; of those also in other messages; of those also in the task.
    terms: usize,
    repeated: usize,
    of_task: usize,
    is_first: bool,
    is_last: bool,
    of_first_question: bool,
}

/// A feature and its weight.
struct Feature {
    /// The name used by the script that fits the weights.
    #[cfg_attr(not(test), expect(dead_code, reason = "only that script asks"))]
    name: &'static str,
    weight: i32,
    count: fn(&ScoredSentence<'_>) -> usize,
}

/// A row of the table.
const fn feature(name: &'static str, weight: i32, count: fn(&ScoredSentence<'_>) -> usize) -> Feature {
    Feature { name, weight, count }
}

fn has(seen: &ScoredSentence<'_>, signs: &[Sign]) -> usize {
    usize::from(seen.sentence.has_any(signs))
}

fn gives(seen: &ScoredSentence<'_>, kind: &Kind) -> usize {
    usize::from(seen.values.iter().any(|(of, _)| of == kind))
}

const FEATURES: [Feature; 29] = [
    // How much of the session is about the same: the share of its terms that occur in other messages, in
    // quarters.
    feature("repeated", 4, |seen| {
        ((seen.repeated * 8 + seen.terms) / (seen.terms * 2).max(1)).min(3)
    }),
    feature("of_task", -5, |seen| seen.of_task.min(3)),
    // How much it says.
    feature("content", 2, |seen| seen.sentence.content().words.len().min(8)),
    feature("terms", 2, |seen| seen.terms.min(12)),
    feature("value", 11, |seen| usize::from(has_value(seen.sentence))),
    feature("weekday", 9, |seen| gives(seen, &Kind::Weekday)),
    feature("hour", 5, |seen| gives(seen, &Kind::Time)),
    feature("percent", 5, |seen| gives(seen, &Kind::Percent)),
    // In German all nouns look like names.
    feature("name", 3, |seen| {
        let tells = seen.sentence.language != Language::German;
        usize::from(tells && names(seen.sentence.body()) > 0)
    }),
    feature("identifier", 5, |seen| {
        let mut numbers = seen.sentence.terms().numbers.iter();
        usize::from(numbers.any(|number| number.contains(|c: char| c.is_ascii_lowercase())))
    }),
    // Its position and author.
    feature("opened", 7, |seen| usize::from(seen.sentence.body_start() > 1)),
    feature("user", 3, |seen| usize::from(seen.sentence.voice == Voice::User)),
    feature("first_question", -7, |seen| usize::from(seen.of_first_question)),
    feature("alone", -4, |seen| usize::from(seen.is_first && seen.is_last)),
    feature("first", -2, |seen| usize::from(seen.is_first)),
    feature("last", -2, |seen| usize::from(seen.is_last)),
    // Its signs.
    feature("bound", 7, |seen| has(seen, &[Sign::Limit])),
    feature("rule", 4, |seen| has(seen, &[Sign::Rule])),
    feature("keep", 10, |seen| has(seen, &[Sign::Keep])),
    feature("because", 5, |seen| has(seen, &[Sign::Because, Sign::Cause])),
    feature("old", 4, |seen| {
        has(seen, &[Sign::Old, Sign::OldBefore, Sign::Retired])
    }),
    feature("unsure", -13, |seen| {
        has(seen, &[Sign::Hedge, Sign::Hypothesis, Sign::Hearsay])
    }),
    feature("doing", -6, |seen| has(seen, &[Sign::Doing, Sign::Next])),
    feature("trouble", -6, |seen| has(seen, &[Sign::Trouble])),
    feature("condition", -3, |seen| {
        has(seen, &[Sign::Condition, Sign::Denial])
    }),
    feature("mood", -8, |seen| {
        has(seen, &[Sign::Feeling, Sign::Listener, Sign::Others])
    }),
    feature("past", -2, |seen| has(seen, &[Sign::Past, Sign::Moment])),
    // The result of the rules.
    feature("claim", 3, |seen| usize::from(seen.weight)),
    feature("claims_bound", -9, |seen| usize::from(seen.reason == LIMIT)),
];

/// A word or number of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Term<'s> {
    Word(Stem),
    Number(&'s str),
}

/// The occurrences of a term.
#[derive(Debug, Clone, Copy)]
struct TermUse {
    first: usize,
    /// Whether it occurs in more than one message.
    again: bool,
    /// Whether it occurs in the task.
    of_task: bool,
}

/// The data of a session for scoring its sentences.
pub(super) struct Scorer<'s> {
    session: &'s Session,
    /// Number of messages of the user and the assistant.
    pub(super) messages: usize,
    heard: HashMap<Term<'s>, TermUse, RandomState>,
}

impl<'s> Scorer<'s> {
    pub(super) fn of(session: &'s Session) -> Self {
        let mut heard: HashMap<Term<'s>, TermUse, RandomState> = HashMap::default();
        for sentence in &session.sentences {
            for term in terms(sentence) {
                let unheard = TermUse {
                    first: 0,
                    again: false,
                    of_task: false,
                };
                let heard = heard.entry(term).or_insert(unheard);
                match sentence.voice {
                    Voice::Task => heard.of_task = true,
                    _ if heard.first == 0 => heard.first = sentence.message,
                    _ => heard.again |= heard.first != sentence.message,
                }
            }
        }
        let sentence = session
            .sentences
            .iter()
            .filter(|sentence| sentence.voice != Voice::Task);
        let mut messages: Vec<usize> = sentence.map(|sentence| sentence.message).collect();
        messages.dedup();
        Self {
            session,
            messages: messages.len(),
            heard,
        }
    }

    /// The score of a sentence, given the weight and reason of its claim by the rules.
    pub(super) fn score(&self, at: usize, weight: u8, reason: &'static str) -> i32 {
        let seen = self.seen(at, weight, reason);
        let of = |feature: &Feature| {
            let count = i32::try_from((feature.count)(&seen)).unwrap_or(0);
            feature.weight * count
        };
        FEATURES.iter().map(of).sum()
    }

    /// The value of each feature of a sentence.
    #[cfg(test)]
    pub(super) fn features(
        &self,
        at: usize,
        weight: u8,
        reason: &'static str,
    ) -> impl Iterator<Item = (&'static str, usize)> {
        let seen = self.seen(at, weight, reason);
        FEATURES
            .iter()
            .map(move |feature| (feature.name, (feature.count)(&seen)))
    }

    fn seen(&self, at: usize, weight: u8, reason: &'static str) -> ScoredSentence<'s> {
        let sentence = &self.session.sentences[at];
        let is_other =
            |other: Option<&AnnotatedSentence>| other.is_none_or(|other| other.message != sentence.message);
        let heard = || terms(sentence).filter_map(|term| self.heard.get(&term));
        let elsewhere =
            |heard: &&TermUse| heard.again || (heard.first > 0 && heard.first != sentence.message);
        ScoredSentence {
            values: values(sentence.body()),
            weight,
            reason,
            terms: sentence.terms().count(),
            repeated: heard().filter(elsewhere).count(),
            of_task: heard().filter(|heard| heard.of_task).count(),
            is_first: is_other(at.checked_sub(1).map(|before| &self.session.sentences[before])),
            is_last: is_other(self.session.sentences.get(at + 1)),
            of_first_question: sentence.message == self.session.first_question,
            sentence,
        }
    }
}

fn terms(sentence: &AnnotatedSentence) -> impl Iterator<Item = Term<'_>> {
    let words = sentence.terms().words.iter().map(|word| Term::Word(*word));
    let numbers = sentence.terms().numbers.iter().map(|number| Term::Number(number));
    words.chain(numbers)
}
