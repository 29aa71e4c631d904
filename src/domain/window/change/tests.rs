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
    let mut change = Change::begin(document, Counters::default(), at(second), SIZES);
    change.add_task(&task(intent, "done")).unwrap();
    change.finish().unwrap()
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
fn bullets_of_a_person_are_the_status_and_are_written_where_they_stand() {
    let text = "# Active Context\n- Goal: ship\n* Blockers: the quota\n- Goals: many\n";
    let status = Status::of(text);
    assert_eq!(
        (status.goal.as_deref(), status.blocker.as_deref()),
        (Some("ship"), Some("the quota"))
    );
    let set = |document: &str| {
        let mut change = Change::begin(document, Counters::default(), at(5), SIZES);
        change.set_status(Some(Some("ship it")), Some(None));
        change.finish().map(|written| written.text)
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
fn a_decision_may_have_no_reason_and_none_is_made_up() {
    let mut change = Change::begin("", Counters::default(), at(0), SIZES);
    change
        .add_decision("because of it: use sqlx", None, None)
        .unwrap();
    let made = change.finish().unwrap();
    assert!(
        made.text.contains("because\u{a0}of it: use sqlx\n"),
        "{}",
        made.text
    );
    assert_eq!(records(&made.text)[0].reason, None);
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
            let mut change = Change::begin(&text, counters, now, SIZES);
            match kind {
                0 => change.add_task(&task(&words, &words)).unwrap(),
                1 => change.add_decision(&words, Some(&words), None).unwrap(),
                _ => change.set_status(Some(Some(&words)), Some(None)),
            }
            let written = change.finish().unwrap();
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
