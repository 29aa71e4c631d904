//! Compares a part of a sentence with the memory.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::force::Force;
use super::known::{Known, Memory, RARE};
use super::spans::{is_named, leading_name, old, old_text, retired_text};
use crate::llm::extractive::cues::{Language, Sign};
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::{Kind, values};

/// The weight of a word that only one record contains plus another word.
const SAME_THING: usize = RARE + RARE / 2;
/// With this weight of shared words the rest of the record does not matter.
pub(super) const MUCH: usize = 2 * RARE;

/// A part of a sentence between commas.
pub(super) struct Clause {
    pub(super) facts: Facts,
    /// The terms that it says do not hold any more.
    pub(super) old: Option<Terms>,
    /// The values in those terms, so that "ten" and "10" match.
    old_values: Vec<String>,
    /// Whether those terms are one ordinary word, such as "main" or "member", that may occur in any record.
    old_is_plain: bool,
    /// The terms that it says are given up.
    pub(super) retired: Option<Terms>,
    /// The name at the beginning of those terms.
    pub(super) retired_name: Option<Terms>,
    /// Its terms without cue words.
    pub(super) content: Terms,
    /// Whether it begins with a negation.
    pub(super) is_denial: bool,
    pub(super) refutes: bool,
    /// "That was never the cause".
    pub(super) clears: bool,
    /// "It's not …": the rest of the clause is denied.
    pub(super) is_not: bool,
    /// "Nobody … any more".
    is_over: bool,
    /// Whether the ended thing precedes the cue.
    pub(super) ends_before: bool,
    /// "We cancelled them": ends what the clause before is about.
    pub(super) ends_it: bool,
    /// "I didn't take it this morning" is about a single occasion.
    is_once: bool,
    /// "Only at ten": excludes other values.
    is_only: bool,
    /// "As planned": nothing changed.
    confirms: bool,
    /// "Lowered": an amount changed.
    shifts_amount: bool,
    /// "Took over": a responsibility changed.
    shifts_hands: bool,
    pub(super) lasts_until: bool,
}

impl Clause {
    pub(super) fn of(said: &Said) -> Self {
        let folded = said.line.folded.trim_start_matches([' ', ':', ',', ';']);
        let first = folded.split(' ').next().unwrap_or_default();
        let facts = Facts::of(said);
        // "Closes at six" is not an end.
        let retired_text = retired_text(said);
        let is_hour = facts.gives(&Kind::Time) && said.has(Sign::Shuts);
        let old = old(said).filter(|_| !is_hour);
        Self {
            old_values: old_text(said).map_or_else(Vec::new, |text| {
                values(text).into_iter().map(|(_, value)| value).collect()
            }),
            old_is_plain: old
                .as_ref()
                .is_some_and(|old| old.count() == 1 && !is_named(said, old)),
            old,
            retired: retired_text.map(Terms::of).filter(|terms| !terms.is_empty()),
            retired_name: retired_text.and_then(leading_name),
            clears: said.has(Sign::NotCause),
            content: said.content().clone(),
            is_denial: Language::lists(said.language.words().denying, first),
            refutes: said.has(Sign::Refuted),
            is_not: said.has(Sign::IsNot),
            is_over: said.has(Sign::AnyMore) && said.has_any(&[Sign::Negation, Sign::Denial]),
            ends_before: said.has(Sign::OldBefore),
            shifts_amount: said.has(Sign::Amount),
            shifts_hands: said.has(Sign::Hands),
            ends_it: said.has(Sign::EndsIt),
            is_once: said.has_any(&[Sign::Moment, Sign::Past]) && !said.has(Sign::Change),
            is_only: said.has(Sign::Only),
            confirms: said.has(Sign::Confirming),
            lasts_until: said.has(Sign::Lasting),
            facts,
        }
    }

    /// Whether the record contains what the clause says does not hold any more, about the same thing.
    pub(super) fn replaces(
        &self,
        record: &Known,
        before: Option<&Self>,
        memory: &Memory,
        around: &Terms,
    ) -> bool {
        let Some(old) = &self.old else { return false };
        let theirs = &record.facts.terms;
        if !old.numbers.is_subset(&theirs.numbers) {
            return false;
        }
        let told: BTreeSet<Stem> = old.words.intersection(&theirs.words).copied().collect();
        let words = told.len();
        let gives = |value: &String| theirs_give(record, value);
        let says_value = !self.old_values.is_empty() && self.old_values.iter().all(gives);
        let says_old = if says_value {
            true
        } else if old.numbers.is_empty() {
            words * 2 >= old.words.len() && words > 0
        } else {
            true
        };
        let rest = self.facts.terms.without(old);
        let about = |terms: &Terms| terms.without(old).shared(theirs);
        let named_around = || {
            memory.is_alone_with(old)
                && (words == old.words.len() || says_value)
                && (old.numbers.iter().any(|number| is_identifier(number)) || about(around) > 0)
        };
        let same_thing = about(&rest) > 0 || before.is_some_and(|before| about(&before.facts.terms) > 0);
        // A name, also one with a number, identifies its thing. One ordinary word may be in any record, and
        // matches only where it is the record's subject.
        let subject = record
            .facts
            .subject
            .is_some_and(|subject| told.contains(&subject));
        let names_it = words > 1 || !old.numbers.is_empty() || !self.old_is_plain || subject;
        let is_nearly_whole =
            words >= 2 && words * 3 >= old.words.len() * 2 && memory.weight(told.iter()) >= MUCH;
        // "MySQLのサーバーは電源を落としました": a word in Latin letters is a name.
        let is_foreign = |word: &&Stem| word.text().bytes().all(|b| b.is_ascii_alphanumeric());
        let in_japanese = || old.words.iter().any(|word| word.text().starts_with(is_japanese));
        let by_foreign_name = in_japanese()
            && memory.weight(told.iter().filter(is_foreign)) >= RARE
            && words * 2 >= old.words.len();
        let is_whole =
            (words > 0 && words == old.words.len() && names_it) || is_nearly_whole || by_foreign_name;
        let is_told = is_whole || (self.is_over && memory.weight(told.iter()) >= MUCH);
        says_old && (same_thing || is_told || named_around())
    }

