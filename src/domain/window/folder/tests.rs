//! Round trips of folders, and folders written by people.

use super::super::check_reason;
use super::super::details::TaskDetails;
use super::super::import::{ImportedDecision, ImportedTask};
use super::super::one_line::one_line;
use super::super::status::Status;
use super::super::task::Task;
use super::files::{DECISIONS, HISTORY, STATUS};
use super::*;
use crate::domain::ids::{RecordId, RecordKind};
use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use serde_json::{Value, json};

fn time(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_226_400, 0).unwrap() + TimeDelta::seconds(second)
}

fn read(files: &[(String, String)]) -> Parsed {
    parse(
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())),
        time(0),
    )
}

fn details(members: &Value) -> TaskDetails {
    TaskDetails::of_members(members.as_object().unwrap())
}

fn day(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(&format!("{text}T00:00:00Z"))
        .unwrap()
        .to_utc()
}

#[test]
fn a_plain_folder_is_plain_markdown() {
    let task = |second, intent: &str, epic: Option<&str>| ImportedTask {
        time: time(second),
        record: Some(RecordId::new(RecordKind::Task, second)),
        task: Task {
            intent: intent.to_owned(),
            summary: "Done.".to_owned(),
            details: details(&json!({ "epic": epic })),
            ..Task::default()
        },
    };
    let folder = Folder {
        rules: vec!["Never push to main".to_owned()],
        status: Status {
            updated: Some(time(0)),
            ..Status::new(Some("ship"), None)
        },
        tasks: vec![task(9, "Add parser", None)],
        decisions: vec![ImportedDecision {
            time: time(1),
            decision: "SQL in storage".to_owned(),
            reason: Some("one language".to_owned()),
        }],
        history: vec![task(2, "Begin", Some("The Start"))],
    };
    let files = render(&folder);
    let expected = [
        ("CONTEXT.md", "# Context\n\n<!-- rule -->\nNever push to main\n\n"),
        (
            "active/current_status.md",
            "# Current Status\n\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n## Recent Tasks\n\n- \
             [2026-11-21T02:00:09Z] T-9 Add parser: Done.\n",
        ),
        (
            "active/decisions.log.md",
            "# Decisions\n\n- [2026-11-21T02:00:01Z] because one language: SQL in storage\n",
        ),
        (
            "archive/history.md",
            "# History\n\n- [2026-11-21T02:00:02Z] T-2 Begin: Done.\n",
        ),
        (
            "archive/epics/the-start.md",
            "# The Start\n\n- [2026-11-21T02:00:02Z] T-2 Begin: Done.\n",
        ),
        (
            "archive/weekly/2026-W47.md",
            "# 2026-W47\n\n- [2026-11-21T02:00:02Z] T-2 Begin: Done.\n",
        ),
    ];
    assert_eq!(
        files,
        expected.map(|(path, text)| (path.to_owned(), text.to_owned()))
    );
    assert_eq!(read(&files).folder, folder);
}

