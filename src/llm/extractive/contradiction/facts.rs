//! The comparable content of a text: its topic, values, states, negations and names.

use std::collections::{BTreeMap, BTreeSet};

use super::slots::{Slot, slots};
use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::{Hit, Language, Sign, State, is_month, is_small, number_word, weekday};
use crate::llm::extractive::terms::{Stem, Terms, stem};
use crate::llm::extractive::values::{Kind, Value, is_known_unit, values};

/// Number of words after a negation that it denies.
const DENIED_WORDS: usize = 3;
/// The comparable content of a text.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) terms: Terms,
    /// Its words without days, months, units and numbers, which do not identify a thing.
    pub(super) things: BTreeSet<Stem>,
    /// Its words without those that describe a state.
    pub(super) about: Terms,
    pub(super) values: Vec<Value>,
    /// The values grouped by kind.
    by_kind: BTreeMap<Kind, BTreeSet<String>>,
    pub(super) states: Vec<State>,
    /// Words denied by a negation.
    pub(super) denied: BTreeSet<Stem>,
    /// "dock 5": which one of its kind is meant.
    labels: BTreeMap<Stem, BTreeSet<String>>,
    /// For each group of mutually exclusive words a bit set of those in the text.
    rivals: BTreeMap<usize, u64>,
    slots: Vec<Slot>,
    /// Words that are spelled like names.
    pub(super) names: BTreeSet<Stem>,
    /// The first thing that it mentions.
    pub(super) subject: Option<Stem>,
}

impl Facts {
    pub(super) fn of(sentence: &AnnotatedSentence) -> Self {
        let line = &sentence.line;
        let states = sentence.language.states(line, &sentence.hits);
        let values = values(&line.text);
        let mut bare = line.folded.clone().into_bytes();
        for state in &states {
            bare[state.start..state.end].fill(b' ');
        }
        Self {
            about: Terms::of_folded(&String::from_utf8_lossy(&bare)),
            things: things(sentence),
            terms: sentence.terms().clone(),
            by_kind: grouped(values.iter().cloned()),
            values,
            denied: denied(sentence),
            labels: grouped(labels(sentence)),
            rivals: rivals(sentence),
            slots: slots(sentence),
            names: named(sentence),
            subject: subject(sentence),
            states,
        }
    }

    /// Whether two texts are about different things of one kind: dock 5 and dock 6, staging and production.
    pub(super) fn is_of_another(&self, other: &Self) -> bool {
        let another = self.labels.iter().any(|(of, numbers)| {
            let record_facts = other.labels.get(of);
            record_facts.is_some_and(|record_facts| numbers.is_disjoint(record_facts))
        });
        another
            || self.is_another_model(other)
            || self.rivals.iter().any(|(group, words)| {
                let record_facts = other.rivals.get(group);
                record_facts.is_some_and(|record_facts| words & record_facts == 0)
            })
    }

    /// "The ZT411 prints at 203 dpi", "the ZD621 has 300 dpi": both an identifier and a value differ, so the
    /// texts are about different things. If only the identifier differs it may itself be the changed value.
    fn is_another_model(&self, other: &Self) -> bool {
        let (named, valued): (Vec<&Kind>, Vec<&Kind>) =
            self.revalued(other).partition(|kind| kind.designates());
        !named.is_empty() && !valued.is_empty()
    }

    /// Whether it is about a specific thing of a kind (the key of the van), where the other text names no
    /// specific one.
    pub(super) fn is_narrower(&self, other: &Self) -> bool {
        self.labels.iter().any(|(of, which)| {
            let known = |word: &String| {
                other.terms.words.contains(&Stem::of(word.chars())) || other.terms.numbers.contains(word)
            };
            other.things.contains(of) && !other.labels.contains_key(of) && !which.iter().any(known)
        })
    }

    /// The kinds for which both texts have values, with no value in common.
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

