//! Property tests of consolidation: whatever is archived, and however often, nothing that was known is lost.

use crate::{accepted, archive, by_id, now};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};
use working_memory::domain::consolidation::{Ground, Share, find};
use working_memory::domain::document::{Marks, Record};
use working_memory::domain::ids::RecordId;
use working_memory::domain::memory::{Counters, Limits, apply};
use working_memory::domain::operation::{AddedRecord, Operation};

const LIMITS: Limits = Limits {
    max_additions: 100,
    item_bytes: 10_000,
    context_bytes: 1_000_000,
    pins_hold: true,
};

/// Records of few words, so that many are alike.
fn document() -> impl Strategy<Value = String> {
    let word = select(
        "port 8080 8081 Anna Ana never not the /var/log deploy deploys before after staging \
            production is KL-1 SQLX=1 now moved expires 2026-01-01 2028-01-01"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let marks = "||||[pinned] |[until 2026-01-01] |[until 2027-06-01] |[until 2028-01-01] ";
    let marks = select(marks.split('|').collect::<Vec<_>>());
    vec((marks, vec(word, 1..5)), 1..24).prop_map(|lines| {
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(at, (marks, words))| format!("- KL-{} {marks}{}\n", at + 1, words.join(" ")));
        format!("# Key Learnings\n{}", lines.collect::<String>())
    })
}

/// What is found of a document in one run.
fn found(document: &str) -> Vec<Operation> {
    find(document, now(), &mut Share::of(document, 0.2))
}

/// What is accepted of operations, applied.
fn applied(document: &str, counters: &mut Counters, operations: Vec<Operation>) -> (String, Vec<Operation>) {
    let taken = accepted(document, operations, &LIMITS);
    let applied = apply(document, *counters, &taken, now(), &LIMITS).expect("accepted operations apply");
    *counters = applied.counters;
    (applied.text, taken)
}

/// The values of a text, in its plainest sense: its words with a digit, a capital letter or a sign inside.
fn values(text: &str) -> BTreeSet<String> {
    let is_value = |word: &&str| !word.chars().all(|c| c.is_lowercase());
    text.split_whitespace()
        .filter(is_value)
        .map(str::to_owned)
        .collect()
}

/// What became of a record that is not active any more.
enum Fate {
    /// Another record says all that it said.
    SaidBy(RecordId),
    /// A newer record took its place.
    SupersededBy(RecordId),
    Expired,
}

fn merge(ids: [RecordId; 2], content: String) -> Operation {
    Operation::Add(AddedRecord {
        reason: "it must go".to_owned(),
        content,
        merges: ids.to_vec(),
        ..AddedRecord::default()
    })
}

/// The operations of a model that wants to archive and merge everything, on any ground, with the texts of others.
fn destroying(ids: &[RecordId], records: &BTreeMap<RecordId, Record>, picks: &[Pick]) -> Vec<Operation> {
    let step = |(first, second, ground): &Pick| {
        let (id, kept) = (*first.get(ids), *second.get(ids));
        let ground = match ground {
            0 => Ground::SupersededBy(kept),
            1 => Ground::Expired,
            2 | 3 => {
                let (one, other) = (&records[&id].content, &records[&kept].content);
                // Both, one of them, or both the wrong way round.
                let content = match ground {
                    2 => format!("{one} {other}"),
                    _ => format!("{other} and {one}"),
                };
                return merge([id, kept], content);
            }
            4 => return merge([id, kept], records[&id].content.clone()),
            _ => Ground::DuplicateOf(kept),
        };
        archive(id, Some(ground))
    };
    picks.iter().map(step).collect()
}

/// Two records, and what is done with them.
type Pick = (prop::sample::Index, prop::sample::Index, u8);

/// Follows what became of a record, and says what is lost of it.
fn lost(
    id: RecordId,
    ever: &BTreeMap<RecordId, Record>,
    fates: &BTreeMap<RecordId, Fate>,
    last: &BTreeMap<RecordId, Record>,
) -> Option<String> {
    if last.contains_key(&id) {
        return None;
    }
    match fates.get(&id) {
        None => Some(format!("{id} is gone")),
        Some(Fate::Expired) => None,
        Some(Fate::SupersededBy(newer)) => lost(*newer, ever, fates, last),
        Some(Fate::SaidBy(other)) => {
            let (stated, kept) = (values(&ever[&id].content), values(&ever[other].content));
            match stated.difference(&kept).next() {
                Some(value) => Some(format!("{value} of {id} is not in {other}")),
                None => lost(*other, ever, fates, last),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fifty runs of a model that wants to destroy: every value of every record that was ever active is in an active record,
    /// or in one that expired or that a newer one took the place of.
    #[test]
    fn no_value_is_lost_to_a_model_that_wants_to_destroy(
        document in document(),
        picks in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..7_u8), 50 * 4),
    ) {
        let first = by_id(&document);
        let mut ever = first.clone();
        let mut fates = BTreeMap::new();
        let mut counters = Counters::seen_in(&document);
        let mut text = document;
        for run in picks.chunks(4) {
            let records = by_id(&text);
            let ids: Vec<RecordId> = records.keys().copied().collect();
            if ids.is_empty() { break }
            let (next, taken) = applied(&text, &mut counters, destroying(&ids, &records, run));
            let added = by_id(&next);
            ever.extend(added.iter().map(|(id, record)| (*id, record.clone())));
            let mut new_ids = added.keys().filter(|id| !records.contains_key(id));
            for operation in &taken {
                match operation {
                    Operation::Archive { id, ground: Some(ground), .. } => {
                        fates.insert(*id, match ground {
                            Ground::DuplicateOf(kept) => Fate::SaidBy(*kept),
                            Ground::SupersededBy(kept) => Fate::SupersededBy(*kept),
                            Ground::Expired => Fate::Expired,
                        });
                    }
                    merge => {
                        let new = *new_ids.next().expect("a merge adds a record");
                        fates.extend(merge.merges().iter().map(|id| (*id, Fate::SaidBy(new))));
                    }
                }
            }
            text = next;
        }
        let last = by_id(&text);
        for (id, record) in &ever {
            prop_assert!(!record.marks.pinned || last.contains_key(id), "{id} was pinned");
            let lost = lost(*id, &ever, &fates, &last);
            prop_assert!(lost.is_none(), "{lost:?} in\n{text}");
        }
    }

    #[test]
    fn what_is_found_is_accepted_and_the_end_is_reached(document in document()) {
        let mut counters = Counters::seen_in(&document);
        let mut text = document;
        for _ in 0..50 {
            let once = found(&text);
            prop_assert_eq!(&once, &found(&text));
            if once.is_empty() {
                break;
            }
            let (next, taken) = applied(&text, &mut counters, once.clone());
            prop_assert_eq!(taken, once);
            text = next;
        }
        prop_assert_eq!(found(&text), vec![]);
        let expired = |record: &Record| record.marks.has_expired(now());
        let left = by_id(&text);
        prop_assert!(left.values().all(|record| !expired(record) || record.marks.pinned), "{text}");
        prop_assert!(left.values().all(|record| record.marks != Marks::default() || !record.content.is_empty()));
    }
}
