//! Positions of inserted records, removal of records, rewriting of progress, and operations that cannot be
//! applied.

use super::*;
use crate::domain::document::{ManagedSection, NewRecord, records};

#[test]
fn the_document_of_the_design_is_written_as_shown() {
    let operations = [
        progress(
            &["Wrote the parser"],
            &["Wire the parser to the update route"],
            &["Benchmarks"],
        ),
        learn("commit the prepared query data"),
        keep("Makefile test target", "test:\n\tcargo test\n"),
    ];
    assert_eq!(
        after("", &operations),
        "# Current Progress
## Completed
- Wrote the parser
## In Progress
- Wire the parser to the update route
## Remaining
- Benchmarks

# Key Learnings
- KL-1 [NOW] because r: commit the prepared query data

# Verbatim Context
- VC-1 [NOW] because r: Makefile test target =>
  test:
  \tcargo test
"
    );
}

#[test]
fn no_operations_leave_the_bytes_and_the_counters_of_the_document() {
    let document = "# Key Learnings\r\n- KL-7 a\n- b";
    let applied = apply(document, Counters::default(), &[], now(), &LIMITS).expect("applied");
    assert_eq!((applied.text.as_str(), applied.operations.len()), (document, 0));
    assert_eq!(applied.counters.get(RecordKind::Learning), 7);
}

#[test]
fn new_records_go_last_in_their_section_before_its_blank_lines() {
    for (before, expected) in [
        ("# Key Learnings\n- KL-1 a\n", "# Key Learnings\n- KL-1 a\n+"),
        ("# Key Learnings\n- KL-1 a", "# Key Learnings\n- KL-1 a\n+"),
        ("# Key Learnings", "# Key Learnings\n+"),
        ("# Key Learnings\n\n\n# B\n", "# Key Learnings\n+\n\n# B\n"),
        (
            "# Key Learnings\n- KL-1 a\n  sub\n \n\n# B\n",
            "# Key Learnings\n- KL-1 a\n  sub\n+ \n\n# B\n",
        ),
        (
            "# Key Learnings\n- KL-1 a\n\nprose\n\n# B\n",
            "# Key Learnings\n- KL-1 a\n\nprose\n+\n# B\n",
        ),
        (
            "# Key Learnings\r\n- KL-1 a\r\n\r\n# B\r\n",
            "# Key Learnings\r\n- KL-1 a\r\n+\r\n# B\r\n",
        ),
    ] {
        let number = if before.contains("KL-1") { 2 } else { 1 };
        let line = format!("- KL-{number} [NOW] because r: new\n");
        assert_eq!(
            after(before, &[learn("new")]),
            expected.replace('+', &line),
            "{before:?}"
        );
    }
}

#[test]
fn tasks_and_decisions_go_before_the_first_bullet() {
    let before = "# Recent Tasks\n  prose\n\n- T-1 a\n\n# Decisions\nprose\n";
    let mut edit = Edit::new(before, Counters::default(), now());
    for content in ["b", "c"] {
        let task = NewRecord {
            content,
            ..NewRecord::default()
        };
        edit.add(RecordKind::Task, &task, now()).expect("an id");
        let decision = NewRecord {
            reason: Some("r"),
            content,
            ..NewRecord::default()
        };
        edit.add(RecordKind::Decision, &decision, now()).expect("an id");
    }
    assert_eq!(
        edit.finish().text.replace(NOW, "NOW"),
        "# Recent Tasks\n  prose\n\n- T-3 [NOW] c\n- T-2 [NOW] b\n- T-1 a\n\n# Decisions\nprose\n\
         - D-2 [NOW] because r: c\n- D-1 [NOW] because r: b\n"
    );
}

