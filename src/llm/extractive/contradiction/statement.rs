//! A sentence held against the memory.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::known::{Known, Memory, RARE};
use super::spans::{clauses, old, retired};
use super::{ENDED, Force, GIVEN_UP, NAMED, OPPOSITE, REFUTED, REPLACED};
use crate::llm::extractive::cues::Sign;
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::Kind;

/// One word that no other record holds, and another one.
const SAME_THING: usize = RARE + RARE / 2;
/// Of many words shared, these are enough whatever the rest of the record says.
const MUCH: usize = 2 * RARE;

/// The parts of a sentence that are held against the memory, so that one of many commas costs no more than others.
const MAX_CLAUSES: usize = 16;

/// A sentence with what surrounds it.
pub(super) struct Statement<'s> {
    said: &'s Said,
    force: Force,
    facts: Facts,
    clauses: Vec<Clause>,
    /// The sentence itself, where it has several parts.
    whole: Option<Clause>,
    /// What the sentences beside it and the task are about: of what somebody speaks who does not name it again.
    around: Terms,
}

/// A part between commas.
struct Clause {
    facts: Facts,
    /// What is no longer so.
    old: Option<Terms>,
    /// What is given up.
    retired: Option<Terms>,
    /// What is left of it without the words that are cues.
    content: Terms,
    /// Whether it begins with a negation.
    is_denial: bool,
    refutes: bool,
    lasts_until: bool,
}

impl<'s> Statement<'s> {
    /// The sentence at a place of the session.
    pub(super) fn of(session: &'s [Said], at: usize, force: Force, topic: &Terms) -> Self {
        let said = &session[at];
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let beside = beside
            .filter_map(|at| session.get(at))
            .filter(|other| other.message == said.message && !other.void && !other.asks);
        let around = beside.fold(topic.clone(), |around, other| around.with(other.terms()));
        let clauses: Vec<Clause> = clauses(said)
            .take(MAX_CLAUSES)
            .map(|part| Clause::of(&said.part(part)))
            .collect();
        Self {
            whole: (clauses.len() > 1 && force.changes).then(|| Clause::of(said)),
            facts: Facts::of(said),
            said,
            force,
            clauses,
            around,
        }
    }

    /// The records that no longer hold if it does, and why.
    pub(super) fn outdates(&self, memory: &Memory) -> Vec<(usize, &'static str)> {
        let records = || memory.records.iter().enumerate();
        let held = || records().filter(|(_, record)| record.outdated.is_none());
        let mut found: Vec<(usize, &'static str)> = Vec::new();
        if self.force.asserts || self.force.changes {
            found.extend(self.closest(memory).map(|at| (at, REPLACED)));
        }
        for (at, record) in held() {
            let reason = self.reason(record, memory);
            found.extend(reason.map(|reason| (at, reason)));
        }
        found
    }

    fn reason(&self, record: &Known, memory: &Memory) -> Option<&'static str> {
        if self.force.changes
            && let Some(reason) = self.replaces(record, memory)
        {
            return Some(reason);
        }
        if self.force.asserts && self.opposes(record, memory) {
            return Some(OPPOSITE);
        }
        if self.force.refutes && self.refutes(record, memory) {
            return Some(REFUTED);
        }
        (self.force.ends && self.ends(record)).then_some(ENDED)
    }

