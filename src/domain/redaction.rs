//! Determines which quotations of a removed text must be redacted everywhere: those that no remaining version
//! of the memory contains.
//!
//! A quotation is
//!
//! - a line, what stands before, between or behind its colons, or a part of a record (label, reason, content), without surrounding
//!   blanks, quotation and list marks, of at least eight bytes and several words, or of a script without blanks: what models are
//!   given, and what operations and logs repeat;
//! - a **distinctive word** of at least eight bytes, with a digit, a symbol or inner capitals, such as a key,
//!   an address or a host name, also as part of a longer one: the usual purpose of a redaction, even if only that word was
//!   repeated.
//!
//! An ordinary single word is not a quotation: it would match half of everything written to the memory. Only what operations
//! and log lines say of a record itself is compared with its parts whatever their length ([`LostRecord`]).

use super::changelog::quoted_start;
use super::document::{ManagedSection, Record, records};
use super::dsl::bullet;
use super::ids::RecordId;
use super::operation::Progress;
use aho_corasick::AhoCorasick;
use chrono::DateTime;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::once;

/// Minimum length of a quotation, in bytes.
const LEAST_BYTES: usize = 8;

/// Collects the quotations of a text to remove while the remaining versions are read. Linear in all texts
/// together.
#[derive(Debug)]
pub struct Redaction {
    fragments: Vec<String>,
    kept: Vec<bool>,
    finder: AhoCorasick,
    records: Vec<Record>,
    /// The parts of records that a remaining version contains, each with its place in [`parts`].
    kept_parts: HashSet<(RecordId, usize, String)>,
}

/// Parts of a record that no remaining version contains for its id; `None` for a part that a version
/// contains.
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

/// The lost parts of records, by id.
pub type LostRecords = HashMap<RecordId, LostRecord>;

/// Whether a line of a log names a record and quotes what was lost of it, however short that is.
#[must_use]
pub fn quotes_lost(line: &str, lost: &LostRecords) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    let named = words.filter_map(|word| lost.get(&word.parse().ok()?));
    let mut parts = named.flat_map(|lost| [&lost.label, &lost.reason, &lost.content]);
    parts.any(|part| {
        let start = part.as_ref().and_then(|part| part.lines().next());
        start.is_some_and(|start| !start.is_empty() && line.contains(quoted_start(start)))
    })
}

/// Detects quotations of the removed text.
#[derive(Debug)]
pub struct Quotations(AhoCorasick);

impl Redaction {
    /// Collects all possible quotations of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let records = records(text);
        let mut fragments: BTreeSet<&str> = BTreeSet::new();
        for line in text.lines() {
            fragments.extend(phrase(line));
            if let Some((before, after)) = line.split_once(": ") {
                // Two words may be a title, such as `Next steps`.
                let says_more = |text: &&str| text.split_whitespace().nth(2).is_some();
                fragments.extend(phrase(before).filter(says_more));
                fragments.extend(phrase(after));
                // Each part once, so that all of a line stays linear.
                let mut parts = after.rsplit(": ");
                fragments.extend(parts.next().and_then(phrase));
                fragments.extend(parts.filter_map(phrase).filter(says_more));
            }
            fragments.extend(distinctive_words(line));
        }
        for record in &records {
            for part in parts(record).into_iter().flatten() {
                fragments.extend(part.lines().filter_map(phrase));
                // Logs quote the beginning of a long line.
                fragments.extend(part.lines().next().map(quoted_start).and_then(phrase));
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

    /// Processes a version that remains: what it contains must not be redacted.
    pub fn keep(&mut self, text: &str) {
        for found in self.finder.find_overlapping_iter(text) {
            self.kept[found.pattern().as_usize()] = true;
        }
        if self.records.is_empty() {
            return;
        }
        for record in records(text) {
            let held = parts(&record).into_iter().enumerate();
            let held = held.filter_map(|(place, text)| Some((record.id, place, text?.to_owned())));
            self.kept_parts.extend(held);
        }
    }

    /// The record parts that only this text contained.
    #[must_use]
    pub fn lost_records(&self) -> LostRecords {
        let lost = self.records.iter().map(|record| {
            let mut places = 0..;
            let [label, reason, content] = parts(record).map(|text| {
                let part = (record.id, places.next()?, text?.to_owned());
                (!self.kept_parts.contains(&part)).then_some(part.2)
            });
            LostRecord {
                id: record.id,
                label,
                reason,
                content,
            }
        });
        lost.filter(|record| record.label.is_some() || record.reason.is_some() || record.content.is_some())
            .map(|record| (record.id, record))
            .collect()
    }

    /// The quotations that only this text contained.
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
    /// Whether a text contains one of the quotations.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn finder(fragments: &[impl AsRef<[u8]>]) -> AhoCorasick {
    AhoCorasick::new(fragments).expect("the limits of the automaton are far above the size of a document")
}

fn parts(record: &Record) -> [Option<&str>; 3] {
    [
        record.label.as_deref(),
        record.reason.as_deref(),
        Some(&record.content),
    ]
}

/// The line without list and heading marks, if it is long enough and not a heading of the service.
fn phrase(line: &str) -> Option<&str> {
    let is_mark = |c: char| c.is_whitespace() || "#-*>+_`\"'“”„«»".contains(c);
    let text = line.trim_matches(is_mark);
    let text = bullet(text).unwrap_or(text);
    let text = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text);
    let text = text.trim_matches(is_mark);
    // Headings that the service writes are not specific to any version.
    let is_own = ManagedSection::ALL
        .iter()
        .map(|section| section.title())
        .chain(Progress::TITLES)
        .any(|title| title.eq_ignore_ascii_case(text));
    let has_blanks = |c: char| c.is_whitespace() || c >= '\u{2e80}';
    let says_something = text.contains(has_blanks) || is_distinctive(text);
    (text.len() >= LEAST_BYTES && says_something && !is_own).then_some(text)
}

fn distinctive_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c))
        .flat_map(|word| {
            // The hour of a time is no quotation.
            let is_time = DateTime::parse_from_rfc3339(word).is_ok();
            let pieces = word
                .split(['=', ':', '/', '@', '?', '&'])
                .filter(move |_| !is_time);
            once(word).chain(pieces)
        })
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| is_distinctive(word))
}

