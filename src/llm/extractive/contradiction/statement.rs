//! Compares a sentence with the memory.

use std::collections::BTreeSet;

use super::clause::{Clause, STRONG_MATCH};
use super::effects::Effects;
use super::facts::Facts;
use super::parsed_record::{Memory, ParsedRecord, RARE};
use super::reasons::{ENDED, GIVEN_UP, NAMED, OPPOSITE, REFUTED, REPLACED};
use super::spans::clauses;
use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::Sign;
use crate::llm::extractive::sentence::Voice;
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::{Kind, Value, values};

/// Maximum number of clauses compared with the memory, which bounds the cost of a sentence with many commas.
const MAX_CLAUSES: usize = 16;

/// A sentence in its context.
pub(super) struct Statement<'s> {
    sentence: &'s AnnotatedSentence,
    effects: Effects,
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
        session: &'s [AnnotatedSentence],
        at: usize,
        effects: Effects,
        topic: &Terms,
        talk: &'s BTreeSet<Stem>,
    ) -> Self {
        let sentence = &session[at];
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let beside = beside
            .filter_map(|at| session.get(at))
            .filter(|other| other.message == sentence.message && !other.excluded && !other.asks);
        let around = beside.fold(topic.clone(), |around, other| around.with(other.terms()));
        // "It closes at six now": the sentence before names the subject.
        let refers_back = sentence.opens_with(Sign::Anaphor) || AnnotatedSentence::answers_no(session, at);
        let before = at.checked_sub(1).map(|at| &session[at]);
        let before = before.filter(|before| !before.excluded && before.voice != Voice::Task);
        let before = before
            .filter(|before| {
                refers_back || (sentence.has(Sign::EndsIt) && before.message == sentence.message)
            })
            .map(Facts::of);
        let whole = |facts: Facts| match &before {
            Some(before) if refers_back => facts.with_subject_of(before),
            _ => facts,
        };
        let clauses: Vec<Clause> = clauses(sentence)
            .take(MAX_CLAUSES)
            .enumerate()
            .map(|(at, part)| {
                let mut clause = Clause::of(&sentence.part(part));
                if at == 0 {
                    clause.facts = whole(clause.facts);
                }
                clause
            })
            .collect();
        let overruled = overruled(session, at);
        Self {
            whole: (clauses.len() > 1 && effects.changes).then(|| Clause::of(sentence)),
            facts: whole(Facts::of(sentence)),
            sentence,
            effects,
            clauses,
            around,
            before,
            overruled: overruled
                .iter()
                .flat_map(|sentence| values(&sentence.line.text))
                .collect(),
            overruled_of: overruled
                .iter()
                .fold(Terms::default(), |of, sentence| of.with(sentence.terms())),
            talk,
        }
    }

    /// Indices of the records that the statement contradicts, and the reasons.
    pub(super) fn outdates(&self, memory: &Memory) -> Vec<(usize, &'static str)> {
        let mut about = self.sentence.terms().clone().with(&self.overruled_of);
        about.words.extend(self.facts.things.iter().copied());
        let near = memory.sharing(&about);
        let is_left = |at: &usize| memory.records[*at].outdated.is_none();
        let mut found: Vec<(usize, &'static str)> = Vec::new();
        if self.effects.asserts || self.effects.changes {
            // A repeated statement refers to the record that is already archived.
            let closest = self.closest(memory, &near).filter(is_left);
            found.extend(closest.map(|at| (at, REPLACED)));
        }
        let reasons = near
            .into_iter()
            .filter(is_left)
            .filter_map(|at| Some((at, self.reason(&memory.records[at], memory)?)));
        let mut reasons: Vec<(usize, &'static str)> = reasons.collect();
        self.without_ambiguous(&mut reasons, memory);
        found.extend(reasons);
        found
    }

    /// Resolves ambiguity: if several records match something outdated, keeps the one closest to the
    /// sentence, then to its context, then to the session. "No longer at the hospital" may refer to the eyes
    /// or to the heart.
    fn without_ambiguous(&self, found: &mut Vec<(usize, &'static str)>, memory: &Memory) {
        let nearness = |at: usize| {
            let record = &memory.records[at];
            let own = memory.shared(&self.facts.things, record);
            let around = memory.shared(&self.around.words, record);
            (own, around + memory.shared(self.talk, record))
        };
        let replaced = found.iter().filter(|(_, reason)| *reason == REPLACED);
        let Some(nearest) = replaced.map(|(at, _)| nearness(*at)).max() else {
            return;
        };
        found.retain(|(at, reason)| *reason != REPLACED || nearness(*at) == nearest);
    }

    fn reason(&self, record: &ParsedRecord, memory: &Memory) -> Option<&'static str> {
        if self.effects.changes
            && let Some(reason) = self.replaces(record, memory)
        {
            return Some(reason);
        }
        if self.overrules(record, memory) {
            return Some(REPLACED);
        }
        if self.effects.asserts && self.opposes(record, memory) {
            return Some(OPPOSITE);
        }
        let mut clauses = self.clauses.iter();
        let differs = |clause: &Clause| {
            clause.renames(record, memory, self.effects)
                || clause.changes_amount_or_owner(&self.facts, record, memory)
        };
        if self.effects.asserts && clauses.any(differs) {
            return Some(REPLACED);
        }
        if self.effects.explains && self.explains_otherwise(record) {
            return Some(REFUTED);
        }
        if self.effects.refutes && self.refutes(record, memory) {
            return Some(REFUTED);
        }
        (self.effects.ends && self.ends(record)).then_some(ENDED)
    }

    /// Why the statement replaces the record, if it does.
    fn replaces(&self, record: &ParsedRecord, memory: &Memory) -> Option<&'static str> {
        if self.sentence.terms().numbers.contains(&record.id) && self.sentence.has(Sign::Obsolete) {
            return Some(NAMED);
        }
        let record_facts = &record.facts;
        // The thing that moved must be the subject of the record.
        let mut subjects = record_facts.subject.iter();
        if self.sentence.has(Sign::Moved)
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
            if self.sentence.has(Sign::Decision) && clause.is_denied_of(record) {
                return Some(GIVEN_UP);
            }
            if clause.ends(record, memory) {
                return Some(GIVEN_UP);
            }
            let previous = before.map(|before| &before.facts).or(self.before.as_ref());
            if previous.is_some_and(|previous| clause.ends_previous_subject(previous, record, memory)) {
                return Some(GIVEN_UP);
            }
            if clause.replaces(record, before, memory, &self.around) {
                return Some(REPLACED);
            }
        }
        let mut clauses = self.clauses.iter();
        let renamed = clauses.any(|clause| {
            clause.renames(record, memory, self.effects)
                || clause.narrows(&self.facts, record, memory)
                || clause.restates(record, memory)
                || clause.changes_assignment(record, memory)
        });
        (renamed || self.corrects_value(record, memory)).then_some(REPLACED)
    }

    /// Indices of the records to which the statement gives another value: for each clause the record with
    /// most shared terms, if there is one.
    fn closest(&self, memory: &Memory, near: &[usize]) -> impl Iterator<Item = usize> {
        // "The order has to be in by Monday" is a different order if both have names.
        let is_due = self.sentence.has(Sign::Open);
        let best = |clause: &Clause| {
            let shared = |at: usize| memory.shared(&self.facts.things, &memory.records[at]);
            let fits = near.iter().copied().filter(|at| {
                let record = &memory.records[*at];
                clause.changes_value(record, memory, self.effects)
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
    fn overrules(&self, record: &ParsedRecord, memory: &Memory) -> bool {
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
    fn corrects_value(&self, record: &ParsedRecord, memory: &Memory) -> bool {
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
    fn opposes(&self, record: &ParsedRecord, memory: &Memory) -> bool {
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
                    .any(|record_facts| clause.opposes(record_facts, record, memory))
            });
        let mut clauses = self.clauses.iter();
        states
            || self.affirms_denied(record, memory)
            || (!self.effects.adds && clauses.any(|clause| clause.denies(record, memory)))
    }

    /// "It IS an allergy", where the record denies that.
    fn affirms_denied(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let tells_news = self.sentence.has_any(&[Sign::Change, Sign::Cause, Sign::Finding]);
        let denied = &record.facts.denied;
        let mut affirmed = self
            .facts
            .terms
            .words
            .intersection(denied)
            .filter(|word| !self.facts.denied.contains(word));
        let rest: BTreeSet<Stem> = self.facts.terms.words.difference(denied).copied().collect();
        tells_news && affirmed.next().is_some() && memory.shared(&rest, record) >= STRONG_MATCH
    }

    /// Whether it refutes the assumption of the record.
    fn refutes(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        self.clauses.iter().any(|clause| {
            let words = &clause.content.words;
            let within = clause.content.is_within(&record_facts.terms);
            let shared = memory.shared(words, record);
            let supposed = record.supposes && clause.refutes && within && shared >= RARE;
            // "It's not a leak under the floor", where the record states that it is.
            let denied = clause.is_not
                && within
                && words.len() >= 2
                && shared >= STRONG_MATCH
                && record_facts.denied.is_empty();
            supposed
                || denied
                || clause.clears(record, memory)
                || (clause.refutes && clause.content.is_empty() && self.retracts(record, memory))
        })
    }

    /// "You had it down as the bank leaving out the id, it can't be that": refutes an earlier statement.
    fn retracts(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        let covered = self.facts.things.intersection(&record_facts.things).count();
        covered * 2 >= record_facts.things.len() && memory.shared(&self.facts.things, record) >= STRONG_MATCH
    }

    /// "The 502s happen because Node closes its connections", where the record gives another cause.
    fn explains_otherwise(&self, record: &ParsedRecord) -> bool {
        let Some((effect, cause)) = &record.explains else {
            return false;
        };
        let context = self.around.clone().with(&self.facts.terms);
        effect.count() >= 2
            && !cause.is_empty()
            && effect.is_within(&context)
            && effect.shared(&self.facts.terms) * 2 >= effect.count()
            && cause.shared(&self.facts.terms) == 0
    }

    /// Whether it reports the end that the record waits for.
    fn ends(&self, record: &ParsedRecord) -> bool {
        let unfinished = [Sign::NotYet, Sign::Open, Sign::Plan, Sign::Next, Sign::Negation];
        record.waits
            && !self.sentence.has_any(&unfinished)
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
fn overruled(session: &[AnnotatedSentence], at: usize) -> Vec<&AnnotatedSentence> {
    let sentence = &session[at];
    if sentence.voice != Voice::User {
        return Vec::new();
    }
    let will_not_do = |before: &&AnnotatedSentence| {
        let same = before.message == sentence.message && !before.excluded && !before.asks;
        same && before.has_any(&[Sign::Excess, Sign::Obsolete])
    };
    let beside = &session[at.saturating_sub(2)..at];
    let asked = AnnotatedSentence::answers_no(session, at).then(|| &session[at - 1]);
    beside.iter().filter(will_not_do).chain(asked).collect()
}
