//! Scores sentences by a weighted sum of features.
//!
//! The kind of claim that the rules of `worth` detect is one feature. Others are how much a sentence says,
//! how much the rest of the session is about the same, and signs of doubt. The weights are integers, fitted
//! to labelled sessions (docs/rules.md); no feature is a specific word.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::cues::{Language, Sign};
use super::said::Said;
use super::sentence::Voice;
use super::session::Session;
use super::terms::{Stem, names};
use super::values::{Kind, Value, values};
use super::worth::{LIMIT, has_value};

/// A sentence with its features.
struct Seen<'s> {
    said: &'s Said,
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
    count: fn(&Seen<'_>) -> usize,
}

/// A row of the table.
const fn feature(name: &'static str, weight: i32, count: fn(&Seen<'_>) -> usize) -> Feature {
    Feature { name, weight, count }
}

fn has(seen: &Seen<'_>, signs: &[Sign]) -> usize {
    usize::from(seen.said.has_any(signs))
}

fn gives(seen: &Seen<'_>, kind: &Kind) -> usize {
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
    feature("content", 2, |seen| seen.said.content().words.len().min(8)),
    feature("terms", 2, |seen| seen.terms.min(12)),
    feature("value", 11, |seen| usize::from(has_value(seen.said))),
    feature("weekday", 9, |seen| gives(seen, &Kind::Weekday)),
    feature("hour", 5, |seen| gives(seen, &Kind::Time)),
    feature("percent", 5, |seen| gives(seen, &Kind::Percent)),
    // In German all nouns look like names.
    feature("name", 3, |seen| {
        let tells = seen.said.language != Language::German;
        usize::from(tells && names(seen.said.body()) > 0)
    }),
    feature("identifier", 5, |seen| {
        let mut numbers = seen.said.terms().numbers.iter();
        usize::from(numbers.any(|number| number.contains(|c: char| c.is_ascii_lowercase())))
    }),
    // Its position and author.
    feature("opened", 7, |seen| usize::from(seen.said.body_start() > 1)),
    feature("user", 3, |seen| usize::from(seen.said.voice == Voice::User)),
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
struct Heard {
    first: usize,
    /// Whether it occurs in more than one message.
    again: bool,
    /// Whether it occurs in the task.
    of_task: bool,
}

/// The data of a session for scoring its sentences.
pub(super) struct Scales<'s> {
    session: &'s Session,
    /// Number of messages of the user and the assistant.
    pub(super) messages: usize,
    heard: HashMap<Term<'s>, Heard, RandomState>,
}

impl<'s> Scales<'s> {
    pub(super) fn of(session: &'s Session) -> Self {
        let mut heard: HashMap<Term<'s>, Heard, RandomState> = HashMap::default();
        for said in &session.said {
            for term in terms(said) {
                let unheard = Heard {
                    first: 0,
                    again: false,
                    of_task: false,
                };
                let heard = heard.entry(term).or_insert(unheard);
                match said.voice {
                    Voice::Task => heard.of_task = true,
                    _ if heard.first == 0 => heard.first = said.message,
                    _ => heard.again |= heard.first != said.message,
                }
            }
        }
        let said = session.said.iter().filter(|said| said.voice != Voice::Task);
        let mut messages: Vec<usize> = said.map(|said| said.message).collect();
        messages.dedup();
        Self {
            session,
            messages: messages.len(),
            heard,
        }
    }

    /// The score of a sentence, given the weight and reason of its claim by the rules.
    pub(super) fn weigh(&self, at: usize, weight: u8, reason: &'static str) -> i32 {
        let seen = self.seen(at, weight, reason);
        let of = |feature: &Feature| {
            let count = i32::try_from((feature.count)(&seen)).unwrap_or(0);
            feature.weight * count
        };
        FEATURES.iter().map(of).sum()
    }

    /// The value of each feature of a sentence.
    #[cfg(test)]
    pub(super) fn noticed(
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

    fn seen(&self, at: usize, weight: u8, reason: &'static str) -> Seen<'s> {
        let said = &self.session.said[at];
        let is_other = |other: Option<&Said>| other.is_none_or(|other| other.message != said.message);
        let heard = || terms(said).filter_map(|term| self.heard.get(&term));
        let elsewhere = |heard: &&Heard| heard.again || (heard.first > 0 && heard.first != said.message);
        Seen {
            values: values(said.body()),
            weight,
            reason,
            terms: said.terms().count(),
            repeated: heard().filter(elsewhere).count(),
            of_task: heard().filter(|heard| heard.of_task).count(),
            is_first: is_other(at.checked_sub(1).map(|before| &self.session.said[before])),
            is_last: is_other(self.session.said.get(at + 1)),
            of_first_question: said.message == self.session.first_question,
            said,
        }
    }
}

fn terms(said: &Said) -> impl Iterator<Item = Term<'_>> {
    let words = said.terms().words.iter().map(|word| Term::Word(*word));
    let numbers = said.terms().numbers.iter().map(|number| Term::Number(number));
    words.chain(numbers)
}
