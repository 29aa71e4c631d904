//! Compares a part of a sentence with the memory.

use std::collections::BTreeSet;

use super::effects::Effects;
use super::facts::Facts;
use super::parsed_record::{Memory, ParsedRecord, RARE};
use super::spans::{is_named, leading_name, old, old_text, retired_text};
use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::{Language, Sign};
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::{Kind, values};

/// The weight of a word that only one record contains plus another word.
const SAME_SUBJECT: usize = RARE + RARE / 2;
/// With this weight of shared words the rest of the record does not matter.
pub(super) const STRONG_MATCH: usize = 2 * RARE;

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
    changes_amount: bool,
    /// "Took over": a responsibility changed.
    changes_owner: bool,
    pub(super) lasts_until: bool,
}

impl Clause {
    pub(super) fn of(sentence: &AnnotatedSentence) -> Self {
        let folded = sentence.line.folded.trim_start_matches([' ', ':', ',', ';']);
        let first = folded.split(' ').next().unwrap_or_default();
        let facts = Facts::of(sentence);
        // "Closes at six" is not an end.
        let retired_text = retired_text(sentence);
        let is_hour = facts.gives(&Kind::Time) && sentence.has(Sign::Shuts);
        let old = old(sentence).filter(|_| !is_hour);
        Self {
            old_values: old_text(sentence).map_or_else(Vec::new, |text| {
                values(text).into_iter().map(|(_, value)| value).collect()
            }),
            old_is_plain: old
                .as_ref()
                .is_some_and(|old| old.count() == 1 && !is_named(sentence, old)),
            old,
            retired: retired_text.map(Terms::of).filter(|terms| !terms.is_empty()),
            retired_name: retired_text.and_then(leading_name),
            clears: sentence.has(Sign::NotCause),
            content: sentence.content().clone(),
            is_denial: Language::lists(sentence.language.words().denying, first),
            refutes: sentence.has(Sign::Refuted),
            is_not: sentence.has(Sign::IsNot),
            is_over: sentence.has(Sign::AnyMore) && sentence.has_any(&[Sign::Negation, Sign::Denial]),
            ends_before: sentence.has(Sign::OldBefore),
            changes_amount: sentence.has(Sign::Amount),
            changes_owner: sentence.has(Sign::Hands),
            ends_it: sentence.has(Sign::EndsIt),
            is_once: sentence.has_any(&[Sign::Moment, Sign::Past]) && !sentence.has(Sign::Change),
            is_only: sentence.has(Sign::Only),
            confirms: sentence.has(Sign::Confirming),
            lasts_until: sentence.has(Sign::Lasting),
            facts,
        }
    }

    /// Whether the record contains what the clause says does not hold any more, about the same thing.
    pub(super) fn replaces(
        &self,
        record: &ParsedRecord,
        before: Option<&Self>,
        memory: &Memory,
        around: &Terms,
    ) -> bool {
        let Some(old) = &self.old else { return false };
        let record_facts = &record.facts.terms;
        if !old.numbers.is_subset(&record_facts.numbers) {
            return false;
        }
        let shared: BTreeSet<Stem> = old.words.intersection(&record_facts.words).copied().collect();
        let words = shared.len();
        let gives = |value: &String| record_gives(record, value);
        let says_value = !self.old_values.is_empty() && self.old_values.iter().all(gives);
        let says_old = if says_value {
            true
        } else if old.numbers.is_empty() {
            words * 2 >= old.words.len() && words > 0
        } else {
            true
        };
        let rest = self.facts.terms.without(old);
        let about = |terms: &Terms| terms.without(old).shared(record_facts);
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
            .is_some_and(|subject| shared.contains(&subject));
        let names_it = words > 1 || !old.numbers.is_empty() || !self.old_is_plain || subject;
        let is_nearly_whole =
            words >= 2 && words * 3 >= old.words.len() * 2 && memory.weight(shared.iter()) >= STRONG_MATCH;
        // "MySQLのサーバーは電源を落としました": a word in Latin letters is a name.
        let is_foreign = |word: &&Stem| word.text().bytes().all(|b| b.is_ascii_alphanumeric());
        let in_japanese = || old.words.iter().any(|word| word.text().starts_with(is_japanese));
        let by_foreign_name = in_japanese()
            && memory.weight(shared.iter().filter(is_foreign)) >= RARE
            && words * 2 >= old.words.len();
        let is_whole =
            (words > 0 && words == old.words.len() && names_it) || is_nearly_whole || by_foreign_name;
        let is_mentioned = is_whole || (self.is_over && memory.weight(shared.iter()) >= STRONG_MATCH);
        says_old && (same_thing || is_mentioned || named_around())
    }

