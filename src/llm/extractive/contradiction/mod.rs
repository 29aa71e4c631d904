//! Finds the records of the memory that the session contradicts.
//!
//! Records and statements assert values, states and names of things. A record is outdated if a sentence names
//! it as such; if a sentence says that something does not hold any more and the record states just that; if a
//! sentence gives another value, the opposite state or another name to the same thing, or overrules its
//! value; if somebody moved and the record states the old place; if a thing has ended or is given up and the
//! record is about it; if its assumption was refuted or its cause was excluded; and if it waits for something
//! that is reported as finished.
//!
//! `clause` compares a part of a sentence with a record, `endings` handles what has ended, `statement` is a
//! sentence in its context; `facts`, `slots` and `spans` parse texts, `parsed_record` parses the memory.

mod clause;
mod effects;
mod endings;
mod facts;
mod parsed_record;
mod reasons;
mod slots;
mod spans;
mod statement;

use std::collections::BTreeSet;

use effects::Effects;
use parsed_record::Memory;
use reasons::{OPPOSITE, REPLACED};
pub(super) use spans::retired;
use statement::Statement;

use super::annotated::AnnotatedSentence;
use super::caps::MAX_ARCHIVES;
use super::cues::{Hit, Sign};
use super::done::is_done;
use super::sentence::Voice;
use super::session::Session;
use super::terms::{Stem, Terms};
use super::values::{Kind, values};
use crate::domain::document::Record;
use crate::domain::ids::RecordId;

/// An outdated record and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outdated {
    pub(super) id: RecordId,
    pub(super) reason: &'static str,
    /// Index of the sentence that replaces it, if any.
    pub(super) instead: Option<usize>,
}

/// Maximum number of statements compared with the records, newest first: each is compared with every record.
const MAX_STATEMENTS: usize = 200;

/// The outdated records, at most [`MAX_ARCHIVES`], in the order of the memory.
pub(super) fn outdated(session: &Session, records: &[Record]) -> Vec<Outdated> {
    if records.is_empty() {
        return Vec::new();
    }
    let mut memory = Memory::of(records, session.usual);
    let statements: Vec<_> = statements(session).collect();
    let newest = statements.len().saturating_sub(MAX_STATEMENTS);
    let task = session
        .sentences
        .iter()
        .filter(|sentence| sentence.voice == Voice::Task);
    let topic = task.fold(Terms::default(), |topic, sentence| topic.with(sentence.terms()));
    let sentence = statements.iter().map(|(at, _)| &session.sentences[*at]);
    let talk: BTreeSet<Stem> = sentence
        .flat_map(|sentence| sentence.terms().words.iter().copied())
        .collect();
    for (at, effects) in statements.into_iter().skip(newest) {
        let statement = Statement::of(&session.sentences, at, effects, &topic, &talk);
        for (record, reason) in statement.outdates(&memory) {
            memory.records[record].outdated.get_or_insert((reason, at));
        }
    }
    let outdated_records = memory
        .records
        .into_iter()
        .zip(records)
        .filter_map(|(known, record)| {
            known.outdated.map(|(reason, at)| Outdated {
                id: record.id,
                reason,
                instead: matches!(reason, REPLACED | OPPOSITE).then_some(at),
            })
        });
    outdated_records.take(MAX_ARCHIVES).collect()
}

