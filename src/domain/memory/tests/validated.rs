//! The rules of the fault table that need the memory.

use super::*;
use crate::domain::operation::{Fault, FaultKind, Item, Role};
use std::collections::BTreeSet;

const DOCUMENT: &str = "# Key Learnings\n- KL-1 because r: Use  Tokio\n- by hand\n- KL-2 two\n  lines\n\
                        # Verbatim Context\n- VC-1 because r: Makefile =>\n  a\n  b\n";

fn items(operations: &[Operation]) -> Vec<Item> {
    let item = |(place, operation): (usize, &Operation)| Item {
        operation: operation.clone(),
        range: place * 10..place * 10 + 10,
    };
    operations.iter().enumerate().map(item).collect()
}

fn fault(kind: FaultKind, id: Option<RecordId>, start: usize) -> Fault {
    Fault {
        kind,
        section: Some(Role::Learnings),
        id,
        range: start..start + 5,
        detail: "said".to_owned(),
    }
}

fn validated(operations: &[Operation], faults: Vec<Fault>, earlier: &[Operation]) -> Validated {
    let ended = BTreeSet::from([id("KL-5"), id("KL-1")]);
    let view = View {
        document: DOCUMENT,
        ended: &ended,
        now: DateTime::UNIX_EPOCH,
    };
    validate(items(operations), faults, &view, earlier, &LIMITS)
}

/// The verdict on each operation, in order: the name of its fault, or `ok`.
fn verdicts_after(earlier: &[Operation], operations: &[Operation]) -> Vec<&'static str> {
    let validated = validated(operations, vec![], earlier);
    let verdict = |item: &Item| {
        let fault = validated.faults.iter().find(|fault| fault.range == item.range);
        assert_eq!(fault.is_none(), validated.items.contains(item));
        fault.map_or("ok", |fault| fault.kind.name())
    };
    items(operations).iter().map(verdict).collect()
}

fn verdicts(operations: &[Operation]) -> Vec<&'static str> {
    verdicts_after(&[], operations)
}

#[test]
fn an_archive_names_a_record_that_existed_and_is_active() {
    assert_eq!(
        verdicts(&[
            archive("KL-1"),
            archive("KL-9"),
            archive("KL-5"),
            archive("KL-1"),
            archive("VC-1"),
            archive("VC-5")
        ]),
        [
            "ok",
            "unknown_id",
            "already_archived",
            "already_archived",
            "ok",
            "unknown_id"
        ]
    );
    // Added by the same text: it has no id yet.
    assert_eq!(verdicts(&[learn("new"), archive("KL-3")]), ["ok", "unknown_id"]);
    assert_eq!(
        verdicts_after(&[archive("KL-1")], &[archive("KL-1")]),
        ["already_archived"]
    );
}

#[test]
fn a_placeholder_is_unknown_where_its_id_never_existed() {
    let faults = vec![
        fault(FaultKind::Placeholder, Some(id("KL-9")), 0),
        fault(FaultKind::Placeholder, Some(id("KL-5")), 10),
        fault(FaultKind::Placeholder, None, 20),
        fault(FaultKind::MissingReason, Some(id("KL-9")), 30),
    ];
    let kinds: Vec<_> = validated(&[], faults, &[])
        .faults
        .iter()
        .map(|f| f.kind.name())
        .collect();
    assert_eq!(
        kinds,
        ["unknown_id", "placeholder", "placeholder", "missing_reason"]
    );
}

#[test]
fn learnings_are_compared_with_case_and_blanks_folded() {
    assert_eq!(
        verdicts(&[
            learn("use tokio"),
            learn("BY\u{a0} HAND"),
            learn("two lines"),
            learn("usetokio")
        ]),
        ["duplicate", "duplicate", "duplicate", "ok"]
    );
    assert_eq!(verdicts(&[learn("ÄRGER"), learn("ärger")]), ["ok", "duplicate"]);
    assert_eq!(verdicts_after(&[learn("x")], &[learn("X")]), ["duplicate"]);
}

#[test]
fn snippets_are_compared_to_the_byte_and_their_labels_folded() {
    assert_eq!(
        verdicts(&[
            keep("MAKEFILE", "a\nb"),
            keep("makefile", "a\nB"),
            keep("other", "a\nb"),
            keep("Other ", "a\nb")
        ]),
        ["duplicate", "ok", "ok", "duplicate"]
    );
    assert_eq!(verdicts(&[keep("makefile", "a\nb\n\n")]), ["duplicate"]);
    assert_eq!(verdicts(&[keep("makefile", "a\nb ")]), ["ok"]);
}