#[test]
fn an_archived_record_removes_its_own_lines_but_not_the_blank_lines_after_it() {
    for (before, expected) in [
        ("# Key Learnings\n- KL-1 a\n", "# Key Learnings\n"),
        ("# Key Learnings\n- KL-1 a", "# Key Learnings\n"),
        (
            "# Key Learnings\n- KL-1 a\n  b\n\n  c\n\n\n# B\n",
            "# Key Learnings\n\n\n# B\n",
        ),
        (
            "# Key Learnings\n- KL-1 a\n\n- KL-2 b\n",
            "# Key Learnings\n\n- KL-2 b\n",
        ),
        (
            "# Key Learnings\n\n## Sub\n* x\n- KL-1 a\r\n prose\n",
            "# Key Learnings\n\n## Sub\n* x\n prose\n",
        ),
    ] {
        assert_eq!(after(before, &[archive("KL-1")]), expected, "{before:?}");
    }
    assert_eq!(
        after("# Key Learnings\n- KL-1 a", &[archive("KL-1"), learn("b")]),
        "# Key Learnings\n- KL-2 [NOW] because r: b\n"
    );
}

#[test]
fn archives_come_before_additions_whatever_the_order_of_the_input() {
    let document = "# Key Learnings\n- KL-1 because r: a\n";
    let operations = [
        keep("l", "s"),
        learn("b"),
        archive("KL-1"),
        progress(&[], &["p"], &[]),
    ];
    let applied = apply(document, Counters::default(), &operations, now(), &LIMITS).expect("applied");
    let applied_operations: Vec<_> = applied
        .operations
        .iter()
        .map(|o| {
            let id = o.id.map_or_else(String::new, |id| id.to_string());
            let [label, reason, content] =
                [&o.label, &o.reason, &o.content].map(|part| part.as_deref().unwrap_or("-"));
            format!("{} {id} {label} {reason} {content}", o.op.name())
        })
        .collect();
    assert_eq!(
        applied_operations,
        [
            "rewrite_progress  - - ## In Progress\n- p\n",
            "archive KL-1 - gone a",
            "add KL-2 - r b",
            "add VC-1 l r s"
        ]
    );
}

#[test]
fn progress_is_rewritten_as_a_whole_body_and_the_blank_lines_after_it_stay() {
    let operations = [progress(&[], &["p", " ", "q"], &["r"])];
    let body = "## In Progress\n- p\n- q\n## Remaining\n- r\n";
    for (before, expected) in [
        (
            "# Current Progress:\n\nold\n```\n# no\n```\n\n\n# B\n",
            "# Current Progress:\n+\n\n# B\n",
        ),
        ("# Current Progress", "# Current Progress\n+"),
        ("# Current Progress\nold", "# Current Progress\n+"),
        ("# Current Progress\n\n# B\n", "# Current Progress\n+\n# B\n"),
    ] {
        assert_eq!(
            after(before, &operations),
            expected.replace('+', body),
            "{before:?}"
        );
    }
}

#[test]
fn of_two_progresses_the_last_counts() {
    let operations = [progress(&[], &["p"], &[]), progress(&["d"], &["q"], &[])];
    assert_eq!(
        after("", &operations),
        "# Current Progress\n## Completed\n- d\n## In Progress\n- q\n"
    );
}

#[test]
fn progress_that_says_the_same_is_not_rewritten() {
    for before in [
        "# Current Progress\n## In Progress\n- p\n",
        "# Current Progress\n## In Progress\n- p",
        "# Current Progress\r\n\r\n## In Progress\r\n- p \r\n\r\n# B",
    ] {
        let operations = [progress(&[], &["p"], &[])];
        let applied = apply(before, Counters::default(), &operations, now(), &LIMITS).expect("applied");
        assert_eq!((applied.text.as_str(), applied.operations.len()), (before, 0));
    }
}

#[test]
fn what_a_record_line_cannot_hold_is_normalised() {
    for (operation, expected) in [
        (
            Operation::snippet("a: b\nc", "l => m\r\nn", "s\n \n"),
            ("a; b c", "l -> m n", "s"),
        ),
        (Operation::snippet(" a:", "l", "s\r\n"), ("a:", "l", "s")),
        (Operation::snippet("a:\tb: c", "l", "s\0"), ("a;\tb; c", "l", "s\u{fffd}")),
    ] {
        let applied = apply("", Counters::default(), &[operation], now(), &LIMITS).expect("applied");
        let record = records(&applied.text).pop().expect("a record");
        let (reason, label) = (record.reason.expect("a reason"), record.label.expect("a label"));
        assert_eq!(
            (reason.as_str(), label.as_str(), record.content.as_str()),
            expected
        );
    }
    assert_eq!(
        after("", &[learn(" a\r\n\n b ")]),
        "# Key Learnings\n- KL-1 [NOW] because r: a b\n"
    );
}

