//! What a text asserts, as far as it can be held against another: what it is about, the values it gives, the states
//! it tells of, what it denies, and by which names it goes.

use std::collections::BTreeSet;

use crate::llm::extractive::cues::{Language, Rival, Sign, State, is_month, is_small, number_word, weekday};
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::{Stem, Terms, stem};
use crate::llm::extractive::values::{Kind, Value, is_known_unit, values};

/// How many words a negation denies behind it.
const DENIED_WORDS: usize = 3;
/// The most words of the name that a thing has.
const NAME_WORDS: usize = 3;

/// What a text asserts.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) terms: Terms,
    /// Its words without days, months, units and numbers: by these nobody knows a thing.
    pub(super) things: BTreeSet<Stem>,
    /// What it is about without the words that say how a thing stands.
    pub(super) about: Terms,
    pub(super) values: Vec<Value>,
    pub(super) states: Vec<State>,
    /// Words that a negation denies.
    pub(super) denied: BTreeSet<Stem>,
    /// "dock 5": which of its kind is meant.
    labels: Vec<(Stem, String)>,
    rivals: Vec<Rival>,
    slots: Vec<Slot>,
    /// The first thing it speaks of.
    pub(super) subject: Option<Stem>,
}

/// A name behind "at", "with", "is".
#[derive(Debug)]
struct Slot {
    connector: String,
    name: BTreeSet<Stem>,
}

impl Facts {
    pub(super) fn of(said: &Said) -> Self {
        let line = &said.line;
        let states = said.language.states(line, &said.hits);
        let mut bare = line.folded.clone().into_bytes();
        for state in &states {
            bare[state.start..state.end].fill(b' ');
        }
        Self {
            about: Terms::of_folded(&String::from_utf8_lossy(&bare)),
            things: things(said),
            terms: said.terms().clone(),
            values: values(&line.text),
            denied: denied(said),
            labels: labels(said),
            rivals: said.language.rivals(line),
            slots: slots(said),
            subject: subject(said),
            states,
        }
    }

    /// Whether two texts speak of different ones of a kind: dock 5 and dock 6, staging and production.
    pub(super) fn is_of_another(&self, other: &Self) -> bool {
        let numbers = |facts: &Self, of: Stem| -> BTreeSet<String> {
            let labels = facts.labels.iter().filter(|(stem, _)| *stem == of);
            labels.map(|(_, number)| number.clone()).collect()
        };
        let another = self.labels.iter().any(|(of, _)| {
            let theirs = numbers(other, *of);
            !theirs.is_empty() && numbers(self, *of).is_disjoint(&theirs)
        });
        let words = |facts: &Self, group: usize| -> BTreeSet<usize> {
            let rivals = facts.rivals.iter().filter(|(of, _)| *of == group);
            rivals.map(|(_, word)| *word).collect()
        };
        another
            || self.rivals.iter().any(|(group, _)| {
                let theirs = words(other, *group);
                !theirs.is_empty() && words(self, *group).is_disjoint(&theirs)
            })
    }

    /// The kinds of which both give values, and no value in common.
    pub(super) fn revalued<'f>(&'f self, other: &'f Self) -> impl Iterator<Item = &'f Kind> {
        self.values.iter().map(|(kind, _)| kind).filter(|kind| {
            let of = |values: &[Value]| -> BTreeSet<String> {
                let same = values.iter().filter(|(of, _)| of == *kind);
                same.map(|(_, text)| text.clone()).collect()
            };
            let (new, old) = (of(&self.values), of(&other.values));
            !old.is_empty() && new.is_disjoint(&old)
        })
    }

    /// Whether one says of a state what the other says to be the opposite.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        self.states.iter().any(|state| {
            let of = |holds: bool, facts: &Self| {
                let mut states = facts.states.iter();
                states.any(|other| other.axis == state.axis && other.holds == holds)
            };
            of(!state.holds, other) && !of(state.holds, other) && !of(!state.holds, self)
        })
    }

    /// Whether both say by which name a thing goes, and not the same: "is at the Sparkasse", "is at the Volksbank".
    pub(super) fn renames(&self, other: &Self) -> bool {
        self.slots.iter().any(|slot| {
            other.slots.iter().any(|old| {
                slot.connector == old.connector
                    && slot.name.is_disjoint(&other.terms.words)
                    && old.name.is_disjoint(&self.terms.words)
            })
        })
    }

    /// What it is about besides the names that renaming changes.
    pub(super) fn without_names(&self) -> BTreeSet<Stem> {
        let names: BTreeSet<Stem> = self.slots.iter().flat_map(|slot| slot.name.clone()).collect();
        self.terms.words.difference(&names).copied().collect()
    }
}

