//! Changes of the window: documents before and after.

use super::*;
use crate::domain::document::outline;
use proptest::prelude::*;

const SIZES: Sizes = Sizes {
    tasks: 2,
    decisions: 2,
    context_bytes: 10_000,
};

fn at(second: i64) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-21T02:00:00Z")
        .unwrap()
        .to_utc()
        + chrono::TimeDelta::seconds(second)
}

fn task(intent: &str, summary: &str) -> Task {
    Task {
        intent: intent.to_owned(),
        summary: summary.to_owned(),
        ..Task::default()
    }
}

fn done(document: &str, second: i64, intent: &str) -> ChangedDocument {
    record_task(
        document,
        Counters::default(),
        at(second),
        &task(intent, "done"),
        &SIZES,
    )
    .unwrap()
}

#[test]
fn the_first_task_makes_the_sections_it_needs() {
    let written = done("", 0, "Add DSL parser");
    assert_eq!(
        written.text,
        "# Active Context\nGoal: none\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-1 \
         [2026-11-21T02:00:00Z] Add DSL parser: done\n"
    );
    assert_eq!(
        (written.added().unwrap().number, written.archived().len()),
        (1, 0)
    );
}

#[test]
fn the_oldest_task_leaves_with_a_reason() {
    let two = done(&done("", 0, "a").text, 1, "b").text;
    let three = done(&two, 2, "c");
    assert_eq!(three.archived(), ["T-1".parse().unwrap()]);
    assert_eq!(
        three.operations[0].reason.as_deref(),
        Some("left the window of 2 recent tasks")
    );
    let lines: Vec<_> = three
        .text
        .lines()
        .filter(|line| line.starts_with("- T-"))
        .collect();
    assert_eq!(
        lines,
        [
            "- T-3 [2026-11-21T02:00:02Z] c: done",
            "- T-2 [2026-11-21T02:00:01Z] b: done"
        ]
    );
    assert!(
        three.text.contains("Updated: 2026-11-21T02:00:02Z\n"),
        "{}",
        three.text
    );
}

#[test]
fn bullets_of_a_person_stay_when_they_get_their_ids() {
    let document = "# Recent Tasks\n- T-1 [2026-11-20T00:00:00Z] old\n- by hand\n- also by hand\nprose\n";
    let written = done(document, 0, "new");
    assert_eq!(written.archived(), ["T-1".parse().unwrap()]);
    for line in [
        "- T-2 [2026-11-21T02:00:00Z] by hand",
        "- T-3 ",
        "- T-4 ",
        "prose",
    ] {
        assert!(written.text.contains(line), "{line}: {}", written.text);
    }
}

#[test]
fn a_decision_takes_the_place_of_the_one_it_supersedes() {
    let decide = |document: &str, what: &str, supersedes: Option<&str>| {
        let supersedes = supersedes.map(|id| id.parse().unwrap());
        record_decision(
            document,
            Counters::default(),
            at(0),
            (what, Some("it is simpler")),
            supersedes,
            &SIZES,
        )
    };
    let one = decide("", "SQL in storage", None).unwrap();
    assert!(
        one.text
            .contains("- D-1 [2026-11-21T02:00:00Z] because it is simpler: SQL in storage\n")
    );
    let two = decide(&one.text, "SQL in files", Some("D-1")).unwrap();
    assert_eq!(two.archived(), ["D-1".parse().unwrap()]);
    assert_eq!(
        two.operations[0].reason.as_deref(),
        Some("superseded: it is simpler")
    );
    for archived_id in ["D-1", "D-9"] {
        assert_eq!(
            decide(&two.text, "x", Some(archived_id)),
            Err(EditError::NotActive {
                id: archived_id.parse().unwrap(),
                active: vec!["D-2".parse().unwrap()],
            })
        );
    }
}

#[test]
fn bullets_of_a_person_are_the_status_and_are_written_where_they_stand() {
    let text = "# Active Context\n- Goal: ship\n- Blockers: the quota\n- Goals: many\n";
    let status = Status::of(text);
    assert_eq!(
        (status.goal.as_deref(), status.blocker.as_deref()),
        (Some("ship"), Some("the quota"))
    );
    let set = |document: &str| {
        set_status(
            document,
            Counters::default(),
            at(5),
            FieldUpdate::Set("ship it"),
            FieldUpdate::Clear,
            &SIZES,
        )
        .map(|written| written.text)
    };
    assert_eq!(
        set(text).as_deref(),
        Ok("# Active Context\nGoal: ship it\nBlocker: none\nUpdated: 2026-11-21T02:00:05Z\n- Goals: many\n")
    );
    let list = "# Active Context\nBlockers:\n- the quota\n";
    assert_eq!(Status::of(list), Status::default());
    assert_eq!(
        set(list).as_deref(),
        Ok(
            "# Active Context\nGoal: ship it\nBlocker: none\nUpdated: 2026-11-21T02:00:05Z\nBlockers:\n- the quota\n"
        )
    );
}