#[test]
fn a_folder_of_people_is_read_as_far_as_it_goes() {
    let files = [
        (
            "CONTEXT.md",
            "# Project\nBe kind.\n\n## Anti-goals\n- no ORM\n- no magic\n",
        ),
        (
            "active/current_status.md",
            "# Status\n\n**Goal:** ship it\n- Blocker: the net\n\n## Recent\n- 2026-11-20: Fix CI - cached\nwe are \
             late\n",
        ),
        (
            "active/decisions.log.md",
            "# Decision log\n\n### 2026-11-21 — Use PostgreSQL\nReason: it is everywhere.\n\n- [2026-11-20] Keep it \
             small because we are few\n",
        ),
        (
            "archive/history.md",
            "# History\n\n## 2026-10-01\n- Began\n* Went on\n\n- `2026-10-02` T-4 Wrote code: a lot\n- no date\n",
        ),
        (
            "archive/epics/Start.md",
            "- 2026-10-02 Wrote code: a lot\n- 2026-10-03 More\n",
        ),
        ("notes.txt", "left alone"),
    ];
    let Parsed { folder, unplaced } = parse(files, day("2026-12-01"));
    assert_eq!(folder.rules, ["Be kind.", "## Anti-goals\n- no ORM\n- no magic"]);
    assert!(
        folder
            .status
            .says_the_same(&Status::new(Some("ship it"), Some("the net"))),
        "{:?}",
        folder.status
    );
    assert_eq!(
        (folder.tasks[0].time, folder.tasks[0].task.intent.as_str()),
        (day("2026-11-20"), "Fix CI - cached")
    );
    let decisions: Vec<_> = folder
        .decisions
        .iter()
        .map(|made| (made.decision.as_str(), made.reason.as_deref()))
        .collect();
    assert_eq!(
        decisions,
        [
            ("Use PostgreSQL", Some("it is everywhere.")),
            ("Keep it small", Some("we are few")),
        ]
    );
    let history: Vec<_> = folder
        .history
        .iter()
        .map(|task| {
            (
                task.time,
                task.task.intent.as_str(),
                task.task.details.epic.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        history,
        [
            (day("2026-10-01"), "Began", None),
            (day("2026-10-01"), "Went on", None),
            (day("2026-10-02"), "Wrote code", Some("Start")),
            (day("2026-10-02"), "no date", None),
            (day("2026-10-03"), "More", Some("Start")),
        ]
    );
    let lines: Vec<_> = unplaced
        .iter()
        .map(|line| (line.file.as_str(), line.line, line.text.as_str()))
        .collect();
    assert_eq!(lines, [("active/current_status.md", 8, "we are late")]);
}

#[test]
fn lines_of_a_document_are_entries() {
    let files = [
        (
            "active/current_status.md",
            "- T-7 [2026-11-21T02:00:00Z] Fix: fixed\n- T-6 not dated: no\n",
        ),
        (
            "active/decisions.log.md",
            "- D-3 [2026-11-21T02:00:00Z] because fast: use rust\n",
        ),
    ];
    let Parsed { folder, unplaced } = parse(files, day("2026-12-01"));
    let [task, undated] = &folder.tasks[..] else {
        panic!("{:?}", folder.tasks)
    };
    assert_eq!(
        (task.time, task.task.intent.as_str(), task.task.summary.as_str()),
        (time(0), "Fix", "fixed")
    );
    let decision = ImportedDecision {
        time: time(0),
        decision: "use rust".to_owned(),
        reason: Some("fast".to_owned()),
    };
    assert_eq!(folder.decisions, [decision]);
    assert_eq!(
        (undated.time, undated.task.intent.as_str(), undated.record),
        (time(0), "not dated", Some("T-6".parse().unwrap()))
    );
    assert_eq!(unplaced, []);
}

#[test]
fn a_status_is_read_in_the_words_of_people() {
    for text in [
        "Current Goal: ship it\nActive Blocker: the net\nLast Updated: 2026-11-20\n",
        "# Status\n## Current Goal\nship it\n\n## Active Blocker\n- the net\n## Last Updated\n2026-11-20\n",
        "**Current Goal:** ship it\n- **Active Blockers**: the net\n**Last Updated:** 2026-11-20\n",
        "## Current Goal: ship it\n### Active Blocker: the net\nLAST UPDATED: 2026-11-20T00:00:00Z\n",
    ] {
        let Parsed { folder, unplaced } = parse([(STATUS, text)], time(0));
        let expected = Status {
            updated: Some(day("2026-11-20")),
            ..Status::new(Some("ship it"), Some("the net"))
        };
        assert_eq!(folder.status, expected, "{text}");
        assert_eq!(unplaced, [], "{text}");
    }
    let odd = "Current Goal: ship it\nLast Updated: yesterday\n";
    let unplaced = parse([(STATUS, odd)], time(0)).unplaced;
    assert_eq!(
        unplaced.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(),
        ["Last Updated: yesterday"]
    );
}

#[test]
fn bullets_without_a_date_are_entries_where_the_file_is_a_list_of_them() {
    let files = [
        (
            DECISIONS,
            "# Decisions\n- Use PostgreSQL because it is everywhere\n- Reason stays. Reason: one thing: another\n",
        ),
        (
            STATUS,
            "Last Updated: 2026-11-20\n\n## Recent Tasks\n- task-1: Bootstrapped\n- [x] Wired it: all tests\n- [ ] Ship\n\n\
             ## Next tasks\n- rest\n## Notes\n- ask Ann\n- T-4 task_2: [failed] Deployed: no quota\n",
        ),
    ];
    let Parsed { folder, unplaced } = parse(files, time(0));
    let tasks: Vec<_> = folder
        .tasks
        .iter()
        .map(|task| {
            let id = task.task.task_id.as_ref().map(ToString::to_string);
            (
                id,
                task.task.intent.as_str(),
                task.task.summary.as_str(),
                task.time,
            )
        })
        .collect();
    let derived = tasks[1].0.clone();
    assert!(
        derived.as_ref().is_some_and(|id| id.starts_with("import-")),
        "{tasks:?}"
    );
    assert_eq!(
        tasks,
        [
            (Some("task-1".to_owned()), "Bootstrapped", "", day("2026-11-20")),
            (derived.clone(), "Wired it", "all tests", day("2026-11-20")),
            (
                Some("task_2".to_owned()),
                "Deployed",
                "no quota",
                day("2026-11-20")
            ),
        ]
    );
    assert!(folder.tasks[2].task.has_failed());
    let decisions: Vec<_> = folder
        .decisions
        .iter()
        .map(|made| (made.decision.as_str(), made.reason.as_deref()))
        .collect();
    assert_eq!(
        decisions,
        [
            ("Use PostgreSQL", Some("it is everywhere")),
            ("Reason stays. (reason: one thing: another)", None),
        ]
    );
    let left: Vec<_> = unplaced.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(left, ["- [ ] Ship", "- rest", "- ask Ann"]);
    let later = parse(
        [(STATUS, "## Recent Tasks\n- [x] Wired it: all tests\n")],
        time(99),
    );
    let again = later.folder.tasks[0]
        .task
        .task_id
        .as_ref()
        .map(ToString::to_string);
    assert_eq!(again, derived, "it is known again at any time");
}

#[test]
fn what_looks_like_no_id_is_an_intent() {
    for (words, id, intent) in [
        ("task-1: Bootstrapped", Some("task-1"), "Bootstrapped"),
        ("JIRA-12: Fix: fixed", Some("JIRA-12"), "Fix"),
        ("Fix: cached it", None, "Fix"),
        ("Step 1: done", None, "Step 1"),
        ("v1.2: out", None, "v1.2"),
        ("T-3: Fix", None, "Fix"),
    ] {
        let task: ImportedTask = entry::entry_of(time(0), words);
        assert_eq!(
            task.task.task_id.as_ref().map(ToString::to_string).as_deref(),
            id,
            "{words}"
        );
        assert_eq!(task.task.intent, intent, "{words}");
    }
}

#[test]
fn a_weekly_summary_alone_is_history() {
    let files = [(
        "archive/weekly/2026-W47.md",
        "# 2026-W47\n\n- [2026-11-21T02:00:00Z] T-2 task-2: Begin: Done.\n",
    )];
    let Parsed { folder, unplaced } = parse(files, time(9));
    assert_eq!(unplaced, []);
    assert_eq!(folder.history.len(), 1);
    assert_eq!(folder.history[0].task.intent, "Begin");
}

#[test]
fn a_line_that_a_person_changed_counts_more_than_its_comment() {
    let folder = Folder {
        tasks: vec![ImportedTask {
            time: time(0),
            record: Some("T-1".parse().unwrap()),
            task: Task {
                task_id: Some("t1".parse().unwrap()),
                intent: "Two\nlines".to_owned(),
                summary: "Done".to_owned(),
                details: details(&json!({"outcome": {"a": "<!-- x -->"}, "epic": "E"})),
            },
        }],
        ..Folder::default()
    };
    let mut files = render(&folder);
    assert_eq!(read(&files).folder, folder);
    files[1].1 = files[1].1.replace("Two lines", "Three lines");
    let changed = read(&files).folder.tasks.remove(0).task;
    assert_eq!((changed.intent.as_str(), changed.task_id), ("Three lines", None));
    assert_eq!(
        (changed.details.outcome, changed.details.epic),
        (folder.tasks[0].task.details.outcome.clone(), Some("E".to_owned()))
    );
}

fn words() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "- ",
        "* ",
        "because ",
        ": ",
        "<!-- ",
        " -->",
        "T-3 ",
        "[2026-11-21] ",
        "\n",
        "# ",
        "Goal: ",
        "Reason: ",
        "—",
        "**",
        "\\<!-- rule -->",
        "<!-- rule -->\n",
        " because ",
        "```",
        "\"",
    ]);
    prop::collection::vec(prop_oneof!["\\PC{0,6}", odd.prop_map(str::to_owned)], 1..6)
        .prop_map(|parts| parts.concat())
}

