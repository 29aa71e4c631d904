//! Compares a sentence with the memory.

use std::collections::BTreeSet;

use super::clause::{Clause, MUCH};
use super::facts::Facts;
use super::force::Force;
use super::known::{Known, Memory, RARE};
use super::reasons::{ENDED, GIVEN_UP, NAMED, OPPOSITE, REFUTED, REPLACED};
use super::spans::clauses;
use crate::llm::extractive::cues::Sign;
use crate::llm::extractive::said::Said;
use crate::llm::extractive::sentence::Voice;
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::{Kind, Value, values};

/// Maximum number of clauses compared with the memory, which bounds the cost of a sentence with many commas.
const MAX_CLAUSES: usize = 16;

/// A sentence in its context.
pub(super) struct Statement<'s> {
    said: &'s Said,
    force: Force,
    facts: Facts,
    clauses: Vec<Clause>,
    /// The whole sentence as a clause, if it has several.
    whole: Option<Clause>,
    /// The terms of the neighbouring sentences and the task, for references without a name.
    around: Terms,
    /// The facts of the sentence before, in the same message.
    before: Option<Facts>,
    /// Values that are overruled: those in a question that this sentence denies, or values just called
    /// unsuitable ("1220 is too hot").
    overruled: Vec<Value>,
    /// The terms of the sentences with those values.
    overruled_of: Terms,
    /// The words of the whole session.
    talk: &'s BTreeSet<Stem>,
}

impl<'s> Statement<'s> {
    /// Builds the statement for the sentence at an index of the session.
    pub(super) fn of(
        session: &'s [Said],
        at: usize,
        force: Force,
        topic: &Terms,
        talk: &'s BTreeSet<Stem>,
    ) -> Self {
        let said = &session[at];
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let beside = beside
            .filter_map(|at| session.get(at))
            .filter(|other| other.message == said.message && !other.void && !other.asks);
        let around = beside.fold(topic.clone(), |around, other| around.with(other.terms()));
        // "It closes at six now": the sentence before names the subject.
        let points_back = said.opens_with(Sign::Anaphor) || Said::answers_no(session, at);
        let before = at.checked_sub(1).map(|at| &session[at]);
        let before = before.filter(|before| !before.void && before.voice != Voice::Task);
        let before = before
            .filter(|before| points_back || (said.has(Sign::EndsIt) && before.message == said.message))
            .map(Facts::of);
        let whole = |facts: Facts| match &before {
            Some(before) if points_back => facts.speaking_of(before),
            _ => facts,
        };
        let clauses: Vec<Clause> = clauses(said)
            .take(MAX_CLAUSES)
            .enumerate()
            .map(|(at, part)| {
                let mut clause = Clause::of(&said.part(part));
                if at == 0 {
                    clause.facts = whole(clause.facts);
                }
                clause
            })
            .collect();
        let overruled = overruled(session, at);
        Self {
            whole: (clauses.len() > 1 && force.changes).then(|| Clause::of(said)),
            facts: whole(Facts::of(said)),
            said,
            force,
            clauses,
            around,
            before,
            overruled: overruled
                .iter()
                .flat_map(|told| values(&told.line.text))
                .collect(),
            overruled_of: overruled
                .iter()
                .fold(Terms::default(), |of, told| of.with(told.terms())),
            talk,
        }
    }

