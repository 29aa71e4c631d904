//! The memory, taken apart so that sentences can be held against it.

use std::collections::{BTreeSet, HashMap};

use super::facts::Facts;
use super::spans::clauses;
use crate::domain::document::Record;
use crate::llm::extractive::cues::{Language, Sign, any_signs};
use crate::llm::extractive::said::Said;
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::transcript::{Sentence, Voice};

/// What a word weighs that one record of the memory holds; one that two hold weighs half of it.
pub(super) const RARE: usize = 12;

/// A record taken apart.
pub(super) struct Known {
    pub(super) id: String,
    pub(super) facts: Facts,
    /// The same of its parts between commas.
    pub(super) clauses: Vec<Facts>,
    pub(super) places: bool,
    pub(super) waits: bool,
    /// Whether it says what was taken for the cause of something.
    pub(super) supposes: bool,
    /// Why it no longer holds, and by which sentence.
    pub(super) outdated: Option<(&'static str, usize)>,
}

/// All records of a kind.
pub(super) struct Memory {
    pub(super) records: Vec<Known>,
    held_by: HashMap<Stem, usize>,
    numbered_by: HashMap<String, usize>,
}

impl Known {
    fn of(record: &Record) -> Self {
        let text = match &record.label {
            Some(label) => format!("{label}: {}", record.content),
            None => record.content.clone(),
        };
        let signs = any_signs(&text);
        let of_reason = any_signs(record.reason.as_deref().unwrap_or_default());
        let is_japanese =
            || text.contains(|c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
        let language = Language::of(&text).unwrap_or(match is_japanese() {
            true => Language::Japanese,
            false => Language::English,
        });
        let said = Said::of(
            &Sentence {
                voice: Voice::User,
                message: 0,
                text,
                standing: None,
            },
            language,
        );
        let supposing = [Sign::Cause, Sign::Hedge, Sign::Hearsay];
        Self {
            id: record.id.to_string().to_lowercase(),
            clauses: clauses(&said).map(|part| Facts::of(&said.part(part))).collect(),
            facts: Facts::of(&said),
            places: signs.contains(&Sign::Place),
            waits: signs.contains(&Sign::Waiting),
            supposes: supposing
                .iter()
                .any(|sign| signs.contains(sign) || of_reason.contains(sign)),
            outdated: None,
        }
    }
}

impl Memory {
    pub(super) fn of(records: &[Record]) -> Self {
        let records: Vec<Known> = records.iter().map(Known::of).collect();
        let mut held_by = HashMap::new();
        let mut numbered_by = HashMap::new();
        for known in &records {
            for stem in &known.facts.terms.words {
                *held_by.entry(*stem).or_insert(0) += 1;
            }
            for number in &known.facts.terms.numbers {
                *numbered_by.entry(number.clone()).or_insert(0) += 1;
            }
        }
        Self {
            records,
            held_by,
            numbered_by,
        }
    }

    /// What words weigh that a statement shares with a record: the fewer records hold one, the more.
    pub(super) fn weight<'w>(&self, words: impl Iterator<Item = &'w Stem>) -> usize {
        words
            .map(|word| RARE / self.held_by.get(word).copied().unwrap_or(1).max(1))
            .sum()
    }

    /// What a text shares with a record.
    pub(super) fn shared(&self, words: &BTreeSet<Stem>, record: &Known) -> usize {
        self.weight(words.intersection(&record.facts.things))
    }

    /// Whether no other record holds one of these numbers or identifiers.
    pub(super) fn is_alone_with(&self, terms: &Terms) -> bool {
        let mut numbers = terms.numbers.iter();
        numbers.any(|number| self.numbered_by.get(number) == Some(&1))
    }
}