    /// Whether the texts state opposite values of a state.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        self.states.iter().any(|state| {
            let of = |holds: bool, facts: &Self| {
                let mut states = facts.states.iter();
                states.any(|other| other.axis == state.axis && other.holds == holds)
            };
            of(!state.holds, other) && !of(state.holds, other) && !of(!state.holds, self)
        })
    }

    /// Whether both give a name or place of a thing and these differ: "is at the Sparkasse", "is at the
    /// Volksbank". With `unnamed` also for words that are not names: "hangs by the door", "hangs under the
    /// stairs".
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

    /// Its words without the slots that a renaming changes.
    pub(super) fn without_names(&self, unnamed: bool) -> BTreeSet<Stem> {
        let slots = self.slots.iter().filter(|slot| unnamed || slot.is_name);
        let fillers: BTreeSet<Stem> = slots.flat_map(|slot| slot.filler.clone()).collect();
        self.terms.words.difference(&fillers).copied().collect()
    }

    /// Whether each has names that the other lacks.
    pub(super) fn names_others(&self, other: &Self) -> bool {
        !self.names.is_empty()
            && !other.names.is_empty()
            && self.names.is_disjoint(&other.terms.words)
            && other.names.is_disjoint(&self.terms.words)
    }

    /// Whether the subject of one text occurs in the other.
    pub(super) fn shares_subject(&self, other: &Self) -> bool {
        let within =
            |subject: Option<Stem>, of: &Self| subject.is_some_and(|subject| of.things.contains(&subject));
        within(self.subject, other) || within(other.subject, self)
    }

    /// Whether the texts share a value.
    pub(super) fn shares_value(&self, other: &Self) -> bool {
        self.by_kind.iter().any(|(kind, texts)| {
            let record_facts = other.by_kind.get(kind);
            record_facts.is_some_and(|record_facts| !texts.is_disjoint(record_facts))
        })
    }

    /// Whether all of its values occur in the other.
    pub(super) fn adds_no_value(&self, other: &Self) -> bool {
        self.by_kind.iter().all(|(kind, texts)| {
            let record_facts = other.by_kind.get(kind);
            record_facts.is_some_and(|record_facts| texts.is_subset(record_facts))
        })
    }

    /// Whether it has only some of the other's values of a kind.
    pub(super) fn gives_fewer(&self, other: &Self) -> bool {
        self.by_kind.iter().any(|(kind, texts)| {
            let record_facts = other.by_kind.get(kind);
            record_facts
                .is_some_and(|record_facts| texts.is_subset(record_facts) && texts.len() < record_facts.len())
        })
    }

    /// Whether both name one thing in several versions: `iso.20022.02` and `iso.20022.08`. A series that is a
    /// word, as in `replica-2`, denotes several things, unless both texts are about the same.
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
        let record_facts = of(other);
        let mut differs = of(self).into_iter();
        differs.any(|(series, last)| record_facts.get(&series).is_some_and(|their| *their != last))
    }

    pub(super) fn gives(&self, kind: &Kind) -> bool {
        self.by_kind.contains_key(kind)
    }

    /// Adds the subject from the sentence before, for a text about "it".
    pub(super) fn with_subject_of(mut self, before: &Self) -> Self {
        self.things.extend(before.things.iter().copied());
        self.subject = before.subject.or(self.subject);
        self.names.extend(before.names.iter().copied());
        for (group, words) in &before.rivals {
            *self.rivals.entry(*group).or_insert(0) |= words;
        }
        self
    }
}

/// The character classes of a name: `eu-west-2` is letters, letters and digits. Names of different shapes are
/// not values of one kind.
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

fn rivals(sentence: &AnnotatedSentence) -> BTreeMap<usize, u64> {
    let mut rivals = BTreeMap::new();
    for (group, word) in sentence.language.rivals(&sentence.line) {
        *rivals.entry(group).or_insert(0) |= 1_u64 << (word % 64);
    }
    rivals
}

