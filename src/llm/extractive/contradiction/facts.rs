//! What a text asserts, as far as it can be held against another: what it is about, the values it gives, the states
//! it tells of, what it denies, and by which names it goes.

use std::collections::{BTreeMap, BTreeSet};

use super::slots::{Slot, slots};
use crate::llm::extractive::cues::{Hit, Language, Sign, State, is_month, is_small, number_word, weekday};
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::{Stem, Terms, stem};
use crate::llm::extractive::values::{Kind, Value, is_known_unit, values};

/// How many words a negation denies behind it.
const DENIED_WORDS: usize = 3;
/// What a text asserts.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) terms: Terms,
    /// Its words without days, months, units and numbers: by these nobody knows a thing.
    pub(super) things: BTreeSet<Stem>,
    /// What it is about without the words that say how a thing stands.
    pub(super) about: Terms,
    pub(super) values: Vec<Value>,
    /// The same by their kinds.
    by_kind: BTreeMap<Kind, BTreeSet<String>>,
    pub(super) states: Vec<State>,
    /// Words that a negation denies.
    pub(super) denied: BTreeSet<Stem>,
    /// "dock 5": which of its kind is meant.
    labels: BTreeMap<Stem, BTreeSet<String>>,
    /// Of each group of words that exclude each other those that stand here, one bit each.
    rivals: BTreeMap<usize, u64>,
    slots: Vec<Slot>,
    /// Words that are written as names.
    pub(super) names: BTreeSet<Stem>,
    /// The first thing it speaks of.
    pub(super) subject: Option<Stem>,
}

impl Facts {
    pub(super) fn of(said: &Said) -> Self {
        let line = &said.line;
        let states = said.language.states(line, &said.hits);
        let values = values(&line.text);
        let mut bare = line.folded.clone().into_bytes();
        for state in &states {
            bare[state.start..state.end].fill(b' ');
        }
        Self {
            about: Terms::of_folded(&String::from_utf8_lossy(&bare)),
            things: things(said),
            terms: said.terms().clone(),
            by_kind: grouped(values.iter().cloned()),
            values,
            denied: denied(said),
            labels: grouped(labels(said)),
            rivals: rivals(said),
            slots: slots(said),
            names: named(said),
            subject: subject(said),
            states,
        }
    }

    /// Whether two texts speak of different ones of a kind: dock 5 and dock 6, staging and production.
    pub(super) fn is_of_another(&self, other: &Self) -> bool {
        let another = self.labels.iter().any(|(of, numbers)| {
            let theirs = other.labels.get(of);
            theirs.is_some_and(|theirs| numbers.is_disjoint(theirs))
        });
        another
            || self.is_another_model(other)
            || self.rivals.iter().any(|(group, words)| {
                let theirs = other.rivals.get(group);
                theirs.is_some_and(|theirs| words & theirs == 0)
            })
    }

    /// "The ZT411 prints at 203 dpi", "the ZD621 has 300 dpi": they differ in what a thing is called and in a value
    /// besides, so that each tells of its own. Where the name is all that differs it may be the value.
    fn is_another_model(&self, other: &Self) -> bool {
        let (named, valued): (Vec<&Kind>, Vec<&Kind>) =
            self.revalued(other).partition(|kind| kind.designates());
        !named.is_empty() && !valued.is_empty()
    }

    /// Whether it tells of one of a kind, the key of the van, where the other tells of no certain one.
    pub(super) fn is_narrower(&self, other: &Self) -> bool {
        self.labels.iter().any(|(of, which)| {
            let known = |word: &String| {
                other.terms.words.contains(&Stem::of(word.chars())) || other.terms.numbers.contains(word)
            };
            other.things.contains(of) && !other.labels.contains_key(of) && !which.iter().any(known)
        })
    }

