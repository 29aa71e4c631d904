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
    let begin: DateTime<Utc> = "2026-11-21T02:00:00Z".parse().unwrap();
    begin + chrono::TimeDelta::seconds(second)
}

fn task(intent: &str, summary: &str) -> Task {
    Task {
        intent: intent.to_owned(),
        summary: summary.to_owned(),
        ..Task::default()
    }
}

#[test]
fn bullets_of_a_person_stay_when_they_get_their_ids() {
    let document = "# Recent Tasks\n- T-1 [2026-11-20T00:00:00Z] old\n- by hand\n- also by hand\nprose\n";
    let mut change = Change::begin(document, Counters::default(), at(0), SIZES);
    change.add_task(&task("new", "done")).unwrap();
    let written = change.finish().unwrap();
    assert_eq!(written.archived(), ["T-1".parse().unwrap()]);
    for line in "- T-2 [2026-11-21T02:00:00Z] by hand|- T-3 |- T-4 |prose".split('|') {
        assert!(written.text.contains(line), "{line}: {}", written.text);
    }
}

#[test]
fn bullets_of_a_person_are_the_status_and_are_written_where_they_stand() {
    let text = "# Active Context\n- Goal: ship\n* Blockers: the quota\n- Goals: many\n";
    let status = Status::of(text);
    let (goal, blocker) = (status.goal.as_deref(), status.blocker.as_deref());
    assert_eq!((goal, blocker), (Some("ship"), Some("the quota")));
    let list = "# Active Context\nBlockers:\n- the quota\n";
    assert_eq!(Status::of(list), Status::default());
    let written = "# Active Context\nGoal: ship it\nBlocker: none\nUpdated: 2026-11-21T02:00:05Z\n";
    for (document, rest) in [(text, "- Goals: many\n"), (list, "Blockers:\n- the quota\n")] {
        let mut change = Change::begin(document, Counters::default(), at(5), SIZES);
        change.set_status(Some(Some("ship it")), Some(None));
        assert_eq!(change.finish().unwrap().text, format!("{written}{rest}"));
    }
}

#[test]
fn the_bullet_of_the_intent_moves_where_no_other_text_is_lost() {
    let table = r"
        ## Completed\n- a\n\n## In Progress\n- Wire  THE\n  parser\n- b\n ⇒ ## Completed\n- a\n- Wire  THE\n  parser\n## In Progress\n- b\n
        ## In Progress\n- Wire the parser\n- fix it:\n  1. run `make  all`\n\n  ```sh\n  for i in 1 2; do\n      echo\n  done\n  ```\n\n## Remaining\n* b  c  \n  d\n ⇒ ## Completed\n- Wire the parser\n## In Progress\n- fix it:\n  1. run `make  all`\n\n  ```sh\n  for i in 1 2; do\n      echo\n  done\n  ```\n## Remaining\n- b  c  \n  d\n
        ## In Progress\n- wire the parser\n ⇒ ## Completed\n- wire the parser\n
        ## In Progress:\n* wire the parser\n\n- b\n## Completed\n- None\n## Remaining\n- wire the parser ⇒ ## Completed\n- wire the parser\n## In Progress\n- b\n## Remaining\n- wire the parser\n
        ## In Progress:\n* wire the parser\n\n- b\n## Completed\n- n/a\n## Remaining\n- wire the parser ⇒ ## Completed\n- wire the parser\n## In Progress\n- b\n## Remaining\n- wire the parser\n
        ## In Progress\n- wire the parser\n- Wire the parser\n## Completed\n- wire The parser\n ⇒ ## Completed\n- wire The parser\n";
    for row in table.trim().lines() {
        let row = row.trim_start().replace("\\n", "\n");
        let (body, expected) = row.split_once(" ⇒ ").unwrap();
        let moved = completed(&format!("# Current Progress\n{body}"), "Wire the\nparser");
        assert_eq!(moved.as_deref(), Some(expected), "{body}");
    }
    for body in [
        "",
        "## In Progress\n- wire the parser too\n",
        "## Completed\n- wire the parser\n",
        "## In Progress\n```\n- wire the parser\n```\n",
        "prose\n## In Progress\n- wire the parser\n",
    ] {
        let document = format!("# Current Progress\n{body}");
        assert_eq!(completed(&document, "Wire the parser"), None, "{body}");
    }
}

#[test]
fn a_status_is_only_changed_if_the_request_has_one() {
    let document = "# Active Context\nGoal: ship\nBlocker: CI\nUpdated: 2026-01-01T00:00:00Z\n";
    for (goal, blocker, expected) in [
        (None, None, "Goal: ship\nBlocker: CI\nUpdated: 2026-11"),
        (None, Some("review"), "Goal: ship\nBlocker: review\n"),
        (Some("next"), None, "Goal: next\nBlocker: none\n"),
    ] {
        let session = SessionRecord {
            task: task("a", "built"),
            goal: goal.map(str::to_owned),
            blocker: blocker.map(str::to_owned),
        };
        let mut change = Change::begin(document, Counters::default(), at(0), SIZES);
        change.end_session(&session).unwrap();
        let written = change.finish().unwrap().text;
        assert!(written.contains(expected), "{written}");
    }
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