/// A reason that a record line can represent.
fn reason() -> impl Strategy<Value = String> {
    text_with_words().prop_filter("unwritable", |text| check_reason(&one_line(text)).is_ok())
}

/// Text with at least one letter or digit.
fn text_with_words() -> impl Strategy<Value = String> {
    words().prop_filter("blank", |text| !one_line(text).is_empty())
}

fn task() -> impl Strategy<Value = Task> {
    (
        prop::option::of("[a-z][a-z0-9-]{0,6}(-[0-9])?"),
        text_with_words(),
        words(),
        prop::option::of(
            words().prop_map(|text| json!({"text": text, "number": 5, "success": text.len() % 2 == 0})),
        ),
        prop::option::of(text_with_words().prop_map(|text| one_line(&text))),
    )
        .prop_map(|(id, intent, summary, outcome, epic)| Task {
            task_id: id.map(|id| id.parse().unwrap()),
            intent,
            summary,
            details: details(&json!({ "outcome": outcome, "epic": epic })),
        })
}

/// Tasks with distinct times.
fn tasks() -> impl Strategy<Value = Vec<ImportedTask>> {
    let with_record = (prop::option::of(1_i64..9), task());
    prop::collection::vec(with_record, 0..4).prop_map(|tasks| {
        let timed = tasks.into_iter().zip(0..);
        timed
            .map(|((record, task), second)| ImportedTask {
                time: time(second),
                record: record.map(|number| RecordId::new(RecordKind::Task, number)),
                task,
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        rules in prop::collection::vec(text_with_words(), 0..4),
        goal in prop::option::of(words()),
        blocker in prop::option::of(words()),
        updated in prop::option::of(0_i64..100),
        tasks in tasks(),
        history in tasks(),
        decisions in prop::collection::vec((text_with_words(), prop::option::of(reason())), 0..4),
    ) {
        let decisions = decisions.into_iter().map(|(decision, reason)| ImportedDecision {
            time: time(0),
            decision: one_line(&decision),
            reason: reason.map(|reason| one_line(&reason)),
        });
        let folder = Folder {
            rules,
            status: Status { updated: updated.map(time), ..Status::new(goal.as_deref(), blocker.as_deref()) },
            tasks,
            decisions: decisions.collect(),
            history,
        };
        let read = read(&render(&folder));
        prop_assert_eq!(&read.unplaced, &vec![]);
        prop_assert_eq!(read.folder, folder);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(\\PC|\n|- |# |2026-11-21|\u{e9}|<!-- | -->){0,60}") {
        for path in [RULES, STATUS, DECISIONS, HISTORY, "archive/epics/x.md", "archive/weekly/x.md"] {
            let unplaced = parse([(path, text.as_str())], time(0)).unplaced;
            prop_assert!(unplaced.iter().all(|line| line.file == path && text.contains(&line.text)));
        }
    }
}