/// The sentences that may contradict a record, by index, with their possible effects.
fn statements(session: &Session) -> impl Iterator<Item = (usize, Effects)> {
    let denied = session.denied();
    let sentence = session.sentences.iter().enumerate();
    // If there are messages, the task is only the topic and makes no claims.
    let is_topic = |sentence: &AnnotatedSentence| sentence.voice == Voice::Task && session.has_messages;
    sentence
        .filter(move |(_, sentence)| !sentence.excluded && !is_topic(sentence) && is_sure(sentence))
        .filter_map(move |(at, sentence)| {
            let is_denied = denied.binary_search(&sentence.message).is_ok();
            let of_user = sentence.voice != Voice::Assistant;
            let is_report = !of_user && is_done(sentence);
            let ends = is_report && sentence.has_any(&[Sign::OldBefore, Sign::Retired, Sign::EndsIt]);
            // "I set the temperature to 28 degrees", without further clauses.
            let is_plain = is_report && !sentence.line.folded.contains([',', ':', '、']);
            let tells_news =
                ends || is_plain || sentence.has_any(&[Sign::Change, Sign::Done, Sign::Cause, Sign::Finding]);
            let is_heard = of_user && sentence.has(Sign::Others);
            let asserts = !is_heard && !sentence.has_any(&NOT_PRESENT);
            let is_borne_out = || {
                session.seen_values.was_in_output(sentence)
                    || (tells_news && session.seen_values.was_stated_by_user(sentence))
            };
            let is_trusted = !of_user && !is_denied && asserts && !sentence.has(Sign::Meta);
            let is_seen = is_trusted && is_borne_out();
            let is_reported =
                is_trusted && (tells_news || session.seen_values.shares_words_with_output(sentence));
            let denies_question = of_user && AnnotatedSentence::answers_no(&session.sentences, at);
            let effects = Effects {
                asserts: asserts && (of_user || is_seen || is_reported),
                changes: (of_user
                    && (sentence.has_any(&CHANGING)
                        || denies_question
                        || takes_effect(sentence)
                        || retired(sentence).is_some()))
                    || is_seen
                    || (is_reported && (ends || sentence.has(Sign::Change))),
                is_seen,
                adds: sentence.has(Sign::Also),
                refutes: sentence.has_any(&[Sign::Refuted, Sign::IsNot, Sign::NotCause]) && !is_denied,
                explains: sentence.has_any(&[Sign::Cause, Sign::Because])
                    && !sentence.has(Sign::Refuted)
                    && !is_denied,
                ends: is_done(sentence) && !is_denied,
            };
            let any =
                effects.asserts || effects.changes || effects.refutes || effects.explains || effects.ends;
            any.then_some((at, effects))
        })
}

/// Signs that something changed.
const CHANGING: [Sign; 8] = [
    Sign::EndsIt,
    Sign::Change,
    Sign::Decision,
    Sign::Old,
    Sign::OldBefore,
    Sign::Retired,
    Sign::Obsolete,
    Sign::Moved,
];

/// Signs that a sentence does not state the present.
const NOT_PRESENT: [Sign; 9] = [
    Sign::Passing,
    Sign::Plan,
    Sign::Wish,
    Sign::Hearsay,
    Sign::Request,
    Sign::Condition,
    Sign::Injection,
    Sign::NotYet,
    Sign::Refuted,
];

/// "The courier comes at 10:20 from 1 June": it was different before.
fn takes_effect(sentence: &AnnotatedSentence) -> bool {
    let is_dated = |hit: &Hit| {
        let after = sentence.line.after(hit.end);
        let soon: Vec<&str> = after.split_whitespace().take(3).collect();
        let values = values(&soon.join(" "));
        values
            .first()
            .is_some_and(|(kind, _)| matches!(kind, Kind::Date | Kind::Weekday))
    };
    sentence
        .hits
        .iter()
        .any(|hit| hit.sign == Sign::Since && is_dated(hit))
}

fn is_sure(sentence: &AnnotatedSentence) -> bool {
    // "My guess was wrong": the assumption is refuted.
    let is_taken_back = |hedge: Hit| {
        sentence
            .hits
            .iter()
            .any(|hit| hit.sign == Sign::Refuted && hit.start >= hedge.end)
    };
    !sentence.asks
        && !sentence.has_any(&[Sign::Hypothesis, Sign::Passing])
        && sentence.first(Sign::Hedge).is_none_or(is_taken_back)
        && !sentence.opens_with(Sign::Condition)
}