    /// What it changes.
    fn replaces(&self, record: &Known, memory: &Memory) -> Option<&'static str> {
        if self.said.terms().numbers.contains(&record.id) && self.said.has(Sign::Obsolete) {
            return Some(NAMED);
        }
        let theirs = &record.facts;
        // What lies or lives somewhere is what the record speaks of first.
        let mut subjects = theirs.subject.iter();
        if self.said.has(Sign::Moved)
            && record.places
            && subjects.any(|subject| self.facts.terms.words.contains(subject))
        {
            return Some(REPLACED);
        }
        for (at, clause) in self.clauses.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| self.clauses.get(at));
            let gives_up = |retired: &Terms| !retired.is_empty() && retired.is_within(&theirs.terms);
            if clause.retired.as_ref().is_some_and(gives_up) {
                return Some(GIVEN_UP);
            }
            if self.said.has(Sign::Decision) && clause.is_denied_of(record) {
                return Some(GIVEN_UP);
            }
            if clause.replaces(record, before, memory, &self.around) {
                return Some(REPLACED);
            }
        }
        let renamed = self.clauses.iter().any(|clause| clause.renames(record, memory));
        (renamed || self.corrects_value(record, memory)).then_some(REPLACED)
    }

    /// The records to whose things it gives another value: for each part the one that it shares most with, if
    /// there is one.
    fn closest(&self, memory: &Memory) -> impl Iterator<Item = usize> {
        let best = |clause: &Clause| {
            let shared = |record: &Known| memory.shared(&self.facts.things, record);
            let fits: Vec<usize> = (0..memory.records.len())
                .filter(|at| {
                    let record = &memory.records[*at];
                    record.outdated.is_none()
                        && !self.facts.is_of_another(&record.facts)
                        && clause.revalues(record, memory, self.force)
                })
                .collect();
            let most = fits.iter().map(|at| shared(&memory.records[*at])).max()?;
            let mut closest = fits.into_iter().filter(|at| shared(&memory.records[*at]) == most);
            closest.next().filter(|_| closest.next().is_none())
        };
        let found: Vec<usize> = self.clauses.iter().chain(&self.whole).filter_map(best).collect();
        found.into_iter()
    }

    /// "82 % was soup, I'm staying at 76 %": it names the record's value and another one of the same kind.
    fn corrects_value(&self, record: &Known, memory: &Memory) -> bool {
        let known = &record.facts.values;
        let old = self.facts.values.iter().filter(|value| {
            known.iter().any(|(kind, text)| {
                *text == value.1 && (*kind == value.0 || value.0 == Kind::Bare || *kind == Kind::Plain)
            })
        });
        let mut kinds = old.map(|(kind, _)| kind);
        let is_new = |kind: &Kind, of: &Kind, text: &String| {
            (of == kind || *of == Kind::Bare) && !known.iter().any(|(_, known)| known == text)
        };
        let mut new = |kind: &Kind| self.facts.values.iter().any(|(of, text)| is_new(kind, of, text));
        let shared =
            memory.shared(&self.facts.things, record) + memory.shared(&self.around.words, record) / 2;
        shared >= RARE && kinds.any(&mut new) && !self.facts.is_of_another(&record.facts)
    }

    /// Whether it tells the opposite of a state, or of what the record denies.
    fn opposes(&self, record: &Known, memory: &Memory) -> bool {
        if self.facts.is_of_another(&record.facts) {
            return false;
        }
        let states = self
            .clauses
            .iter()
            .filter(|clause| !clause.lasts_until)
            .any(|clause| {
                record
                    .clauses
                    .iter()
                    .any(|theirs| clause.opposes(theirs, record, memory))
            });
        states || self.affirms_denied(record, memory)
    }

    /// "It IS an allergy", where the record says that there is none.
    fn affirms_denied(&self, record: &Known, memory: &Memory) -> bool {
        let tells_news = self.said.has_any(&[Sign::Change, Sign::Cause, Sign::Finding]);
        let denied = &record.facts.denied;
        let mut affirmed = self
            .facts
            .terms
            .words
            .intersection(denied)
            .filter(|word| !self.facts.denied.contains(word));
        let rest: BTreeSet<Stem> = self.facts.terms.words.difference(denied).copied().collect();
        tells_news && affirmed.next().is_some() && memory.shared(&rest, record) >= MUCH
    }

    /// Whether it says of what the record supposes that it is not so.
    fn refutes(&self, record: &Known, memory: &Memory) -> bool {
        let mut clauses = self.clauses.iter().filter(|clause| clause.refutes);
        record.supposes
            && clauses.any(|clause| {
                let words = &clause.content.words;
                clause.content.is_within(&record.facts.terms) && memory.shared(words, record) >= RARE
            })
    }

    /// Whether it reports the end that the record waits for.
    fn ends(&self, record: &Known) -> bool {
        let unfinished = [Sign::NotYet, Sign::Open, Sign::Plan, Sign::Next, Sign::Negation];
        record.waits
            && !self.said.has_any(&unfinished)
            && self.facts.terms.shared(&record.facts.terms) >= 2
            && !self.facts.is_of_another(&record.facts)
    }
}

impl Clause {
    fn of(said: &Said) -> Self {
        let folded = said.line.folded.trim_start_matches([' ', ':', ',', ';']);
        let mut words = folded.split(' ');
        Self {
            old: old(said),
            retired: retired(said),
            content: said.content().clone(),
            is_denial: matches!(
                words.next(),
                Some(
                    "no" | "kein"
                        | "keine"
                        | "keinen"
                        | "pas"
                        | "plus"
                        | "sin"
                        | "ningún"
                        | "ninguna"
                        | "nada"
                )
            ),
            refutes: said.has(Sign::Refuted),
            lasts_until: LASTING.iter().any(|word| said.line.folded.contains(word)),
            facts: Facts::of(said),
        }
    }

    /// "Decision: no stamina bar for climbing", where the record tells of that and denies nothing.
    fn is_denied_of(&self, record: &Known) -> bool {
        let terms = &self.facts.terms;
        self.is_denial
            && terms.count() >= 2
            && terms.is_within(&record.facts.terms)
            && record.facts.denied.is_disjoint(&terms.words)
    }