#[test]
fn duplicates_are_looked_for_after_the_archives_of_the_text() {
    assert_eq!(verdicts(&[learn("use tokio"), archive("KL-1")]), ["ok", "ok"]);
    assert_eq!(verdicts_after(&[archive("KL-1")], &[learn("use tokio")]), ["ok"]);
    assert_eq!(
        verdicts(&[learn("use tokio"), archive("KL-9")]),
        ["duplicate", "unknown_id"]
    );
}

#[test]
fn an_item_equal_to_an_earlier_rejected_item_is_a_duplicate_too() {
    let large = "x".repeat(41);
    assert_eq!(
        verdicts(&[learn(&large), learn(&large)]),
        ["too_large", "duplicate"]
    );
}

#[test]
fn only_valid_additions_count_for_the_limit_of_a_section() {
    let large = "x".repeat(41);
    assert_eq!(
        verdicts(&[
            learn("by hand"),
            learn(&large),
            learn("1"),
            keep("l", "1"),
            learn("2"),
            learn("3"),
            learn("4"),
            keep("l", "2")
        ]),
        [
            "duplicate",
            "too_large",
            "ok",
            "ok",
            "ok",
            "ok",
            "too_many_additions",
            "ok"
        ]
    );
    assert_eq!(
        verdicts_after(&[learn("1"), learn("2")], &[learn("3"), learn("4")]),
        ["ok", "too_many_additions"]
    );
}

#[test]
fn an_insight_or_snippet_is_at_most_as_long_as_the_limit() {
    let (fits, large) = ("ä".repeat(20), "ä".repeat(21));
    assert_eq!(verdicts(&[learn(&fits), keep("l", &fits)]), ["ok", "ok"]);
    assert_eq!(
        verdicts(&[learn(&large), keep("l", &large)]),
        ["too_large", "too_large"]
    );
    assert_eq!(verdicts(&[keep(&large, "s")]), ["ok"]);
}

#[test]
fn an_item_with_several_faults_has_the_first_of_the_table() {
    let large = "x".repeat(41);
    let operations = [
        learn("1"),
        learn("2"),
        learn("3"),
        learn(&large),
        learn("by  hand"),
    ];
    assert_eq!(
        verdicts(&operations),
        ["ok", "ok", "ok", "too_many_additions", "duplicate"]
    );
}

#[test]
fn a_warning_about_an_item_that_is_rejected_goes_and_faults_stay_in_input_order() {
    let warnings = vec![
        fault(FaultKind::UnknownHeader, None, 2),
        fault(FaultKind::MultiLineInsight, None, 10),
        fault(FaultKind::MultiLineInsight, None, 20),
        fault(FaultKind::Truncated, None, 40),
    ];
    let validated = validated(
        &[archive("KL-1"), learn("by hand"), learn("new"), archive("KL-5")],
        warnings,
        &[],
    );
    let kinds: Vec<_> = validated.faults.iter().map(|f| f.kind.name()).collect();
    assert_eq!(
        kinds,
        [
            "unknown_header",
            "duplicate",
            "multi_line_insight",
            "already_archived",
            "truncated"
        ]
    );
    assert_eq!(validated.items.len(), 2);
}

#[test]
fn what_an_addition_replaces_is_archived_with_it_or_not_at_all() {
    assert_eq!(verdicts_after(&[], &[replace("KL-1", "new")]), ["ok"]);
    assert_eq!(
        verdicts_after(&[], &[replace("KL-1", "use tokio")]),
        ["ok"],
        "it says the same in other words"
    );
    assert_eq!(verdicts_after(&[], &[replace("KL-9", "new")]), ["unknown_id"]);
    assert_eq!(
        verdicts_after(&[], &[replace("KL-5", "new")]),
        ["already_archived"]
    );
    assert_eq!(
        verdicts_after(&[], &[replace("VC-1", "new")]),
        ["wrong_section_id"]
    );
    assert_eq!(
        verdicts_after(&[], &[replace("KL-1", "new"), replace("KL-1", "newer")]),
        ["ok", "already_archived"]
    );
    assert_eq!(
        verdicts_after(&[archive("KL-1")], &[replace("KL-1", "new")]),
        ["ok"]
    );
}

#[test]
fn an_addition_replaces_nothing_where_the_archiving_beside_it_is_rejected() {
    for missing in ["KL-5", "KL-9"] {
        let left = validated(&[replace(missing, "new"), archive(missing)], vec![], &[]);
        let [item] = left.items.as_slice() else {
            panic!("{left:?}");
        };
        assert_eq!(item.operation.replaces(), None);
        assert_eq!(left.faults.len(), 1);
    }
    let both = validated(&[replace("KL-1", "new"), archive("KL-1")], vec![], &[]);
    assert_eq!(both.items[0].operation.replaces(), Some(id("KL-1")));
}