#[test]
fn a_document_over_the_cap_is_refused_with_its_sizes() {
    let limits = Limits {
        context_bytes: 60,
        ..LIMITS
    };
    let document = "# Key Learnings\n- KL-1 a\n";
    let refused = apply(document, Counters::default(), &[learn("b")], now(), &limits);
    assert_eq!(
        refused,
        Err(EditError::TooLarge {
            before: 25,
            bytes: 68,
            limit: 60
        })
    );
    let text = refused.map_err(|e| e.to_string());
    assert_eq!(
        text,
        Err("the document has 25 bytes and would have 68, over limits.context_bytes = 60".to_owned())
    );
    let limits = Limits {
        context_bytes: 68,
        ..LIMITS
    };
    assert!(apply(document, Counters::default(), &[learn("b")], now(), &limits).is_ok());
}

#[test]
fn archives_of_what_is_not_active_are_refused() {
    for operations in [vec![archive("KL-2")], vec![archive("KL-1"), archive("KL-1")]] {
        let last = operations.last().cloned();
        let refused = apply(
            "# Key Learnings\n- KL-1 a\n",
            Counters::default(),
            &operations,
            now(),
            &LIMITS,
        );
        let Some(Operation::Archive { id, .. }) = last else {
            unreachable!("an archive")
        };
        assert!(
            matches!(&refused, Err(EditError::NotActive { id: named, .. }) if *named == id),
            "{refused:?}"
        );
    }
}

#[test]
fn every_kind_of_record_can_be_archived() {
    let document = "# Recent Tasks\n- T-1 a\n# Decisions\n- D-1 b\n";
    assert_eq!(
        after(document, &[archive("D-1"), archive("T-1")]),
        "# Recent Tasks\n# Decisions\n"
    );
}

#[test]
fn the_body_of_active_context_is_rewritten_like_progress() {
    let mut edit = Edit::new("# Active Context\nGoal: a\n\n# B\n", Counters::default(), now());
    assert!(!edit.rewrite(ManagedSection::ActiveContext, "Goal: a\n".to_owned()));
    assert!(edit.rewrite(ManagedSection::ActiveContext, "Goal: b\n".to_owned()));
    assert_eq!(edit.finish().text, "# Active Context\nGoal: b\n\n# B\n");
}

#[test]
fn changes_are_listed_as_archived_then_added_and_changed() {
    let before = "# Key Learnings\n- KL-1 a\n- KL-2 b\n- KL-3 c\n# Decisions\n- D-1 d\n";
    let after = "# Key Learnings\n- KL-4 e\n- KL-3 because r: c\n- KL-2 b\n";
    let changes: Vec<_> = project(before, after)
        .into_iter()
        .map(|change| match change {
            RecordChange::Added(record) => format!("+{}", record.id),
            RecordChange::Changed { new, .. } => format!("~{}", new.id),
            RecordChange::Archived(record) => format!("-{}", record.id),
        })
        .collect();
    assert_eq!(changes, ["-KL-1", "-D-1", "+KL-4", "~KL-3"]);
}

#[test]
fn an_archived_record_names_what_takes_its_place() {
    let before = "# Key Learnings\n- KL-1 a\n- KL-2 b\n";
    let operations = [
        archive("KL-2"),
        replace("KL-2", "c"),
        replace("KL-1", "d"),
        learn("e"),
    ];
    let applied = apply(before, Counters::default(), &operations, now(), &LIMITS).expect("applied");
    let applied_operations: Vec<_> = applied
        .operations
        .iter()
        .map(|done| (done.id, done.reason.as_deref(), done.superseded_by))
        .collect();
    assert_eq!(
        applied_operations,
        [
            (Some(id("KL-2")), Some("gone"), Some(id("KL-3"))),
            (Some(id("KL-1")), Some("better"), Some(id("KL-4"))),
            (Some(id("KL-3")), Some("better"), None),
            (Some(id("KL-4")), Some("better"), None),
            (Some(id("KL-5")), Some("r"), None),
        ]
    );
}