fn things(said: &Said) -> BTreeSet<Stem> {
    let measures = |word: &str| {
        weekday(word).is_some() || is_month(word) || number_word(word).is_some() || is_known_unit(word)
    };
    let measuring = said.line.words().filter(|(_, word)| measures(word));
    let measuring: BTreeSet<Stem> = measuring
        .flat_map(|(_, word)| Terms::of_folded(word).words)
        .collect();
    said.terms().words.difference(&measuring).copied().collect()
}

/// The words that stand behind a negation, up to the next mark.
fn denied(said: &Said) -> BTreeSet<Stem> {
    let folded = &said.line.folded;
    let negations = said.hits.iter().filter(|hit| hit.sign == Sign::Negation);
    let behind = negations.flat_map(|hit| {
        let rest = &folded[hit.end..];
        let end = rest.find([',', ';', ':', '.']).unwrap_or(rest.len());
        let words = rest[..end].split(' ').filter(|word| !word.is_empty());
        words
            .take(DENIED_WORDS)
            .flat_map(|word| Terms::of_folded(word).words)
            .collect::<Vec<_>>()
    });
    behind.collect()
}

/// What stands between a thing and what tells whose or which it is.
const BELONGING: &str = " of for du de des d' für von del para pour ";

/// Words with what tells which of their kind is meant: the number behind them, which is no count and no date, or
/// whose they are, as in "the car park of the staff".
fn labels(said: &Said) -> Vec<(Stem, String)> {
    let words: Vec<&str> = said.line.words().map(|(_, word)| word).collect();
    let is_thing = |word: &str| {
        word.chars().count() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_small(word)
            && !is_month(word)
    };
    let owned = words.windows(3).enumerate().filter_map(|(at, three)| {
        let belongs = is_thing(three[0]) && BELONGING.contains(&format!(" {} ", three[1]));
        let behind = words.iter().skip(at + 2).take(2).find(|word| !is_small(word))?;
        let whose = belongs && is_thing(behind) && weekday(behind).is_none() && !is_known_unit(behind);
        whose.then(|| (stem(three[0]), stem(behind).text()))
    });
    let mut labels: Vec<(Stem, String)> = numbered(&words, is_thing).collect();
    labels.extend(owned);
    labels
}

fn numbered<'w>(
    words: &'w [&'w str],
    is_thing: impl Fn(&str) -> bool + Copy + 'w,
) -> impl Iterator<Item = (Stem, String)> + 'w {
    let is_number = |word: &str| word.len() <= 4 && word.bytes().all(|b| b.is_ascii_digit());
    let counts = move |word: Option<&&str>| {
        word.is_some_and(|word| {
            is_month(word) || word.starts_with(['%', '€', '$']) || (is_thing(word) && word.len() <= 4)
        })
    };
    let pairs = words.windows(2).enumerate();
    pairs
        .filter(move |(at, pair)| is_thing(pair[0]) && is_number(pair[1]) && !counts(words.get(at + 2)))
        .map(|(_, pair)| (stem(pair[0]), pair[1].to_owned()))
}

/// Names behind connectors, as they are written with capitals.
fn slots(said: &Said) -> Vec<Slot> {
    let connectors = said.language.words().connectors;
    let words: Vec<(usize, &str)> = said.line.words().collect();
    let mut slots = Vec::new();
    for (at, (_, word)) in words.iter().enumerate() {
        if !connectors.contains(&format!(" {word} ")) {
            continue;
        }
        let mut name = BTreeSet::new();
        for (start, word) in words.iter().skip(at + 1).take(NAME_WORDS + 1) {
            let written = said.line.behind(*start);
            let is_article = is_small(word) && name.is_empty();
            if is_article {
                continue;
            }
            if !written.starts_with(char::is_uppercase) || name.len() == NAME_WORDS {
                break;
            }
            name.extend(Terms::of_folded(word).words);
        }
        if !name.is_empty() {
            let connector = (*word).to_owned();
            slots.push(Slot { connector, name });
        }
    }
    slots
}

/// The first thing that a sentence speaks of.
fn subject(said: &Said) -> Option<Stem> {
    if said.language == Language::Japanese {
        let (topic, _) = said.line.text.split_once(['は', 'が'])?;
        let last = topic.char_indices().rev().nth(1).map_or(0, |(at, _)| at);
        return Terms::of(&topic[last..]).words.into_iter().next();
    }
    said.words()
        .filter(|(_, word)| weekday(word).is_none() && !is_month(word))
        .find_map(|(_, word)| Terms::of(word).words.into_iter().next())
}