    /// Whether the record gives another value of the same kind to the same thing.
    pub(super) fn changes_value(&self, record: &ParsedRecord, memory: &Memory, effects: Effects) -> bool {
        let record_facts = &record.facts;
        if self.old.is_some() || self.facts.names_others(record_facts) {
            return false;
        }
        let shared = memory.shared(&self.facts.things, record);
        // "Tried on replica-1" does not affect a report that reads from replica-2.
        if self.facts.is_of_series(record_facts, shared > 0) {
            return true;
        }
        let subject = self.facts.shares_subject(record_facts);
        let covered = self.facts.things.intersection(&record_facts.things).count();
        // "On 12 May it begins at seven" is about that day only.
        let is_of_a_day =
            self.facts.gives(&Kind::Date) && !record_facts.gives(&Kind::Date) && !effects.changes;
        let mut kinds = self.facts.revalued(record_facts);
        kinds.any(|kind| match kind {
            _ if is_of_a_day => false,
            _ if shared >= SAME_SUBJECT && effects.changes && record_facts.denied.is_empty() => true,
            // "Billing sits at 38" does not affect the port that it listens on.
            Kind::Plain | Kind::Bare if !is_restated(covered, &self.facts, record_facts) => false,
            // The unit shows what an amount is about.
            Kind::Of(thing) if effects.is_seen && record_facts.things.contains(thing) => shared >= RARE,
            // What does not happen on Fridays may happen on Mondays.
            Kind::Weekday | Kind::Date | Kind::Time if !record_facts.denied.is_empty() => false,
            _ if effects.is_seen && covered >= 2 && shared >= RARE => true,
            _ if effects.changes => subject && shared > 0,
            // Without a sign of change only if the clause adds nothing else.
            _ => shared >= RARE && subject && !effects.adds && is_half(covered, &self.facts, record_facts),
        })
    }

    /// "On Saturdays at ten only", where the record has that hour and another one.
    pub(super) fn narrows(&self, whole: &Facts, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        self.is_only
            && record_facts.denied.is_empty()
            && self.facts.gives_fewer(record_facts)
            && whole.shares_subject(record_facts)
            && memory.shared(&whole.things, record) >= RARE
            && !whole.is_of_another(record_facts)
    }

    /// Whether it restates the record negated, or restates positively what the record denies.
    pub(super) fn denies(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        let turned = |of: &Facts, other: &Facts| {
            other.denied.is_empty() && of.denied.iter().any(|word| other.things.contains(word))
        };
        let covered = self.facts.things.intersection(&record_facts.things).count();
        let by_states = !self.facts.states.is_empty() && !record_facts.states.is_empty();
        // All its terms are in the record, or neither has many other terms.
        let is_same = covered == self.facts.things.len() || is_half(covered, &self.facts, record_facts);
        self.old.is_none()
            && !self.is_once
            && !by_states
            && (turned(&self.facts, record_facts) || turned(record_facts, &self.facts))
            && covered * 3 >= self.facts.things.len() * 2
            && is_same
            && self.facts.shares_subject(record_facts)
            && self.facts.adds_no_value(record_facts)
            && memory.shared(&self.facts.things, record) >= STRONG_MATCH
            && !self.facts.is_of_another(record_facts)
    }

    /// Whether the record, or a part of it, states the opposite state of the same thing.
    pub(super) fn opposes(&self, record_facts: &Facts, record: &ParsedRecord, memory: &Memory) -> bool {
        if !self.facts.opposes(record_facts) || self.old.is_some() {
            return false;
        }
        let about = &self.facts.about;
        let covered = about.shared(&record_facts.about);
        let shared = memory.shared(&about.words, record);
        let subject = self.facts.subject.as_ref();
        let subject = subject.is_some_and(|subject| record_facts.about.words.contains(subject));
        // "The car park of the visitors is open": if both have additional terms they may be about different
        // things.
        let extra = |of: &Facts, other: &Facts| {
            let mut words = of.about.words.intersection(&of.things);
            words.any(|word| !other.terms.words.contains(word))
        };
        let may_differ = extra(&self.facts, record_facts) && extra(record_facts, &self.facts);
        shared >= STRONG_MATCH
            || (subject && shared > 0 && covered * 2 >= record_facts.about.count() && !may_differ)
    }

