//! The parts of a sentence that give the place, means or name of a thing.

use std::collections::BTreeSet;

use crate::llm::extractive::annotated::AnnotatedSentence;
use crate::llm::extractive::cues::{Language, is_small};
use crate::llm::extractive::terms::{Stem, Terms};

/// Maximum number of words of a name.
const NAME_WORDS: usize = 3;

/// The words after "at", "with", "is".
#[derive(Debug)]
pub(super) struct Slot {
    /// The group of the connector.
    pub(super) group: usize,
    pub(super) filler: BTreeSet<Stem>,
    /// Whether it is spelled like a name.
    pub(super) is_name: bool,
}

/// The words after each connector: a capitalised name, otherwise the next few words.
pub(super) fn slots(sentence: &AnnotatedSentence) -> Vec<Slot> {
    if sentence.language == Language::Japanese {
        return sentence
            .topic_and_rest()
            .map(|(_, rest)| Terms::of(rest).words)
            .filter(|filler| !filler.is_empty())
            .map(|filler| Slot {
                group: 0,
                filler,
                is_name: false,
            })
            .into_iter()
            .collect();
    }
    let groups = sentence.language.words().connectors;
    let words: Vec<(usize, &str)> = sentence.line.words().collect();
    let mut slots = Vec::new();
    for (at, (_, word)) in words.iter().enumerate() {
        let Some(place) = groups.find(&format!(" {word} ")) else {
            continue;
        };
        let mut name = BTreeSet::new();
        let mut filler = BTreeSet::new();
        let mut goes_by_name = true;
        for (start, word) in words.iter().skip(at + 1).take(NAME_WORDS + 1) {
            let ends = !word.starts_with(char::is_alphanumeric)
                || groups.contains(&format!(" {word} "))
                || (is_small(word) && !filler.is_empty());
            if ends || filler.len() == NAME_WORDS {
                break;
            }
            let terms = Terms::of_folded(word).words;
            goes_by_name &= is_small(word) || is_written_as_a_name(sentence.line.after(*start), word);
            if goes_by_name {
                name.extend(terms.iter().copied());
            }
            filler.extend(terms);
        }
        let is_name = !name.is_empty();
        let filler = if is_name { name } else { filler };
        if !filler.is_empty() {
            let group = groups[..place].matches('|').count();
            slots.push(Slot {
                group,
                filler,
                is_name,
            });
        }
    }
    slots
}

/// Whether it is capitalised, or spelled like an address or a path.
fn is_written_as_a_name(written: &str, word: &str) -> bool {
    written.starts_with(char::is_uppercase) || word.contains(['@', '/', '_'])
}
