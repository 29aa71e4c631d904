//! Property tests of consolidation: whatever is archived, and however often, nothing that was known is lost.

use chrono::{DateTime, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};
use working_memory::domain::consolidation::{Ground, find};
use working_memory::domain::document::{Marks, Record, records};
use working_memory::domain::ids::RecordId;
use working_memory::domain::memory::{Counters, Limits, View, apply, validate};
use working_memory::domain::operation::{Item, Operation};

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

const LIMITS: Limits = Limits {
    max_additions: 100,
    item_bytes: 10_000,
    context_bytes: 1_000_000,
    pins_hold: true,
};

/// Records of few words, so that many are alike.
fn document() -> impl Strategy<Value = String> {
    let word = select(vec![
        "port",
        "8080",
        "8081",
        "Anna",
        "Ana",
        "never",
        "not",
        "the",
        "/var/log",
        "deploy",
        "deploys",
        "before",
        "after",
        "staging",
        "production",
        "is",
        "KL-1",
        "SQLX=1",
    ]);
    let marks = select(vec![
        "",
        "",
        "",
        "",
        "[pinned] ",
        "[until 2026-01-01] ",
        "[until 2027-06-01] ",
        "[until 2028-01-01] ",
    ]);
    vec((marks, vec(word, 1..5)), 1..24).prop_map(|lines| {
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(at, (marks, words))| format!("- KL-{} {marks}{}\n", at + 1, words.join(" ")));
        format!("# Key Learnings\n{}", lines.collect::<String>())
    })
}

fn by_id(document: &str) -> BTreeMap<RecordId, Record> {
    let records = records(document).into_iter();
    records.map(|record| (record.id, record)).collect()
}

/// What is accepted of operations, applied.
fn applied(document: &str, operations: Vec<Operation>) -> (String, Vec<Operation>) {
    let items = operations.into_iter().enumerate().map(|(at, operation)| Item {
        operation,
        range: at..at + 1,
    });
    let view = View {
        document,
        ended: &BTreeSet::new(),
    };
    let taken = validate(items.collect(), vec![], &view, &[], &LIMITS)
        .items
        .into_iter();
    let taken: Vec<Operation> = taken.map(|item| item.operation).collect();
    let counters = Counters::seen_in(document);
    let text = apply(document, counters, &taken, now(), &LIMITS)
        .expect("accepted operations apply")
        .text;
    (text, taken)
}

/// The values of a text, in its plainest sense: its words with a digit, a capital letter or a sign inside.
fn values(text: &str) -> BTreeSet<String> {
    let is_value = |word: &&str| !word.chars().all(|c| c.is_lowercase());
    text.split_whitespace()
        .filter(is_value)
        .map(str::to_owned)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A model that wants to archive everything, as a duplicate of everything, fifty times over.
    #[test]
    fn no_value_is_lost_to_a_model_that_wants_to_destroy(
        document in document(),
        picks in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 50 * 4),
    ) {
        let first = by_id(&document);
        let mut text = document;
        let mut expired = BTreeSet::new();
        for run in picks.chunks(4) {
            let ids: Vec<RecordId> = by_id(&text).into_keys().collect();
            if ids.is_empty() { break }
            let operations = run.iter().map(|(archived, kept, ground)| {
                let (id, kept) = (*archived.get(&ids), *kept.get(&ids));
                let ground = match ground {
                    0 => Ground::SupersededBy(kept),
                    1 => Ground::Expired,
                    _ => Ground::DuplicateOf(kept),
                };
                Operation::Archive { id, reason: "it must go".to_owned(), ground: Some(ground) }
            });
            let (next, taken) = applied(&text, operations.collect());
            expired.extend(taken.into_iter().filter_map(|operation| match operation {
                Operation::Archive { id, ground: Some(Ground::Expired), .. } => Some(id),
                _ => None,
            }));
            text = next;
        }
        let last = by_id(&text);
        for (id, record) in first {
            prop_assert!(!record.marks.pinned || last.contains_key(&id));
            if expired.contains(&id) {
                prop_assert!(record.marks.until.is_some());
                continue;
            }
            let says_it = |other: &Record| values(&record.content).is_subset(&values(&other.content));
            let holds = |other: &Record| record.marks.until.is_some() || other.marks.until.is_none();
            let is_there = last.values().any(|other| says_it(other) && holds(other));
            // What stood for it may itself have reached its end: then it had one too.
            prop_assert!(is_there || record.marks.until.is_some(), "{id} {:?} is lost in\n{text}", record.content);
        }
    }

    #[test]
    fn what_is_found_is_accepted_and_the_end_is_reached(document in document()) {
        let mut text = document;
        for _ in 0..50 {
            let found = find(&text, now());
            prop_assert_eq!(&found, &find(&text, now()));
            if found.is_empty() {
                break;
            }
            let (next, taken) = applied(&text, found.clone());
            prop_assert_eq!(taken, found);
            text = next;
        }
        prop_assert_eq!(find(&text, now()), vec![]);
        let expired = |record: &Record| record.marks.has_expired(now());
        let left = by_id(&text);
        prop_assert!(left.values().all(|record| !expired(record) || record.marks.pinned), "{text}");
        prop_assert!(left.values().all(|record| record.marks != Marks::default() || !record.content.is_empty()));
    }
}