    /// The kinds of which both give values, and no value in common.
    pub(super) fn revalued<'f>(&'f self, other: &'f Self) -> impl Iterator<Item = &'f Kind> {
        let new = self.by_kind.iter();
        new.filter(|(kind, texts)| {
            let old = other.by_kind.get(*kind);
            let alike = |old: &BTreeSet<String>| {
                let mut shapes = old.iter().map(|text| shape(text));
                shapes.any(|old| texts.iter().any(|text| shape(text) == old))
            };
            old.is_some_and(|old| texts.is_disjoint(old) && (**kind != Kind::Name || alike(old)))
        })
        .map(|(kind, _)| kind)
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

    /// Whether both say by which name a thing goes, and not the same: "is at the Sparkasse", "is at the Volksbank". Of
    /// things without names the same, if `unnamed`: "hangs by the door", "hangs under the stairs".
    pub(super) fn renames(&self, other: &Self, unnamed: bool) -> bool {
        let differ = |slot: &Slot, old: &Slot| {
            slot.group == old.group
                && (unnamed || (slot.is_name && old.is_name))
                && slot.filler.is_disjoint(&other.terms.words)
                && old.filler.is_disjoint(&self.terms.words)
        };
        let mut slots = self.slots.iter();
        slots.any(|slot| other.slots.iter().any(|old| differ(slot, old)))
    }

    /// What it is about besides what stands in the places that renaming changes.
    pub(super) fn without_names(&self, unnamed: bool) -> BTreeSet<Stem> {
        let slots = self.slots.iter().filter(|slot| unnamed || slot.is_name);
        let fillers: BTreeSet<Stem> = slots.flat_map(|slot| slot.filler.clone()).collect();
        self.terms.words.difference(&fillers).copied().collect()
    }

    /// Whether each goes by names that the other does not have.
    pub(super) fn names_others(&self, other: &Self) -> bool {
        !self.names.is_empty()
            && !other.names.is_empty()
            && self.names.is_disjoint(&other.terms.words)
            && other.names.is_disjoint(&self.terms.words)
    }

    /// Whether the first thing of one stands in the other.
    pub(super) fn shares_subject(&self, other: &Self) -> bool {
        let within =
            |subject: Option<Stem>, of: &Self| subject.is_some_and(|subject| of.things.contains(&subject));
        within(self.subject, other) || within(other.subject, self)
    }

    /// Whether both give a value alike.
    pub(super) fn shares_value(&self, other: &Self) -> bool {
        self.by_kind.iter().any(|(kind, texts)| {
            let theirs = other.by_kind.get(kind);
            theirs.is_some_and(|theirs| !texts.is_disjoint(theirs))
        })
    }

    /// Whether it gives no value that the other does not give.
    pub(super) fn adds_no_value(&self, other: &Self) -> bool {
        self.by_kind.iter().all(|(kind, texts)| {
            let theirs = other.by_kind.get(kind);
            theirs.is_some_and(|theirs| texts.is_subset(theirs))
        })
    }

    /// Whether it gives only some of the other's values of a kind.
    pub(super) fn gives_fewer(&self, other: &Self) -> bool {
        self.by_kind.iter().any(|(kind, texts)| {
            let theirs = other.by_kind.get(kind);
            theirs.is_some_and(|theirs| texts.is_subset(theirs) && texts.len() < theirs.len())
        })
    }

    /// Whether both name one thing in several states: `iso.20022.02` and `iso.20022.08`. A series that is a word, as of
    /// `replica-2`, has several things, unless both texts tell of the same.
    pub(super) fn is_of_series(&self, other: &Self, of_the_same: bool) -> bool {
        let of = |facts: &Self| -> BTreeMap<String, String> {
            let names = facts.by_kind.get(&Kind::Name).into_iter().flatten();
            let parts = names.filter_map(|name| name.rsplit_once(['.', '-', '_', '/']));
            let parts =
                parts.filter(|(series, _)| series.len() >= 4 && series.chars().any(char::is_alphabetic));
            let parts =
                parts.filter(|(series, _)| of_the_same || series.contains(|c: char| c.is_ascii_digit()));
            parts
                .map(|(series, last)| (series.to_owned(), last.to_owned()))
                .collect()
        };
        let theirs = of(other);
        let mut differs = of(self).into_iter();
        differs.any(|(series, last)| theirs.get(&series).is_some_and(|their| *their != last))
    }

    pub(super) fn gives(&self, kind: &Kind) -> bool {
        self.by_kind.contains_key(kind)
    }

    /// The same of what speaks of "it": the sentence before says what that is.
    pub(super) fn speaking_of(mut self, before: &Self) -> Self {
        self.things.extend(before.things.iter().copied());
        self.subject = before.subject.or(self.subject);
        self.names.extend(before.names.iter().copied());
        for (group, words) in &before.rivals {
            *self.rivals.entry(*group).or_insert(0) |= words;
        }
        self
    }
}

/// How a name is made: `eu-west-2` of letters, letters and digits. Versions and zones are no values of one kind.
fn shape(name: &str) -> String {
    let mut shape = String::new();
    for c in name.chars() {
        let class = match c {
            c if c.is_ascii_digit() => '9',
            c if c.is_alphabetic() => 'a',
            c => c,
        };
        if !shape.ends_with(class) {
            shape.push(class);
        }
    }
    shape
}

fn grouped<K: Ord, V: Ord>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, BTreeSet<V>> {
    let mut groups: BTreeMap<K, BTreeSet<V>> = BTreeMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().insert(value);
    }
    groups
}

fn rivals(said: &Said) -> BTreeMap<usize, u64> {
    let mut rivals = BTreeMap::new();
    for (group, word) in said.language.rivals(&said.line) {
        *rivals.entry(group).or_insert(0) |= 1_u64 << (word % 64);
    }
    rivals
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
    // "Not only", "no later than": nothing is denied.
    let is_partial = |hit: &Hit| {
        let mut partial = said.hits.iter().filter(|other| other.sign == Sign::Partly);
        partial.any(|other| other.start <= hit.start && hit.start < other.end)
    };
    let negations = said
        .hits
        .iter()
        .filter(|hit| hit.sign == Sign::Negation && !is_partial(hit));
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
    let belonging = said.language.words().belonging;
    let owned = words.windows(3).enumerate().filter_map(|(at, three)| {
        let belongs = is_thing(three[0]) && Language::lists(belonging, three[1]);
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

/// Words with a capital that begin no sentence. In German every noun has one.
fn named(said: &Said) -> BTreeSet<Stem> {
    if matches!(said.language, Language::German | Language::Japanese) {
        return BTreeSet::new();
    }
    let words = said.words().skip(1);
    let named = words.filter(|(start, word)| {
        word.chars().count() > 2
            && !is_small(word)
            && !is_month(word)
            && weekday(word).is_none()
            && said.line.behind(*start).starts_with(char::is_uppercase)
    });
    named.flat_map(|(_, word)| Terms::of_folded(word).words).collect()
}

/// The first thing that a sentence speaks of.
fn subject(said: &Said) -> Option<Stem> {
    if said.language == Language::Japanese {
        let (topic, _) = said.topic_and_rest()?;
        let last = topic.char_indices().rev().nth(1).map_or(0, |(at, _)| at);
        return Terms::of(&topic[last..]).words.into_iter().next();
    }
    // "We stay at the Riviera" speaks of no stay.
    let is_verb = |at: usize| {
        let mut hits = said.hits.iter();
        hits.any(|hit| hit.sign == Sign::Person && hit.end + 1 == at)
    };
    said.words()
        .filter(|(at, word)| weekday(word).is_none() && !is_month(word) && !is_verb(*at))
        .find_map(|(_, word)| Terms::of(word).words.into_iter().next())
}