#[test]
fn a_status_is_written_once_and_lines_of_a_person_stay() {
    let document = "# Active Context\nWe are in a hurry.\nblocker: the net\n\n# Facts\nx\n";
    let set = |document: &str, goal, blocker| {
        set_status(document, Counters::default(), at(5), goal, blocker, &SIZES)
    };
    let written = set(document, FieldUpdate::Set("ship it"), FieldUpdate::Clear).unwrap();
    assert_eq!(
        written.text,
        "# Active Context\nGoal: ship it\nWe are in a hurry.\nBlocker: none\nUpdated: 2026-11-21T02:00:05Z\n\n# \
         Facts\nx\n"
    );
    let again = set(
        &written.text,
        FieldUpdate::Set("ship it"),
        FieldUpdate::Set("none"),
    )
    .unwrap();
    assert_eq!(
        (again.text.as_str(), again.operations.len()),
        (written.text.as_str(), 0)
    );
    let kept = set(&written.text, FieldUpdate::Keep, FieldUpdate::Set("review")).unwrap();
    assert!(kept.text.contains("Goal: ship it\n") && kept.text.contains("Blocker: review\n"));
    let kept = set(&kept.text, FieldUpdate::Set("rest"), FieldUpdate::Keep).unwrap();
    assert!(kept.text.contains("Goal: rest\n") && kept.text.contains("Blocker: review\n"));
    let cleared = set(&kept.text, FieldUpdate::Clear, FieldUpdate::Keep).unwrap();
    assert!(cleared.text.contains("Goal: none\n") && cleared.text.contains("Blocker: review\n"));
    let first = set("", FieldUpdate::Keep, FieldUpdate::Set("x")).unwrap();
    assert!(first.text.contains("Goal: none\nBlocker: x\n"), "{}", first.text);
}

#[test]
fn a_decision_may_have_no_reason_and_none_is_made_up() {
    let decide = |text: &str, what: &str, supersedes: Option<&str>| {
        let supersedes = supersedes.map(|id| id.parse().unwrap());
        record_decision(text, Counters::default(), at(0), (what, None), supersedes, &SIZES).unwrap()
    };
    let one = decide("", "because of it: use sqlx", None);
    assert!(
        one.text
            .contains("- D-1 [2026-11-21T02:00:00Z] because\u{a0}of it: use sqlx\n"),
        "{}",
        one.text
    );
    assert_eq!(records(&one.text)[0].reason, None);
    let two = decide(&one.text, "use diesel", Some("D-1"));
    assert_eq!(two.operations[0].reason.as_deref(), Some("superseded"));
}

#[test]
fn a_document_over_its_cap_is_refused_with_both_sizes() {
    let document = "x".repeat(9_990);
    let refused = record_task(&document, Counters::default(), at(0), &task("a", "b"), &SIZES);
    assert!(
        matches!(refused, Err(EditError::TooLarge { before: 9_990, limit: 10_000, bytes }) if bytes > 10_000),
        "{refused:?}"
    );
}

proptest! {
    #[test]
    fn free_sections_survive_any_number_of_changes(
        free in "(\\PC{0,20}\n){0,4}",
        context in "((Goal: |updated:|```|- |# x|)\\PC{0,8}\n){0,4}",
        steps in prop::collection::vec((0..3_u8, "\\PC{1,30}"), 1..8),
    ) {
        let document = format!("# Notes\nfirst\n\n# Active Context\n{context}\n# Facts\n{free}");
        let before = free_text(&document);
        let mut text = document;
        let mut counters = Counters::default();
        for (second, (kind, words)) in steps.into_iter().enumerate() {
            let now = at(i64::try_from(second).unwrap());
            let written = match kind {
                0 => record_task(&text, counters, now, &task(&words, &words), &SIZES),
                1 => record_decision(&text, counters, now, (&words, Some(&words)), None, &SIZES),
                _ => set_status(&text, counters, now, FieldUpdate::Set(&words), FieldUpdate::Clear, &SIZES),
            }.unwrap();
            // A fence that a free section leaves open is closed after it.
            let after = free_text(&written.text);
            prop_assert_eq!(after.len(), before.len());
            for (after, before) in after.iter().zip(&before) {
                prop_assert!(after.starts_with(before.as_str()), "{} became {}", before, after);
            }
            if let Some(id) = written.added() {
                prop_assert!(records(&written.text).iter().any(|record| record.id == id), "{}", written.text);
            }
            text = written.text;
            counters = written.counters;
        }
    }
}

/// The free sections, byte for byte, except for trailing blank lines, because other sections are appended
/// after the last one.
fn free_text(document: &str) -> Vec<String> {
    outline(document)
        .into_iter()
        .filter(|section| section.managed.is_none())
        .map(|section| document[section.range].trim_end().to_owned())
        .collect()
}