fn is_distinctive(word: &str) -> bool {
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
        let text = "# Notes\n- the key is sk-live-4711\nkept line of words\nTOKN=4711-AKtok\nurl://u:Tr0ub4dorXy@h/p\n\
            数据库的主密码是银河系漫游指南\nGoal: We merge with Globexx\n1. [ ] **Buy the castle**\n\
            - KL-1 because x: Ward 3: bed of Mr Smith: he is a patient\n";
        let quotations = redaction(text, &["# Notes\nkept line of words\n"]).quotations();
        for (quoting, is_one) in [
            ("user said: the key is sk-live-4711!", true),
            ("{\"token\":\"sk-live-4711\"}", true),
            ("it is 4711-AKtok, I said", true),
            ("login with Tr0ub4dorXy now", true),
            ("记住数据库的主密码是银河系漫游指南", true),
            ("We merge with Globexx soon.", true),
            ("Buy the castle by Friday", true),
            ("so he is a patient here", true),
            ("the bed of Mr Smith is free", true),
            ("kept line of words", false),
            ("the key", false),
            ("# Notes", false),
            ("", false),
        ] {
            assert_eq!(quotations.are_in(quoting), is_one, "{quoting}");
        }
        // A line that lives on in a longer one is not lost.
        let quotations = redaction("Deploy on Friday\n", &["Deploy on Friday noon\n"]).quotations();
        assert!(!quotations.are_in("Deploy on Friday"));
    }

    #[test]
    fn the_beginning_of_a_long_line_is_a_quotation() {
        let long = "some words ".repeat(20);
        let text = format!("# Key Learnings\n- KL-1 because a: {long}\n");
        let log =
            crate::domain::changelog::of_text("put", (&text, ""), &crate::domain::memory::project(&text, ""));
        assert!(log.ends_with('…'), "{log}");
        assert!(redaction(&text, &[]).quotations().are_in(&log), "{log}");
        assert!(!redaction(&text, &[&text]).quotations().are_in(&log), "{log}");
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
        let lost = LostRecord {
            id: "KL-1".parse().unwrap(),
            label: None,
            reason: None,
            content: Some("one".to_owned()),
        };
        let found = redaction(text, &[kept]).lost_records();
        for (line, is_one) in [
            ("- KL-1 left out: one", true),
            ("- KL-1 left out: uno", false),
            ("- KL-11 left out: one", false),
        ] {
            assert_eq!(quotes_lost(line, &found), is_one, "{line}");
        }
        assert_eq!(found, LostRecords::from([(lost.id, lost)]));
    }
}
