//! Clauses that say that something has ended, is given up, or was not the cause.

use std::collections::BTreeSet;

use super::clause::{Clause, STRONG_MATCH};
use super::facts::Facts;
use super::parsed_record::{Memory, ParsedRecord, RARE};
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::Kind;

impl Clause {
    /// "Decision: no stamina bar for climbing", where the record is about that and contains no negation.
    pub(super) fn is_denied_of(&self, record: &ParsedRecord) -> bool {
        let terms = &self.facts.terms;
        self.is_denial
            && terms.count() >= 2
            && terms.is_within(&record.facts.terms)
            && record.facts.denied.is_disjoint(&terms.words)
    }

    /// "The old mill has closed": the subject of the record has ended.
    pub(super) fn ends(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let mut old = self.old.iter();
        self.ends_before && old.any(|old| self.has_ended(old, record, memory))
    }

    /// Whether it gives up the thing that the record is about.
    pub(super) fn gives_up(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let record_facts = &record.facts;
        let is_same_thing = |thing: &Terms| {
            let subject = record_facts
                .subject
                .is_some_and(|subject| thing.words.contains(&subject));
            let names_it = subject || thing.count() >= 2 || memory.weight(thing.words.iter()) >= RARE;
            let is_thing = !thing.words.is_disjoint(&record_facts.things) || !thing.numbers.is_empty();
            is_thing && thing.is_within(&record_facts.terms) && names_it
        };
        self.retired.as_ref().is_some_and(is_same_thing)
            || self.retired_name.as_ref().is_some_and(is_same_thing)
    }

    /// "That bridge never was the culprit", where the record gives it as the cause.
    pub(super) fn clears(&self, record: &ParsedRecord, memory: &Memory) -> bool {
        let cause = record.explains.as_ref().filter(|_| self.clears);
        cause.is_some_and(|(_, cause)| {
            let suspects = self.facts.things.intersection(&cause.words);
            memory.weight(suspects) >= RARE
        })
    }

    /// "Arden can't do October, so we cancelled them": ends the subject of the words before, which is also
    /// the subject of the record.
    pub(super) fn ends_previous_subject(
        &self,
        before: &Facts,
        record: &ParsedRecord,
        memory: &Memory,
    ) -> bool {
        let record_facts = &record.facts;
        let is_meant = |subject: &Stem| record_facts.subject == Some(*subject);
        let rest = before.things.intersection(&record_facts.things);
        self.ends_it
            && before.subject.as_ref().is_some_and(is_meant)
            && memory.weight(rest) >= RARE
            && !before.is_of_another(record_facts)
    }

    /// Whether the text before a cue such as "was sold" is exactly the subject of the record.
    fn has_ended(&self, old: &Terms, record: &ParsedRecord, memory: &Memory) -> bool {
        let things: BTreeSet<Stem> = old.words.intersection(&self.facts.things).copied().collect();
        let subject = record
            .facts
            .subject
            .is_some_and(|subject| things.contains(&subject));
        let weight = memory.weight(things.iter());
        // "Closes at six" is not an end.
        let is_hour = self.facts.gives(&Kind::Time) || self.facts.gives(&Kind::Weekday);
        let by_name = things.is_subset(&record.facts.names) && weight >= RARE;
        !things.is_empty()
            && !is_hour
            && things.is_subset(&record.facts.things)
            && (weight >= STRONG_MATCH || by_name || (subject && weight >= RARE))
    }
}