    /// Whether the record gives another value of the same kind to the same thing.
    pub(super) fn revalues(&self, record: &Known, memory: &Memory, force: Force) -> bool {
        let theirs = &record.facts;
        if self.old.is_some() || self.facts.names_others(theirs) {
            return false;
        }
        let shared = memory.shared(&self.facts.things, record);
        // "Tried on replica-1" does not affect a report that reads from replica-2.
        if self.facts.is_of_series(theirs, shared > 0) {
            return true;
        }
        let subject = self.facts.shares_subject(theirs);
        let covered = self.facts.things.intersection(&theirs.things).count();
        // "On 12 May it begins at seven" is about that day only.
        let is_of_a_day = self.facts.gives(&Kind::Date) && !theirs.gives(&Kind::Date) && !force.changes;
        let mut kinds = self.facts.revalued(theirs);
        kinds.any(|kind| match kind {
            _ if is_of_a_day => false,
            _ if shared >= SAME_THING && force.changes && theirs.denied.is_empty() => true,
            // "Billing sits at 38" does not affect the port that it listens on.
            Kind::Plain | Kind::Bare if !is_restated(covered, &self.facts, theirs) => false,
            // The unit shows what an amount is about.
            Kind::Of(thing) if force.is_seen && theirs.things.contains(thing) => shared >= RARE,
            // What does not happen on Fridays may happen on Mondays.
            Kind::Weekday | Kind::Date | Kind::Time if !theirs.denied.is_empty() => false,
            _ if force.is_seen && covered >= 2 && shared >= RARE => true,
            _ if force.changes => subject && shared > 0,
            // Without a sign of change only if the clause adds nothing else.
            _ => shared >= RARE && subject && !force.adds && is_half(covered, &self.facts, theirs),
        })
    }

    /// "On Saturdays at ten only", where the record has that hour and another one.
    pub(super) fn narrows(&self, whole: &Facts, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        self.is_only
            && theirs.denied.is_empty()
            && self.facts.gives_fewer(theirs)
            && whole.shares_subject(theirs)
            && memory.shared(&whole.things, record) >= RARE
            && !whole.is_of_another(theirs)
    }

    /// Whether it restates the record negated, or restates positively what the record denies.
    pub(super) fn denies(&self, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        let turned = |of: &Facts, other: &Facts| {
            other.denied.is_empty() && of.denied.iter().any(|word| other.things.contains(word))
        };
        let covered = self.facts.things.intersection(&theirs.things).count();
        let by_states = !self.facts.states.is_empty() && !theirs.states.is_empty();
        // All its terms are in the record, or neither has many other terms.
        let is_same = covered == self.facts.things.len() || is_half(covered, &self.facts, theirs);
        self.old.is_none()
            && !self.is_once
            && !by_states
            && (turned(&self.facts, theirs) || turned(theirs, &self.facts))
            && covered * 3 >= self.facts.things.len() * 2
            && is_same
            && self.facts.shares_subject(theirs)
            && self.facts.adds_no_value(theirs)
            && memory.shared(&self.facts.things, record) >= MUCH
            && !self.facts.is_of_another(theirs)
    }

    /// Whether the record, or a part of it, states the opposite state of the same thing.
    pub(super) fn opposes(&self, theirs: &Facts, record: &Known, memory: &Memory) -> bool {
        if !self.facts.opposes(theirs) || self.old.is_some() {
            return false;
        }
        let about = &self.facts.about;
        let covered = about.shared(&theirs.about);
        let shared = memory.shared(&about.words, record);
        let subject = self.facts.subject.as_ref();
        let subject = subject.is_some_and(|subject| theirs.about.words.contains(subject));
        // "The car park of the visitors is open": if both have additional terms they may be about different
        // things.
        let extra = |of: &Facts, other: &Facts| {
            let mut words = of.about.words.intersection(&of.things);
            words.any(|word| !other.terms.words.contains(word))
        };
        let may_differ = extra(&self.facts, theirs) && extra(theirs, &self.facts);
        shared >= MUCH || (subject && shared > 0 && covered * 2 >= theirs.about.count() && !may_differ)
    }

