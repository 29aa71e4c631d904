//! The records of the memory, parsed for comparison with sentences.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::facts::Facts;
use super::spans::clauses;
use crate::domain::document::Record;
use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::{Language, Sign, any_signs, signs_in};
use crate::llm::extractive::sentence::{Sentence, Voice};
use crate::llm::extractive::terms::{Stem, Terms};
use crate::llm::extractive::values::{Kind, values};

/// The weight of a word that occurs in one record; in two records it is half of that, and so on.
pub(super) const RARE: usize = 12;

/// A parsed record.
pub(super) struct ParsedRecord {
    pub(super) id: String,
    pub(super) facts: Facts,
    /// The facts of its parts between commas.
    pub(super) clauses: Vec<Facts>,
    pub(super) places: bool,
    pub(super) waits: bool,
    /// The effect that it explains, and the cause that it gives.
    pub(super) explains: Option<(Terms, Terms)>,
    /// Whether it states an assumed cause.
    pub(super) supposes: bool,
    /// Why it does not hold any more, and the index of the sentence that says so.
    pub(super) outdated: Option<(&'static str, usize)>,
}

/// A word in more records than this is not significant for any.
const MAX_HOLDERS: usize = 64;

/// All records of a kind.
pub(super) struct Memory {
    pub(super) records: Vec<ParsedRecord>,
    held_by: HashMap<Stem, Vec<usize>, RandomState>,
    numbered_by: HashMap<String, Vec<usize>, RandomState>,
}

/// The common prefix of a series of names: `iso.20022` of `iso.20022.08`.
fn series(number: &str) -> Option<&str> {
    let (series, _) = number.rsplit_once(['.', '-', '_', '/'])?;
    (series.len() >= 4 && series.chars().any(char::is_alphabetic)).then_some(series)
}

impl ParsedRecord {
    fn of(record: &Record, usual: Language) -> Self {
        let text = match &record.label {
            Some(label) => format!("{label}: {}", record.content),
            None => record.content.clone(),
        };
        let is_japanese =
            || text.contains(|c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
        let language = Language::among(&text, usual).unwrap_or(match is_japanese() {
            true => Language::Japanese,
            false if usual == Language::Japanese => Language::English,
            false => usual,
        });
        let signs = signs_in(&text, language);
        let of_reason = any_signs(record.reason.as_deref().unwrap_or_default());
        let sentence = AnnotatedSentence::of(
            &Sentence {
                voice: Voice::User,
                message: 0,
                text,
                list_state: None,
            },
            language,
        );
        let supposing = [Sign::Cause, Sign::Hedge, Sign::Hearsay];
        Self {
            id: record.id.to_string().to_lowercase(),
            clauses: clauses(&sentence)
                .map(|part| Facts::of(&sentence.part(part)))
                .collect(),
            facts: Facts::of(&sentence),
            places: signs.contains(&Sign::Place) && !is_about_time(&sentence),
            waits: signs.contains(&Sign::Waiting),
            supposes: supposing
                .iter()
                .any(|sign| signs.contains(sign) || of_reason.contains(sign)),
            explains: explanation(&sentence),
            outdated: None,
        }
    }
}

/// "The job runs on Sundays" is not about a place.
fn is_about_time(sentence: &AnnotatedSentence) -> bool {
    let mut values = values(&sentence.line.text).into_iter();
    values.any(|(kind, _)| matches!(kind, Kind::Weekday | Kind::Time | Kind::Date))
}

/// "The crash | comes from | worn-out cards": the effect and the cause.
fn explanation(sentence: &AnnotatedSentence) -> Option<(Terms, Terms)> {
    let cues = [Sign::Cause, Sign::Because, Sign::ComesFrom];
    let cue = cues.into_iter().find_map(|sign| sentence.first(sign))?;
    let before = sentence.line.between(0, cue.start);
    let after = sentence.line.after(cue.end);
    let (effect, cause) = match sentence.language {
        // "停止はメモリ不足が原因"
        Language::Japanese if Terms::of(after).is_empty() => before.rsplit_once('は')?,
        _ => (before, after),
    };
    Some((Terms::of(effect), Terms::of(cause)))
}

impl Memory {
    /// `usual` is the language of the session.
    pub(super) fn of(records: &[Record], usual: Language) -> Self {
        let records: Vec<ParsedRecord> = records
            .iter()
            .map(|record| ParsedRecord::of(record, usual))
            .collect();
        let mut held_by: HashMap<Stem, Vec<usize>, RandomState> = HashMap::default();
        let mut numbered_by: HashMap<String, Vec<usize>, RandomState> = HashMap::default();
        for (at, known) in records.iter().enumerate() {
            for stem in &known.facts.terms.words {
                held_by.entry(*stem).or_default().push(at);
            }
            for series in known
                .facts
                .terms
                .numbers
                .iter()
                .filter_map(|number| series(number))
            {
                numbered_by.entry(series.to_owned()).or_default().push(at);
            }
            for number in &known.facts.terms.numbers {
                numbered_by.entry(number.clone()).or_default().push(at);
            }
            numbered_by.entry(known.id.clone()).or_default().push(at);
        }
        Self {
            records,
            held_by,
            numbered_by,
        }
    }

    /// The weight of words shared with a record: the fewer records contain a word, the higher.
    pub(super) fn weight<'w>(&self, words: impl Iterator<Item = &'w Stem>) -> usize {
        words
            .map(|word| RARE / self.held_by.get(word).map_or(1, |of| of.len().max(1)))
            .sum()
    }

    /// Indices of the records that share a word or number with these terms; no other record can be affected.
    pub(super) fn sharing(&self, terms: &Terms) -> Vec<usize> {
        let words = terms.words.iter().filter_map(|word| self.held_by.get(word));
        let numbers = terms
            .numbers
            .iter()
            .flat_map(|number| [Some(number.as_str()), series(number)])
            .filter_map(|number| self.numbered_by.get(number?));
        let few = words.chain(numbers).filter(|of| of.len() <= MAX_HOLDERS);
        let found: BTreeSet<usize> = few.flatten().copied().collect();
        found.into_iter().collect()
    }

    /// The weight of the words shared with a record.
    pub(super) fn shared(&self, words: &BTreeSet<Stem>, record: &ParsedRecord) -> usize {
        self.weight(words.intersection(&record.facts.things))
    }

    /// Whether one of these numbers or identifiers occurs in no other record.
    pub(super) fn is_alone_with(&self, terms: &Terms) -> bool {
        let mut numbers = terms.numbers.iter();
        numbers.any(|number| self.numbered_by.get(number).is_some_and(|of| of.len() == 1))
    }
}