    /// The record says what this says to be no longer so, of the same thing.
    fn replaces(&self, record: &Known, before: Option<&Self>, memory: &Memory, around: &Terms) -> bool {
        let Some(old) = &self.old else { return false };
        let theirs = &record.facts.terms;
        if !old.numbers.is_subset(&theirs.numbers) {
            return false;
        }
        let words = old.words.intersection(&theirs.words).count();
        let says_old = if old.numbers.is_empty() {
            words * 2 >= old.words.len() && words > 0
        } else {
            true
        };
        let rest = self.facts.terms.without(old);
        let about = |terms: &Terms| terms.without(old).shared(theirs);
        let named_around = || {
            memory.is_alone_with(old)
                && (old.numbers.iter().any(|number| is_identifier(number)) || about(around) > 0)
        };
        let same_thing = about(&rest) > 0 || before.is_some_and(|before| about(&before.facts.terms) > 0);
        // A name says itself what it is about, also one with a number in it.
        says_old && (same_thing || (words > 0 && words == old.words.len()) || named_around())
    }

    /// The record gives another value of the same kind to the same thing.
    fn revalues(&self, record: &Known, memory: &Memory, force: Force) -> bool {
        let theirs = &record.facts;
        if self.old.is_some() {
            return false;
        }
        let shared = memory.shared(&self.facts.things, record);
        let subject = self.facts.subject.as_ref();
        let subject = subject.is_some_and(|subject| theirs.things.contains(subject));
        let covered = self.facts.things.intersection(&theirs.things).count();
        let mut kinds = self.facts.revalued(theirs);
        kinds.any(|kind| match kind {
            _ if shared >= SAME_THING && force.changes && theirs.denied.is_empty() => true,
            // "Billing sits at 38" says nothing of the port that it listens on.
            Kind::Plain | Kind::Bare => false,
            // What is counted says what it is about.
            Kind::Of(thing) if force.is_seen && theirs.things.contains(thing) => shared >= RARE,
            // What is not on Fridays may well be on Mondays.
            Kind::Weekday | Kind::Date | Kind::Time if !theirs.denied.is_empty() => false,
            _ if force.is_seen && covered >= 2 && shared >= RARE => true,
            _ if force.changes => subject && shared > 0,
            // Without a word of change only if it is told of nothing else.
            _ => {
                shared >= RARE
                    && subject
                    && covered * 3 >= theirs.things.len() * 2
                    && covered * 2 >= self.facts.things.len()
            }
        })
    }

    /// The record, or a part of it, tells of the opposite state of the same thing.
    fn opposes(&self, theirs: &Facts, record: &Known, memory: &Memory) -> bool {
        if !self.facts.opposes(theirs) || self.old.is_some() {
            return false;
        }
        let about = &self.facts.about;
        let covered = about.shared(&theirs.about);
        let shared = memory.shared(&about.words, record);
        let subject = self.facts.subject.as_ref();
        let subject = subject.is_some_and(|subject| theirs.about.words.contains(subject));
        // "The car park of the visitors is open": each says more of it, so that it may be another one.
        let extra = |of: &Facts, other: &Facts| {
            let mut words = of.about.words.intersection(&of.things);
            words.any(|word| !other.terms.words.contains(word))
        };
        let may_differ = extra(&self.facts, theirs) && extra(theirs, &self.facts);
        shared >= MUCH || (subject && shared > 0 && covered * 2 >= theirs.about.count() && !may_differ)
    }

    /// The same thing has another name in the record.
    fn renames(&self, record: &Known, memory: &Memory) -> bool {
        let rest = record.facts.without_names();
        let covered = rest.intersection(&self.facts.terms.words).count();
        let subject = self.facts.subject.as_ref();
        let subject = subject.is_some_and(|subject| rest.contains(subject));
        self.facts.renames(&record.facts)
            && subject
            && covered * 2 > rest.len()
            && memory.shared(&self.facts.things, record) >= RARE / 2
            && !self.facts.is_of_another(&record.facts)
    }
}

/// Words that say how long something lasts: what passes makes nothing wrong.
const LASTING: [&str; 12] = [
    " until ",
    " till ",
    " today only ",
    " bis ",
    " nur heute ",
    " jusqu'",
    " hasta ",
    " solo hoy ",
    "まで",
    " for an hour ",
    " for now ",
    " vorerst ",
];

/// Letters and digits: `eu-west-2`, `Q17`.
fn is_identifier(number: &str) -> bool {
    number.chars().count() >= 3
        && number.chars().any(char::is_alphabetic)
        && number.chars().any(|c| c.is_ascii_digit())
}