    /// Whether the record has another name or place for the same thing.
    pub(super) fn renames(&self, record: &ParsedRecord, memory: &Memory, effects: Effects) -> bool {
        let record_facts = &record.facts;
        if self.confirms || self.facts.shares_value(record_facts) || self.facts.is_narrower(record_facts) {
            return false;
        }
        let shared = memory.shared(&self.facts.things, record);
        let differs = |unnamed: bool| {
            let rest = record_facts.without_names(unnamed);
            let covered = rest.intersection(&self.facts.terms.words).count();
            let enough = match effects.changes {
                true => covered * 2 >= rest.len() && shared >= RARE / 2,
                false => covered * 3 >= rest.len() * 2 && shared >= RARE && !effects.adds,
            };
            let subject = self.facts.subject.is_some_and(|subject| rest.contains(&subject));
            subject
                && covered > 0
                && enough
                && record_facts.denied.is_empty()
                && self.facts.renames(record_facts, unnamed)
        };
        let may_lack_name = (effects.changes && record.places) || shared >= STRONG_MATCH;
        (differs(false) || (may_lack_name && differs(true))) && !self.facts.is_of_another(record_facts)
    }

    /// "They lower the statin to half a tablet", "Ana took over the roster": the amount or the responsible
    /// person in the record changed.
    pub(super) fn changes_amount_or_owner(
        &self,
        whole: &Facts,
        record: &ParsedRecord,
        memory: &Memory,
    ) -> bool {
        let record_facts = &record.facts;
        let amounts = |facts: &Facts| {
            facts
                .values
                .iter()
                .any(|(kind, _)| matches!(kind, Kind::Of(_) | Kind::Percent | Kind::Plain))
        };
        let changes_amount_or_owner = (self.changes_amount && amounts(record_facts))
            || (self.changes_owner
                && !record_facts.names.is_empty()
                && record_facts.names.is_disjoint(&self.facts.terms.words));
        // "Ms Vasseur is away, Mr Okafor takes over the file"
        let by_whom = if self.changes_owner { whole } else { &self.facts };
        let named = !record_facts.names.is_disjoint(&by_whom.names);
        changes_amount_or_owner
            && !self.confirms
            && !self.facts.shares_value(record_facts)
            && (named
                || self.facts.shares_subject(record_facts)
                || memory.shared(&self.facts.things, record) >= STRONG_MATCH)
            && memory.shared(&self.facts.things, record) >= RARE
            && (self.changes_owner || !self.facts.names_others(record_facts))
            && !self.facts.is_narrower(record_facts)
            && !self.facts.is_of_another(record_facts)
    }

    /// "Tomasz is on-call lead for checkout now": assigns to somebody else what a part of the record states.
    pub(super) fn changes_assignment(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        record.clauses.iter().any(|record_facts| {
            let covered: BTreeSet<Stem> = self
                .facts
                .things
                .intersection(&record_facts.things)
                .copied()
                .collect();
            let is_other = |of: &Facts, other: &Facts| {
                of.things.len() - covered.len() == 1
                    && of.subject.is_some_and(|subject| !other.things.contains(&subject))
            };
            covered.len() >= 3
                && is_other(&self.facts, record_facts)
                && is_other(record_facts, &self.facts)
                && !self.confirms
                && record_facts.denied.is_empty()
                && self.facts.denied.is_empty()
                && self.facts.adds_no_value(record_facts)
                && memory.weight(covered.iter()) >= RARE
                && !self.facts.is_of_another(record_facts)
        })
    }

    /// Whether it restates most of the record with a different rest.
    pub(super) fn restates(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        let covered = self.facts.things.intersection(&record_facts.things).count();
        let has_more = |of: &Facts| of.things.len() > covered;
        covered >= 3
            && covered * 3 >= record_facts.things.len() * 2
            && !self.confirms
            && !self.facts.shares_value(record_facts)
            && has_more(&self.facts)
            && has_more(record_facts)
            && self.facts.shares_subject(record_facts)
            && memory.shared(&self.facts.things, record) >= STRONG_MATCH + RARE
            && !self.facts.names_others(record_facts)
            && !self.facts.is_of_another(record_facts)
    }
}

fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

fn record_gives(record: &ParsedRecord, value: &String) -> bool {
    record
        .facts
        .values
        .iter()
        .any(|(_, record_facts)| record_facts == value)
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