    /// Whether the record has another name or place for the same thing.
    pub(super) fn renames(&self, record: &Known, memory: &Memory, force: Force) -> bool {
        let theirs = &record.facts;
        if self.confirms || self.facts.shares_value(theirs) || self.facts.is_narrower(theirs) {
            return false;
        }
        let shared = memory.shared(&self.facts.things, record);
        let differs = |unnamed: bool| {
            let rest = theirs.without_names(unnamed);
            let covered = rest.intersection(&self.facts.terms.words).count();
            let enough = match force.changes {
                true => covered * 2 >= rest.len() && shared >= RARE / 2,
                false => covered * 3 >= rest.len() * 2 && shared >= RARE && !force.adds,
            };
            let subject = self.facts.subject.is_some_and(|subject| rest.contains(&subject));
            subject
                && covered > 0
                && enough
                && theirs.denied.is_empty()
                && self.facts.renames(theirs, unnamed)
        };
        let may_lack_name = (force.changes && record.places) || shared >= MUCH;
        (differs(false) || (may_lack_name && differs(true))) && !self.facts.is_of_another(theirs)
    }

    /// "They lower the statin to half a tablet", "Ana took over the roster": the amount or the responsible
    /// person in the record changed.
    pub(super) fn shifts(&self, whole: &Facts, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        let amounts = |facts: &Facts| {
            facts
                .values
                .iter()
                .any(|(kind, _)| matches!(kind, Kind::Of(_) | Kind::Percent | Kind::Plain))
        };
        let shifts = (self.shifts_amount && amounts(theirs))
            || (self.shifts_hands
                && !theirs.names.is_empty()
                && theirs.names.is_disjoint(&self.facts.terms.words));
        // "Ms Vasseur is away, Mr Okafor takes over the file"
        let by_whom = if self.shifts_hands { whole } else { &self.facts };
        let named = !theirs.names.is_disjoint(&by_whom.names);
        shifts
            && !self.confirms
            && !self.facts.shares_value(theirs)
            && (named
                || self.facts.shares_subject(theirs)
                || memory.shared(&self.facts.things, record) >= MUCH)
            && memory.shared(&self.facts.things, record) >= RARE
            && (self.shifts_hands || !self.facts.names_others(theirs))
            && !self.facts.is_narrower(theirs)
            && !self.facts.is_of_another(theirs)
    }

    /// "Tomasz is on-call lead for checkout now": assigns to somebody else what a part of the record states.
    pub(super) fn reassigns(&self, record: &Known, memory: &Memory) -> bool {
        record.clauses.iter().any(|theirs| {
            let covered: BTreeSet<Stem> = self.facts.things.intersection(&theirs.things).copied().collect();
            let is_other = |of: &Facts, other: &Facts| {
                of.things.len() - covered.len() == 1
                    && of.subject.is_some_and(|subject| !other.things.contains(&subject))
            };
            covered.len() >= 3
                && is_other(&self.facts, theirs)
                && is_other(theirs, &self.facts)
                && !self.confirms
                && theirs.denied.is_empty()
                && self.facts.denied.is_empty()
                && self.facts.adds_no_value(theirs)
                && memory.weight(covered.iter()) >= RARE
                && !self.facts.is_of_another(theirs)
        })
    }

    /// Whether it restates most of the record with a different rest.
    pub(super) fn retells(&self, record: &Known, memory: &Memory) -> bool {
        let theirs = &record.facts;
        let covered = self.facts.things.intersection(&theirs.things).count();
        let has_more = |of: &Facts| of.things.len() > covered;
        covered >= 3
            && covered * 3 >= theirs.things.len() * 2
            && !self.confirms
            && !self.facts.shares_value(theirs)
            && has_more(&self.facts)
            && has_more(theirs)
            && self.facts.shares_subject(theirs)
            && memory.shared(&self.facts.things, record) >= MUCH + RARE
            && !self.facts.names_others(theirs)
            && !self.facts.is_of_another(theirs)
    }
}

fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

fn theirs_give(record: &Known, value: &String) -> bool {
    record.facts.values.iter().any(|(_, theirs)| theirs == value)
}

/// Whether a text restates two thirds of the other and adds little.
fn is_restated(covered: usize, of: &Facts, other: &Facts) -> bool {
    covered * 3 >= other.things.len() * 2 && covered * 3 >= of.things.len() * 2
}

fn is_half(covered: usize, of: &Facts, other: &Facts) -> bool {
    covered * 2 >= other.things.len() && covered * 2 >= of.things.len()
}

/// Letters and digits: `eu-west-2`, `Q17`.
fn is_identifier(number: &str) -> bool {
    number.chars().count() >= 3
        && number.chars().any(char::is_alphabetic)
        && number.chars().any(|c| c.is_ascii_digit())
}
