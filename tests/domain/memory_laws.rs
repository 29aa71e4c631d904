//! Property tests of changes: what an update may change, and which ids it may assign.

use crate::hostile::{document, operations};
use crate::{by_id, now};
use proptest::prelude::*;
use std::collections::BTreeSet;
use working_memory::domain::document::{outline, records};
use working_memory::domain::dsl::Parsed;
use working_memory::domain::ids::{RecordId, RecordKind};
use working_memory::domain::memory::{ChangedDocument, Counters, Limits, View, apply, validate};
use working_memory::domain::operation::Operation;

const LIMITS: Limits = Limits {
    max_additions: 3,
    item_bytes: 60,
    context_bytes: 1_000_000,
    pins_hold: false,
};

/// The operations that a document accepts.
fn accepted(document: &str, operations: Vec<Operation>) -> Vec<Operation> {
    let count = operations.len();
    let ended = BTreeSet::from([RecordId::new(RecordKind::Learning, 4)]);
    let validated = validate(
        Parsed::of(operations),
        &View {
            document,
            ended: &ended,
            now: now(),
        },
        &[],
        &LIMITS,
    );
    assert_eq!(validated.items.len() + validated.faults.len(), count);
    validated.items.into_iter().map(|item| item.operation).collect()
}

fn applied(document: &str, operations: &[Operation]) -> ChangedDocument {
    apply(document, Counters::default(), operations, now(), &LIMITS).expect("accepted operations apply")
}

/// The text before the first heading, and every free section.
fn free_text(document: &str) -> Vec<&str> {
    let sections = outline(document);
    let preamble = &document[..sections.first().map_or(document.len(), |first| first.range.start)];
    let free = sections.iter().filter(|section| section.managed.is_none());
    std::iter::once(preamble)
        .chain(free.map(|section| &document[section.range.clone()]))
        .collect()
}

/// What may be written after the last free text: a line end, the line that closes a fence, an empty line.
fn is_seam(text: &str) -> bool {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.lines()
        .all(|line| line.chars().all(|c| c == '`') || line.chars().all(|c| c == '~'))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_applied_changes_nothing(document in document()) {
        prop_assert_eq!(applied(&document, &[]).text, document);
    }

    #[test]
    fn free_text_keeps_every_byte_and_its_position(document in document(), operations in operations()) {
        let after = applied(&document, &accepted(&document, operations)).text;
        let (was, is) = (free_text(&document), free_text(&after));
        prop_assert_eq!(was.len(), is.len());
        for (was, is) in was.iter().zip(&is) {
            let at_the_end = document.ends_with(was);
            prop_assert!(was == is || at_the_end && is.strip_prefix(was).is_some_and(is_seam), "{was:?} {is:?}");
        }
    }

    #[test]
    fn no_record_is_removed_or_changed_without_an_archive_of_its_id(
        document in document(), operations in operations(),
    ) {
        let operations = accepted(&document, operations);
        let applied = applied(&document, &operations);
        let (mut before, after) = (by_id(&document), by_id(&applied.text));
        for operation in &operations {
            match operation {
                Operation::Archive { id, .. } => {
                    prop_assert!(before.remove(id).is_some(), "only active records are archived");
                    prop_assert!(!after.contains_key(id));
                }
                Operation::Mark { id, pinned, until, .. } => {
                    let record = before.get_mut(id).expect("only active records are marked");
                    record.marks = record.marks.changed(*pinned, *until);
                }
                _ => {}
            }
        }
        for (id, record) in before {
            prop_assert_eq!(Some(&record), after.get(&id));
        }
    }

    #[test]
    fn a_model_archives_no_pinned_record_and_marks_none(document in document(), operations in operations()) {
        let taken = crate::accepted(&document, operations, &Limits { pins_hold: true, ..LIMITS });
        let after = by_id(&applied(&document, &taken).text);
        for (id, record) in by_id(&document) {
            let is = after.get(&id);
            prop_assert!(!record.marks.pinned || is == Some(&record));
            prop_assert!(is.is_none_or(|is| is.marks == record.marks));
        }
    }

    #[test]
    fn the_reported_changes_match_the_document(document in document(), operations in operations()) {
        let operations = accepted(&document, operations);
        let applied = applied(&document, &operations);
        let (before, after) = (by_id(&document), by_id(&applied.text));
        for reported in &applied.operations {
            let Some(id) = reported.id else {
                prop_assert!(outline(&applied.text).iter().any(|s| s.managed.is_some_and(|m| m.name() == "progress")));
                continue;
            };
            let record = after.get(&id).or_else(|| before.get(&id)).expect("a record");
            if reported.op.name() == "mark" {
                let marks = reported.content.as_ref().and_then(|marks| marks.parse().ok()).unwrap_or_default();
                prop_assert_eq!(record.marks, marks);
                continue;
            }
            prop_assert_eq!(reported.content.as_ref(), Some(&record.content));
            prop_assert_eq!(reported.label.as_ref(), record.label.as_ref());
        }
        if applied.text == document {
            prop_assert!(applied.operations.is_empty());
        }
        let additions = operations.iter().filter(|o| o.addition().is_some());
        let new = applied.operations.iter().filter(|reported| reported.op.name() == "add");
        prop_assert_eq!(additions.count(), new.count());
    }

    #[test]
    fn the_same_text_again_adds_and_rewrites_nothing(document in document(), operations in operations()) {
        let lasting: Vec<_> =
            operations.into_iter().filter(|o| !matches!(o, Operation::Archive { .. })).collect();
        // The label and the reason are normalized by the memory: the second time compares what is written.
        let once = applied(&document, &accepted(&document, lasting));
        let reported: Vec<_> = once.operations.iter().filter_map(as_operation).collect();
        let twice = applied(&once.text, &accepted(&once.text, reported));
        prop_assert_eq!(twice.text, once.text);
    }

    #[test]
    fn every_bullet_of_a_changed_section_becomes_a_record(document in document()) {
        let after = applied(&document, &[Operation::learning("r", "new")]).text;
        let new = records(&after).into_iter().filter(|r| r.id.kind == RecordKind::Learning).count();
        let later = applied(&after, &[Operation::learning("r", "newer")]).text;
        prop_assert_eq!(records(&later).into_iter().filter(|r| r.id.kind == RecordKind::Learning).count(), new + 1);
        let (was, is) = (by_id(&after), by_id(&later));
        prop_assert!(was.iter().all(|(id, record)| is.get(id) == Some(record)));
    }
}

/// A reported change, as an operation to apply again.
fn as_operation(reported: &working_memory::domain::memory::AppliedOperation) -> Option<Operation> {
    let id = reported.id.filter(|_| reported.op.name() == "add")?;
    let (reason, content) = (
        reported.reason.clone().unwrap_or_default(),
        reported.content.clone().unwrap_or_default(),
    );
    let label = reported.label.clone().unwrap_or_default();
    match id.kind {
        RecordKind::Learning => Some(Operation::learning(reason, content)),
        RecordKind::Verbatim => Some(Operation::snippet(reason, label, content)),
        RecordKind::Task | RecordKind::Decision => None,
    }
}
