//! Assignment of ids.

use super::*;

#[test]
fn bullets_without_an_id_get_one_before_the_additions_of_the_change() {
    let before =
        "# Key Learnings\n- a\n- KL-3 b\n- because r: c\n  - sub\n- [2026-11-21T02:00:00Z] d\n-   e\r\n";
    let after_ = "# Key Learnings\n- KL-4 [NOW] a\n- KL-3 b\n- KL-5 [NOW] because r: c\n  - sub\n\
                  - KL-6 [2026-11-21T02:00:00Z] d\n- KL-7 [NOW]   e\r\n- KL-8 [NOW] because r: new\n";
    assert_eq!(after(before, &[learn("new")]), after_);
}

#[test]
fn only_the_section_that_changes_is_numbered() {
    let before =
        "# Key Learnings\n- a\n\n# Verbatim Context\n- b\n\n# Free\n- c\n\n# Current Progress\n- d\n";
    assert_eq!(
        after(before, &[keep("l", "s")]),
        before.replace("- b\n", "- VC-1 [NOW] b\n- VC-2 [NOW] because r: l => s\n")
    );
    assert_eq!(
        after(before, &[progress(&[], &["p"], &[])]),
        before.replace("- d\n", "## In Progress\n- p\n")
    );
}

#[test]
fn an_archive_numbers_its_section_too() {
    assert_eq!(
        after("# Key Learnings\n- KL-1 a\n- b\n", &[archive("KL-1")]),
        "# Key Learnings\n- KL-2 [NOW] b\n"
    );
}

#[test]
fn the_second_line_with_an_id_gets_a_new_one_in_place_of_the_old() {
    let before = "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] a\n- KL-1 [2026-11-21T02:00:00Z] b\n- KL-1 c\n- KL-1\n";
    assert_eq!(
        after(before, &[learn("new")]),
        "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] a\n- KL-2 [2026-11-21T02:00:00Z] b\n- KL-3 [NOW] c\n\
         - KL-4 [NOW]\n- KL-5 [NOW] because r: new\n"
    );
    // The first line is the record even if the same change archives it.
    assert_eq!(
        after("# Key Learnings\n- KL-1 a\n- KL-1 b\n", &[archive("KL-1")]),
        "# Key Learnings\n- KL-2 [NOW] b\n"
    );
    // The same for an empty bullet: otherwise it would become the archived record.
    assert_eq!(
        after("# Key Learnings\n- KL-1 a\n- KL-1\n-\n", &[archive("KL-1")]),
        "# Key Learnings\n- KL-2 [NOW]\n-\n"
    );
}

#[test]
fn a_number_over_the_largest_is_content() {
    assert_eq!(
        after(
            "# Key Learnings\n- KL-9223372036854775808 a\n- KL-007 b\n",
            &[learn("new")]
        ),
        "# Key Learnings\n- KL-1 [NOW] KL-9223372036854775808 a\n- KL-2 [NOW] KL-007 b\n\
         - KL-3 [NOW] because r: new\n"
    );
}

#[test]
fn an_empty_bullet_is_nothing_to_number() {
    assert_eq!(
        after("# Key Learnings\n- \n-  \n- \n  x\n", &[learn("new")]),
        "# Key Learnings\n- \n-  \n- KL-1 [NOW] \n  x\n- KL-2 [NOW] because r: new\n"
    );
}

#[test]
fn bullets_in_fences_and_lists_of_other_kinds_are_not_numbered() {
    let before = "# Key Learnings\n```\n- a\n```\n* b\n1. c\n - d\n";
    assert_eq!(
        after(before, &[learn("new")]),
        format!("{before}- KL-1 [NOW] because r: new\n")
    );
}

#[test]
fn the_next_id_is_one_more_than_the_counter_and_every_record_line() {
    let mut counters = Counters::default();
    counters.raise(RecordKind::Learning, 5);
    counters.raise(RecordKind::Learning, 2);
    let id_of = |document: &str| {
        let applied = apply(document, counters, &[learn("new")], now(), &LIMITS).expect("applied");
        assert_eq!(
            applied.counters.get(RecordKind::Learning),
            applied.operations[0].id.expect("an id").number
        );
        applied.operations[0].id.expect("an id").to_string()
    };
    assert_eq!(id_of(""), "KL-6");
    assert_eq!(id_of("# Key Learnings\n- KL-4 a\n"), "KL-6");
    assert_eq!(id_of("# Key Learnings\n- KL-8 a\n"), "KL-9");
    assert_eq!(id_of("# Key Learnings\n- KL-8 a\n- KL-8 b\n"), "KL-10");
    // Free text, snippets and other sections do not count as ids in use.
    assert_eq!(
        id_of("KL-8\n# Free\n- KL-9 a\n# Verbatim Context\n- KL-9 a =>\n  - KL-9 b\n"),
        "KL-6"
    );
}

#[test]
fn the_largest_number_leaves_none() {
    let document = "# Key Learnings\n- KL-9223372036854775807 a\n";
    let refused = apply(document, Counters::default(), &[learn("b")], now(), &LIMITS);
    let exhausted = IdsExhausted {
        kind: RecordKind::Learning,
    };
    assert_eq!(refused, Err(EditError::IdsExhausted(exhausted)));
    assert_eq!(
        exhausted.to_string(),
        "no number is left for a new KL record: KL-9223372036854775807 is taken"
    );
    let archived = [archive("KL-9223372036854775807")];
    assert!(apply(document, Counters::default(), &archived, now(), &LIMITS).is_ok());
}

#[test]
fn counters_know_the_record_lines_of_a_text() {
    let seen =
        Counters::seen_in("# Decisions\n- D-2 a\n- D-2 b\n- T-9 c\n# Recent Tasks\n- T-4 d\n- T-1 e\n");
    assert_eq!(RecordKind::ALL.map(|kind| seen.get(kind)), [0, 0, 4, 2]);
}
