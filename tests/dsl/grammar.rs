//! The grammar for constrained output allows nothing for which the model would be called again.

use crate::gbnf::Grammar;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use working_memory::domain::dsl::grammar::{MAX_IDS, gbnf};
use working_memory::domain::dsl::{Options, parse};
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::memory::{Limits, View, validate};
use working_memory::domain::operation::{Operation, Role};

const ROLES: [Role; 3] = Role::ALL;

fn ids(kind: RecordKind, numbers: &[i64]) -> Vec<RecordId> {
    numbers
        .iter()
        .map(|number| RecordId::new(kind, *number))
        .collect()
}

fn kind_of(role: Role) -> RecordKind {
    role.record_kind().unwrap_or(RecordKind::Learning)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_of_the_grammar_has_no_fault_that_causes_a_retry(
        role in prop::sample::select(&ROLES[..]),
        numbers in vec(prop_oneof![1..30_i64, 1..20_000_i64, Just(i64::MAX)], 0..12),
        max_additions in 0..5_usize,
        seed in any::<u64>(),
    ) {
        let ids = ids(kind_of(role), &numbers);
        let grammar = Grammar::read(&gbnf(role, &ids, max_additions));
        let mut random = fastrand::Rng::with_seed(seed);
        let known: BTreeSet<RecordId> = ids.iter().copied().collect();
        let limits = Limits { max_additions, item_bytes: 1 << 20, context_bytes: 1 << 20 };
        for _ in 0..10 {
            let text = grammar.derive(&mut random);
            for options in [Options::default(), Options::strict()] {
                let parsed = parse(&text, &options);
                prop_assert_eq!(&parsed.sections, &[role], "{}", text);
                prop_assert!(
                    parsed.items.iter().all(|item| item.operation.role() == Some(role)) || role == Role::Progress,
                    "{}", text
                );
                let additions = parsed.items.iter().filter(|item| {
                    matches!(item.operation, Operation::AddLearning { .. } | Operation::AddVerbatim { .. })
                });
                prop_assert!(additions.count() <= max_additions, "{}", text);
                // No item runs into the next: there are as many as the lists have bullets.
                if role != Role::Progress {
                    let bullets = text.lines().filter(|line| line.starts_with("    - ")).count();
                    prop_assert_eq!(parsed.items.len(), bullets, "{}", text);
                }
                let view = View { document: "", ended: &known };
                let validated = validate(parsed.items, parsed.faults, &view, &[], &limits);
                for fault in &validated.faults {
                    prop_assert!(!fault.kind.causes_repair(), "{:?} in:\n{}", fault, text);
                }
            }
        }
    }
}

#[test]
fn only_existing_ids_can_be_archived() {
    let numbers = [1, 3, 10, 12, 13, 19, 100, 123, i64::MAX];
    let grammar = gbnf(Role::Learnings, &ids(RecordKind::Learning, &numbers), 3);
    let grammar = Grammar::read(&grammar);
    let mut random = fastrand::Rng::with_seed(7);
    let mut named = BTreeSet::new();
    for _ in 0..500 {
        let text = grammar.derive(&mut random);
        for item in parse(&text, &Options::default()).items {
            if let Operation::Archive { id, .. } = item.operation {
                named.insert(id.number);
            }
        }
    }
    assert_eq!(named, BTreeSet::from(numbers));
}

#[test]
fn a_role_without_records_cannot_archive_and_may_always_respond_no_change() {
    let others = ids(RecordKind::Verbatim, &[1, 2]);
    let grammar = gbnf(Role::Learnings, &others, 3);
    assert!(!grammar.contains("ARCHIVE"), "{grammar}");
    assert!(gbnf(Role::Verbatim, &others, 3).contains("ARCHIVE"));
    for role in ROLES {
        for max_additions in [0, 3] {
            assert!(gbnf(role, &[], max_additions).contains("NO CHANGE"));
        }
    }
}

#[test]
fn a_memory_of_very_many_records_has_a_grammar_of_limited_size() {
    let numbers: Vec<i64> = (1..200_000).map(|n| n * 7_919).collect();
    let grammar = gbnf(Role::Learnings, &ids(RecordKind::Learning, &numbers), 3);
    assert!(grammar.len() < MAX_IDS * 64, "{} bytes", grammar.len());
    Grammar::read(&grammar);
}
