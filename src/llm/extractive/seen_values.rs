//! Values that confirm a statement: those in tool outputs, which themselves have no author, and those in the
//! user's statements.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::annotated::AnnotatedSentence;
use super::terms::{Stem, Terms};
use super::values::{Kind, values};

/// Maximum number of stored numbers and words; the earliest are kept.
const MAX_NUMBERS: usize = 20_000;
/// Only the beginning of a longer output line is read.
const MAX_LINE_BYTES: usize = 2_000;
/// A longer run of digits is not a measurement.
const MAX_DIGITS: usize = 12;

/// The numbers in tool outputs, each with the first message that contains it.
#[derive(Debug, Default)]
pub(super) struct SeenValues {
    stated_numbers: HashMap<String, usize, RandomState>,
    /// The words in tool outputs.
    words: HashMap<Stem, usize, RandomState>,
    /// The numbers in the user's statements.
    numbers: HashMap<String, usize, RandomState>,
}

pub(super) fn is_tool(role: &str) -> bool {
    matches!(
        role.trim().to_lowercase().as_str(),
        "tool" | "function" | "tool_result"
    )
}

impl SeenValues {
    pub(super) fn read(&mut self, message: usize, output: &str) {
        let numbers = output.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ':')));
        let numbers = numbers
            .map(|number| number.trim_matches(['.', ':']))
            .filter(|number| !number.is_empty() && number.len() <= MAX_DIGITS);
        for number in numbers {
            if self.numbers.len() >= MAX_NUMBERS {
                return;
            }
            self.numbers.entry(number.to_owned()).or_insert(message);
        }
        for line in output.lines() {
            if self.words.len() >= MAX_NUMBERS {
                return;
            }
            let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES.min(line.len()))];
            for word in Terms::of(line).words {
                self.words.entry(word).or_insert(message);
            }
        }
    }

    /// Whether most words of a sentence occur in earlier tool outputs.
    pub(super) fn shares_words_with_output(&self, sentence: &AnnotatedSentence) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let words = &sentence.terms().words;
        let before = |word: &&Stem| {
            self.words
                .get(*word)
                .is_some_and(|shown| *shown < sentence.message)
        };
        let shown = words.iter().filter(before).count();
        shown >= 2 && shown * 2 >= words.len()
    }

    /// Stores the values of the user's statement.
    pub(super) fn record_statement(&mut self, sentence: &AnnotatedSentence) {
        let values = values(&sentence.line.text).into_iter();
        for (_, text) in values.filter(|(kind, _)| !matches!(kind, Kind::Bare | Kind::Weekday)) {
            if self.stated_numbers.len() < MAX_NUMBERS {
                self.stated_numbers.entry(text).or_insert(sentence.message);
            }
        }
    }

    /// Whether a sentence contains a value from an earlier tool output.
    pub(super) fn was_in_output(&self, sentence: &AnnotatedSentence) -> bool {
        occurs_earlier(&self.numbers, sentence)
    }

    /// Whether a sentence contains a value from an earlier statement of the user.
    pub(super) fn was_stated_by_user(&self, sentence: &AnnotatedSentence) -> bool {
        occurs_earlier(&self.stated_numbers, sentence)
    }
}

fn occurs_earlier(numbers: &HashMap<String, usize, RandomState>, sentence: &AnnotatedSentence) -> bool {
    if numbers.is_empty() {
        return false;
    }
    let before = |number: &str| numbers.get(number).is_some_and(|shown| *shown < sentence.message);
    values(&sentence.line.text)
        .iter()
        .filter(|(kind, _)| !matches!(kind, Kind::Bare | Kind::Weekday))
        .any(|(_, text)| text.rsplit('-').any(before) || before(text))
}