fn things(sentence: &AnnotatedSentence) -> BTreeSet<Stem> {
    let measures = |word: &str| {
        weekday(word).is_some() || is_month(word) || number_word(word).is_some() || is_known_unit(word)
    };
    let measuring = sentence.line.words().filter(|(_, word)| measures(word));
    let measuring: BTreeSet<Stem> = measuring
        .flat_map(|(_, word)| Terms::of_folded(word).words)
        .collect();
    sentence.terms().words.difference(&measuring).copied().collect()
}

/// The words after a negation, up to the next mark.
fn denied(sentence: &AnnotatedSentence) -> BTreeSet<Stem> {
    let folded = &sentence.line.folded;
    // "Not only", "no later than": nothing is denied.
    let is_partial = |hit: &Hit| {
        let mut partial = sentence.hits.iter().filter(|other| other.sign == Sign::Partly);
        partial.any(|other| other.start <= hit.start && hit.start < other.end)
    };
    let negations = sentence
        .hits
        .iter()
        .filter(|hit| hit.sign == Sign::Negation && !is_partial(hit));
    let after = negations.flat_map(|hit| {
        let rest = &folded[hit.end..];
        let end = rest.find([',', ';', ':', '.']).unwrap_or(rest.len());
        let words = rest[..end].split(' ').filter(|word| !word.is_empty());
        words
            .take(DENIED_WORDS)
            .flat_map(|word| Terms::of_folded(word).words)
            .collect::<Vec<_>>()
    });
    after.collect()
}

/// Words with a qualifier that identifies one of their kind: the number after them, which is not a count or
/// date, or their owner, as in "the car park of the staff".
fn labels(sentence: &AnnotatedSentence) -> Vec<(Stem, String)> {
    let words: Vec<&str> = sentence.line.words().map(|(_, word)| word).collect();
    let is_thing = |word: &str| {
        word.chars().count() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_small(word)
            && !is_month(word)
    };
    let belonging = sentence.language.words().belonging;
    let owned = words.windows(3).enumerate().filter_map(|(at, three)| {
        let belongs = is_thing(three[0]) && Language::lists(belonging, three[1]);
        let after = words.iter().skip(at + 2).take(2).find(|word| !is_small(word))?;
        let whose = belongs && is_thing(after) && weekday(after).is_none() && !is_known_unit(after);
        whose.then(|| (stem(three[0]), stem(after).text()))
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

/// Capitalised words that do not begin a sentence. In German every noun is capitalised.
fn named(sentence: &AnnotatedSentence) -> BTreeSet<Stem> {
    if matches!(sentence.language, Language::German | Language::Japanese) {
        return BTreeSet::new();
    }
    let words = sentence.words().skip(1);
    let named = words.filter(|(start, word)| {
        word.chars().count() > 2
            && !is_small(word)
            && !is_month(word)
            && weekday(word).is_none()
            && sentence.line.after(*start).starts_with(char::is_uppercase)
    });
    named.flat_map(|(_, word)| Terms::of_folded(word).words).collect()
}

/// The first thing that a sentence mentions.
fn subject(sentence: &AnnotatedSentence) -> Option<Stem> {
    if sentence.language == Language::Japanese {
        let (topic, _) = sentence.topic_and_rest()?;
        let last = topic.char_indices().rev().nth(1).map_or(0, |(at, _)| at);
        return Terms::of(&topic[last..]).words.into_iter().next();
    }
    // "We stay at the Riviera": "stay" is the verb.
    let is_verb = |at: usize| {
        let mut hits = sentence.hits.iter();
        hits.any(|hit| hit.sign == Sign::Person && hit.end + 1 == at)
    };
    sentence
        .words()
        .filter(|(at, word)| weekday(word).is_none() && !is_month(word) && !is_verb(*at))
        .find_map(|(_, word)| Terms::of(word).words.into_iter().next())
}