    /// Indices of the records that the statement contradicts, and the reasons.
    pub(super) fn outdates(&self, memory: &Memory) -> Vec<(usize, &'static str)> {
        let mut about = self.said.terms().clone().with(&self.overruled_of);
        about.words.extend(self.facts.things.iter().copied());
        let near = memory.sharing(&about);
        let is_left = |at: &usize| memory.records[*at].outdated.is_none();
        let mut found: Vec<(usize, &'static str)> = Vec::new();
        if self.force.asserts || self.force.changes {
            // A repeated statement refers to the record that is already archived.
            let closest = self.closest(memory, &near).filter(is_left);
            found.extend(closest.map(|at| (at, REPLACED)));
        }
        let reasons = near
            .into_iter()
            .filter(is_left)
            .filter_map(|at| Some((at, self.reason(&memory.records[at], memory)?)));
        let mut told: Vec<(usize, &'static str)> = reasons.collect();
        self.without_look_alikes(&mut told, memory);
        found.extend(told);
        found
    }

    /// Resolves ambiguity: if several records match something outdated, keeps the one closest to the
    /// sentence, then to its context, then to the session. "No longer at the hospital" may refer to the eyes
    /// or to the heart.
    fn without_look_alikes(&self, found: &mut Vec<(usize, &'static str)>, memory: &Memory) {
        let nearness = |at: usize| {
            let record = &memory.records[at];
            let told = memory.shared(&self.facts.things, record);
            let around = memory.shared(&self.around.words, record);
            (told, around + memory.shared(self.talk, record))
        };
        let replaced = found.iter().filter(|(_, reason)| *reason == REPLACED);
        let Some(nearest) = replaced.map(|(at, _)| nearness(*at)).max() else {
            return;
        };
        found.retain(|(at, reason)| *reason != REPLACED || nearness(*at) == nearest);
    }

    fn reason(&self, record: &Known, memory: &Memory) -> Option<&'static str> {
        if self.force.changes
            && let Some(reason) = self.replaces(record, memory)
        {
            return Some(reason);
        }
        if self.overrules(record, memory) {
            return Some(REPLACED);
        }
        if self.force.asserts && self.opposes(record, memory) {
            return Some(OPPOSITE);
        }
        let mut clauses = self.clauses.iter();
        let differs = |clause: &Clause| {
            clause.renames(record, memory, self.force) || clause.shifts(&self.facts, record, memory)
        };
        if self.force.asserts && clauses.any(differs) {
            return Some(REPLACED);
        }
        if self.force.explains && self.explains_otherwise(record) {
            return Some(REFUTED);
        }
        if self.force.refutes && self.refutes(record, memory) {
            return Some(REFUTED);
        }
        (self.force.ends && self.ends(record)).then_some(ENDED)
    }

    /// Why the statement replaces the record, if it does.
    fn replaces(&self, record: &Known, memory: &Memory) -> Option<&'static str> {
        if self.said.terms().numbers.contains(&record.id) && self.said.has(Sign::Obsolete) {
            return Some(NAMED);
        }
        let theirs = &record.facts;
        // The thing that moved must be the subject of the record.
        let mut subjects = theirs.subject.iter();
        if self.said.has(Sign::Moved)
            && record.places
            && subjects.any(|subject| self.facts.terms.words.contains(subject))
        {
            return Some(REPLACED);
        }
        for (at, clause) in self.clauses.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| self.clauses.get(at));
            if clause.gives_up(record, memory) {
                return Some(GIVEN_UP);
            }
            if self.said.has(Sign::Decision) && clause.is_denied_of(record) {
                return Some(GIVEN_UP);
            }
            if clause.ends(record, memory) {
                return Some(GIVEN_UP);
            }
            let told = before.map(|before| &before.facts).or(self.before.as_ref());
            if told.is_some_and(|told| clause.ends_what_was_told(told, record, memory)) {
                return Some(GIVEN_UP);
            }
            if clause.replaces(record, before, memory, &self.around) {
                return Some(REPLACED);
            }
        }
        let mut clauses = self.clauses.iter();
        let renamed = clauses.any(|clause| {
            clause.renames(record, memory, self.force)
                || clause.narrows(&self.facts, record, memory)
                || clause.retells(record, memory)
                || clause.reassigns(record, memory)
        });
        (renamed || self.corrects_value(record, memory)).then_some(REPLACED)
    }

    /// Indices of the records to which the statement gives another value: for each clause the record with
    /// most shared terms, if there is one.
    fn closest(&self, memory: &Memory, near: &[usize]) -> impl Iterator<Item = usize> {
        // "The order has to be in by Monday" is a different order if both have names.
        let is_due = self.said.has(Sign::Open);
        let best = |clause: &Clause| {
            let shared = |at: usize| memory.shared(&self.facts.things, &memory.records[at]);
            let fits = near.iter().copied().filter(|at| {
                let record = &memory.records[*at];
                clause.revalues(record, memory, self.force)
                    && !self.facts.is_of_another(&record.facts)
                    && !(is_due && self.facts.names_others(&record.facts))
            });
            let fits: Vec<(usize, usize)> = fits.map(|at| (shared(at), at)).collect();
            let most = fits.iter().map(|(shared, _)| *shared).max()?;
            let mut closest = fits.into_iter().filter(|(shared, _)| *shared == most);
            closest
                .next()
                .filter(|_| closest.next().is_none())
                .map(|(_, at)| at)
        };
        let found: Vec<usize> = self.clauses.iter().chain(&self.whole).filter_map(best).collect();
        found.into_iter()
    }

    /// "1220 is too hot. We go to 1205.": gives another value than the one just overruled, which no other
    /// record has.
    fn overrules(&self, record: &Known, memory: &Memory) -> bool {
        let gives = |value: &Value, of: &Facts| {
            let mut values = of.values.iter();
            values.any(|known| known.1 == value.1 && is_alike(known, value))
        };
        let mut overruled = self.overruled.iter().filter(|value| gives(value, &record.facts));
        overruled.any(|old| {
            let is_other = |new: &&Value| new.1 != old.1 && is_alike(new, old);
            let mut holders = memory.records.iter().filter(|record| gives(old, &record.facts));
            self.facts.values.iter().any(|new| is_other(&new))
                && holders.next().is_some()
                && holders.next().is_none()
                && !self.facts.is_of_another(&record.facts)
        })
    }

    /// "82 % was soup, I'm staying at 76 %": contains the record's value and another one of the same kind.
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

    /// Whether it states the opposite of a state, or what the record denies.
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
        let mut clauses = self.clauses.iter();
        states
            || self.affirms_denied(record, memory)
            || (!self.force.adds && clauses.any(|clause| clause.denies(record, memory)))
    }

    /// "It IS an allergy", where the record denies that.
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

    /// Whether it refutes the assumption of the record.
    fn refutes(&self, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        self.clauses.iter().any(|clause| {
            let words = &clause.content.words;
            let within = clause.content.is_within(&theirs.terms);
            let shared = memory.shared(words, record);
            let supposed = record.supposes && clause.refutes && within && shared >= RARE;
            // "It's not a leak under the floor", where the record states that it is.
            let denied =
                clause.is_not && within && words.len() >= 2 && shared >= MUCH && theirs.denied.is_empty();
            supposed
                || denied
                || clause.clears(record, memory)
                || (clause.refutes && clause.content.is_empty() && self.takes_back(record, memory))
        })
    }

    /// "You had it down as the bank leaving out the id, it can't be that": refutes an earlier statement.
    fn takes_back(&self, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        let covered = self.facts.things.intersection(&theirs.things).count();
        covered * 2 >= theirs.things.len() && memory.shared(&self.facts.things, record) >= MUCH
    }

    /// "The 502s happen because Node closes its connections", where the record gives another cause.
    fn explains_otherwise(&self, record: &Known) -> bool {
        let Some((effect, cause)) = &record.explains else {
            return false;
        };
        let told = self.around.clone().with(&self.facts.terms);
        effect.count() >= 2
            && !cause.is_empty()
            && effect.is_within(&told)
            && effect.shared(&self.facts.terms) * 2 >= effect.count()
            && cause.shared(&self.facts.terms) == 0
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

/// Whether the values are of one kind, or numbers with equally many digits and no unit.
fn is_alike(new: &Value, old: &Value) -> bool {
    let digits = |value: &Value| value.1.bytes().filter(u8::is_ascii_digit).count();
    let is_unknown = |value: &Value| matches!(value.0, Kind::Plain | Kind::Bare);
    new.0 == old.0 || ((is_unknown(new) || is_unknown(old)) && digits(new) == digits(old) && digits(new) >= 3)
}

/// The sentences with overruled values: a question that this sentence denies, or values just called
/// unsuitable.
fn overruled(session: &[Said], at: usize) -> Vec<&Said> {
    let said = &session[at];
    if said.voice != Voice::User {
        return Vec::new();
    }
    let will_not_do = |before: &&Said| {
        let same = before.message == said.message && !before.void && !before.asks;
        same && before.has_any(&[Sign::Excess, Sign::Obsolete])
    };
    let beside = &session[at.saturating_sub(2)..at];
    let asked = Said::answers_no(session, at).then(|| &session[at - 1]);
    beside.iter().filter(will_not_do).chain(asked).collect()
}
