//! What of a text is to be found nowhere once the text is taken out: its quotations, as far as no kept
//! version of the memory holds them too.
//!
//! A quotation is
//!
//! - a line, or a part of a record (label, reason, content), without the blanks and the list sign around it,
//!   of eight bytes or more and of several words: what models are shown, and what operations and logs repeat;
//! - a **telling word** of eight bytes or more, one with a digit, a sign or capitals inside, such as a key, an
//!   address or a name of a host: what somebody redacts a text for, also where only that much was repeated.
//!
//! An ordinary single word is no quotation: half of what was ever written to the memory would hold it.

use super::document::{ManagedSection, Record, records};
use super::ids::RecordId;
use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::{BTreeSet, HashSet};

/// The shortest quotation, in bytes.
const LEAST_BYTES: usize = 8;

/// Headings of the service's own; a version that holds one does not own it.
const OWN_LISTS: [&str; 3] = ["Completed", "In Progress", "Remaining"];

/// The text to be taken out, while the kept versions are read. Linear in all texts together.
#[derive(Debug)]
pub struct Redaction {
    fragments: Vec<String>,
    kept: Vec<bool>,
    finder: Option<AhoCorasick>,
    records: Vec<Record>,
    kept_parts: HashSet<(RecordId, Part, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Label,
    Reason,
    Content,
}

/// Parts of a record that no kept version holds for its id; `None` for a part that one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRecord {
    /// The record.
    pub id: RecordId,
    /// Its label.
    pub label: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
    /// Its content.
    pub content: Option<String>,
}

/// Tells what quotes the text that was taken out.
#[derive(Debug)]
pub struct Quotations(Option<AhoCorasick>);

impl Redaction {
    /// Everything that this text could be quoted by.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let records = records(text);
        let mut fragments: BTreeSet<&str> = BTreeSet::new();
        for line in text.lines() {
            fragments.extend(phrase(line));
            fragments.extend(telling_words(line));
        }
        for record in &records {
            for (_, part) in parts(record) {
                fragments.extend(part.lines().filter_map(phrase));
            }
        }
        let fragments: Vec<String> = fragments.into_iter().map(str::to_owned).collect();
        Self {
            kept: vec![false; fragments.len()],
            finder: finder(&fragments),
            fragments,
            records,
            kept_parts: HashSet::new(),
        }
    }

    /// Takes notice of a version that stays: what it holds too is not to be taken out anywhere.
    pub fn keep(&mut self, text: &str) {
        if let Some(finder) = &self.finder {
            for found in finder.find_overlapping_iter(text) {
                self.kept[found.pattern().as_usize()] = true;
            }
        }
        if self.records.is_empty() {
            return;
        }
        for record in records(text) {
            let held = parts(&record).map(|(part, text)| (record.id, part, text.to_owned()));
            self.kept_parts.extend(held);
        }
    }

    /// The records that this text alone held, part by part.
    #[must_use]
    pub fn lost_records(&self) -> Vec<LostRecord> {
        let lost = |id, part, text: Option<&String>| {
            text.filter(|text| !self.kept_parts.contains(&(id, part, (*text).clone())))
                .cloned()
        };
        self.records
            .iter()
            .map(|record| LostRecord {
                id: record.id,
                label: lost(record.id, Part::Label, record.label.as_ref()),
                reason: lost(record.id, Part::Reason, record.reason.as_ref()),
                content: lost(record.id, Part::Content, Some(&record.content)),
            })
            .filter(|record| record.label.is_some() || record.reason.is_some() || record.content.is_some())
            .collect()
    }

    /// What this text alone held and may be quoted elsewhere.
    #[must_use]
    pub fn quotations(&self) -> Quotations {
        let lost: Vec<&str> = self
            .fragments
            .iter()
            .zip(&self.kept)
            .filter(|(_, kept)| !**kept)
            .map(|(fragment, _)| fragment.as_str())
            .collect();
        Quotations(finder(&lost))
    }
}

impl Quotations {
    /// Whether a text quotes it.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|finder| finder.is_match(text))
    }
}

/// `None` for no fragments. The limits of the automaton are far above what a document can hold.
fn finder(fragments: &[impl AsRef<[u8]>]) -> Option<AhoCorasick> {
    if fragments.is_empty() {
        return None;
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(fragments)
        .ok()
}

fn parts(record: &Record) -> impl Iterator<Item = (Part, &str)> {
    [
        (Part::Label, record.label.as_deref()),
        (Part::Reason, record.reason.as_deref()),
        (Part::Content, Some(record.content.as_str())),
    ]
    .into_iter()
    .filter_map(|(part, text)| Some((part, text?)))
}

/// The line without what lists and headings put before it, if it is long enough and says something.
fn phrase(line: &str) -> Option<&str> {
    let text = line.trim().trim_start_matches(['#', '-', '*', '>', ' ']);
    let is_own = ManagedSection::ALL
        .iter()
        .map(|section| section.title())
        .chain(OWN_LISTS)
        .any(|title| title.eq_ignore_ascii_case(text));
    let says_something = text.contains(char::is_whitespace) || is_telling(text);
    (text.len() >= LEAST_BYTES && says_something && !is_own).then_some(text)
}

fn telling_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| is_telling(word))
}

fn is_telling(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next();
    word.len() >= LEAST_BYTES && characters.any(|c| !c.is_alphabetic() || c.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(text: &str, kept: &[&str]) -> Redaction {
        let mut redaction = Redaction::of(text);
        for text in kept {
            redaction.keep(text);
        }
        redaction
    }

    #[test]
    fn what_only_that_text_held_is_found_in_whatever_quotes_it() {
        let text = "# Notes\n- the key is sk-live-4711\nkept line of words\n";
        let quotations = redaction(text, &["# Notes\nkept line of words\n"]).quotations();
        for quoting in [
            "user said: the key is sk-live-4711!",
            "{\"token\":\"sk-live-4711\"}",
        ] {
            assert!(quotations.are_in(quoting), "{quoting}");
        }
        for other in ["kept line of words", "the key", "# Notes", ""] {
            assert!(!quotations.are_in(other), "{other}");
        }
    }

    #[test]
    fn a_line_that_lives_on_in_a_longer_one_is_not_lost() {
        let quotations = redaction("Deploy on Friday\n", &["Deploy on Friday noon\n"]).quotations();
        assert!(!quotations.are_in("Deploy on Friday"));
    }

    #[test]
    fn ordinary_words_and_the_services_own_headings_are_no_quotations() {
        let text = "# Current Progress\n## In Progress\n- Refactoring\n";
        assert!(!redaction(text, &[]).quotations().are_in(text));
    }

    #[test]
    fn records_are_lost_part_by_part() {
        let text = "# Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n";
        let kept = "# Key Learnings\n- KL-1 because a: uno\n- KL-2 because b: two\n- KL-3 because c: one\n";
        assert_eq!(
            redaction(text, &[kept]).lost_records(),
            [LostRecord {
                id: "KL-1".parse().unwrap(),
                label: None,
                reason: None,
                content: Some("one".to_owned()),
            }]
        );
    }
}
