//! Round trips of folders, and folders written by people.

use super::*;
use crate::domain::document::written_time;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::text::one_line;
use crate::domain::window::{ImportedDecision, ImportedTask, Status, Task, TaskDetails, unwritable_at};
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

fn parsed<const N: usize>(files: [(&str, &str); N]) -> Parsed {
    parse(files, time(0))
}

/// `id | intent | summary` of each, without ids that were derived.
fn told(tasks: &[ImportedTask]) -> Vec<String> {
    let own = tasks.iter().cloned().map(ImportedTask::without_derived_id);
    own.map(|ImportedTask { task, .. }| {
        let id = task.task_id.map_or_else(String::new, |id| id.to_string());
        format!("{id} | {} | {}", task.intent, task.summary)
    })
    .collect()
}

/// `decision <- reason` of each.
fn made(parsed: &Parsed) -> Vec<String> {
    let told = |made: &ImportedDecision| {
        let reason = made.reason.as_deref().unwrap_or_default();
        format!("{} <- {reason}", made.decision)
    };
    parsed.folder.window.decisions.iter().map(told).collect()
}

/// What was not placed.
fn left(parsed: &Parsed) -> Vec<&str> {
    parsed.unplaced.iter().map(|line| line.text.as_str()).collect()
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
        window: WindowImport {
            status: Status {
                updated: Some(time(0)),
                ..Status::new(Some("**Ship:** it"), None)
            },
            tasks: vec![task(9, "Add parser", None)],
            decisions: vec![ImportedDecision {
                time: time(1),
                decision: "SQL in storage".to_owned(),
                reason: Some("one language".to_owned()),
            }],
            history: vec![task(2, "Begin", Some("The Start"))],
        },
    };
    let files = render(&folder);
    let expected = [
        ("CONTEXT.md", "# Context\n\n<!-- rule -->\nNever push to main\n\n"),
        (
            "active/current_status.md",
            "# Current Status\n\nCurrent Goal: **Ship:** it\nActive Blocker: none\nLast Updated: 2026-11-21T02:00:00Z\n\n## Recent Tasks\n\n- \
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
            "archive/epics/2026-W47.md",
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
    let status = "# Status\n\n**Goal:** ship it\n- Blocker: the net\n\n## Recent\n- 2026-11-20: Fix CI - cached\nwe are late\n";
    let decisions = "# Decision log\n\n### 2026-11-21 — Use PostgreSQL\nReason: it is everywhere.\n\n\
                     - [2026-11-20] Keep it small because we are few\n";
    let history =
        "# History\n\n## 2026-10-01\n- Began\n* Went on\n\n- `2026-10-02` T-4 Wrote code: a lot\n- no date\n";
    let rules = "# Project\nBe kind.\n\n## Anti-goals\n- no ORM\n- no magic\n";
    let epic = "- 2026-10-02 Wrote code: a lot\n- 2026-10-03 More\n";
    let files = [
        (RULES, rules),
        (STATUS, status),
        (DECISIONS, decisions),
        (HISTORY, history),
        ("archive/epics/Start.md", epic),
        ("notes.txt", "left alone"),
    ];
    let parsed = parse(files, day("2026-12-01"));
    let Folder { rules, window } = &parsed.folder;
    let anti_goals = "# Project\n## Anti-goals\n- no ORM\n- no magic";
    assert_eq!(rules, &["# Project\nBe kind.", anti_goals]);
    let status = Status::new(Some("ship it"), Some("the net"));
    assert!(window.status.says_the_same(&status), "{:?}", window.status);
    assert_eq!(window.tasks[0].time, day("2026-11-20"));
    assert_eq!(window.tasks[0].task.intent, "Fix CI - cached");
    let decisions = [
        "Use PostgreSQL <- it is everywhere.",
        "Keep it small <- we are few",
    ];
    assert_eq!(made(&parsed), decisions);
    let history = window.history.iter().map(|ImportedTask { time, task, .. }| {
        let epic = task.details.epic.as_deref().unwrap_or("-");
        format!("{} {} {epic}", time.date_naive(), task.intent)
    });
    let expected = "2026-10-01 Began -|2026-10-01 Went on -|2026-10-02 Wrote code Start|2026-10-02 no date -|\
                    2026-10-03 More Start";
    assert!(history.eq(expected.split('|')), "{window:?}");
    assert_eq!(left(&parsed), ["we are late"]);
    let place = (parsed.unplaced[0].file.as_str(), parsed.unplaced[0].line);
    assert_eq!(place, (STATUS, 8));
}

#[test]
fn lines_of_a_document_are_entries() {
    let status = "- T-7 [2026-11-21T02:00:00Z] Fix: fixed\n- T-6 not dated: no\n";
    let decisions = "- D-3 [2026-11-21T02:00:00Z] because fast: use rust\n";
    let parsed = parse([(STATUS, status), (DECISIONS, decisions)], day("2026-12-01"));
    let tasks = &parsed.folder.window.tasks;
    assert_eq!(told(tasks), [" | Fix | fixed", " | not dated | no"]);
    assert!(tasks.iter().all(|task| task.time == time(0)), "{tasks:?}");
    assert_eq!(tasks[1].record, Some("T-6".parse().unwrap()));
    assert_eq!(made(&parsed), ["use rust <- fast"]);
    assert_eq!(parsed.folder.window.decisions[0].time, time(0));
    assert_eq!(parsed.unplaced, []);
}

#[test]
fn a_status_is_read_in_the_words_of_people() {
    for text in [
        "Current Goal: ship it\nActive Blocker: the net\nLast Updated: 2026-11-20\n",
        "# Status\n## Current Goal\nship it\n\n## Active Blocker\n- the net\n## Last Updated\n2026-11-20\n",
        "**Current Goal:** ship it\n- **Active Blockers**: the net\n**Last Updated:** 2026-11-20\n",
        "## Current Goal: ship it\n### Active Blocker: the net\nLAST UPDATED: 2026-11-20T00:00:00Z\n",
    ] {
        let Parsed { folder, unplaced, .. } = parse([(STATUS, text)], time(0));
        let expected = Status {
            updated: Some(day("2026-11-20")),
            ..Status::new(Some("ship it"), Some("the net"))
        };
        assert_eq!(folder.window.status, expected, "{text}");
        assert_eq!(unplaced, [], "{text}");
    }
    let odd = "Current Goal: ship it\nLast Updated: yesterday\n";
    assert_eq!(left(&parsed([(STATUS, odd)])), ["Last Updated: yesterday"]);
}

#[test]
fn a_time_may_lack_its_seconds_and_is_utc_without_a_zone() {
    let table = "
        - [2026-11-20 10:00] task-1: Add parser: did it → 2026-11-20T10:00:00Z task-1 | Add parser | did it
        - 2026-11-21 11:15 task-2: Fix CI → 2026-11-21T11:15:00Z task-2 | Fix CI | 
        - 2026-11-22T09:00 task-3: Ship → 2026-11-22T09:00:00Z task-3 | Ship | 
        - 2026-11-22T09:00:07.5: Ship → 2026-11-22T09:00:07Z  | Ship | 
        - 2026-11-22T09:00Z — Ship → 2026-11-22T09:00:00Z  | Ship | 
        - `2026-11-22 09:00:07+01:00` Ship → 2026-11-22T08:00:07Z  | Ship | 
        **2026-11-20 10:05** use y → 2026-11-20T10:05:00Z  | use y | 
        ## 2026-11-21 12:00\\n- use z → 2026-11-21T12:00:00Z  | use z | 
        ## 2026-11-21 12:00:01 use z → 2026-11-21T12:00:01Z  | use z | 
        Last Updated: 2026-11-20 10:30\\n## Recent Tasks\\n- Ship → 2026-11-20T10:30:00Z  | Ship | 
        **Last Updated:** 2026-11-20 10:30:20\\n## Recent Tasks\\n- Ship → 2026-11-20T10:30:20Z  | Ship | 
        - 2026-11-20 10 parsers fixed → 2026-11-20T00:00:00Z  | 10 parsers fixed | 
        - 2026-11-20 10:30-11:00 met Ann → 2026-11-20T00:00:00Z  | 10:30-11:00 met Ann | 
        - 2026-11-20 10:75 is the ratio → 2026-11-20T00:00:00Z  | 10:75 is the ratio | ";
    for row in table.trim_start().lines() {
        let (text, expected) = row.trim_start().split_once(" → ").unwrap();
        let parsed = parsed([(STATUS, text.replace("\\n", "\n").as_str())]);
        let tasks = &parsed.folder.window.tasks;
        let time = written_time(tasks[0].time);
        assert_eq!(format!("{time} {}", told(tasks).join(" + ")), expected, "{text}");
        assert_eq!(parsed.unplaced, [], "{text}");
    }
}

#[test]
fn bullets_without_a_date_are_entries_where_the_file_is_a_list_of_them() {
    let decisions = "# Decisions\n- Use PostgreSQL because it is everywhere\n- Reason stays. Reason: one thing: another\n";
    let status = "Last Updated: 2026-11-20\n\n## Recent Tasks\n- task-1: Bootstrapped\n- [x] Wired it: all tests\n- [ ] Ship\n\n\
                  ## Next tasks\n- rest\n## Notes\n- ask Ann\n- T-4 task_2: [failed] Deployed: no quota\n";
    let parsed = parsed([(DECISIONS, decisions), (STATUS, status)]);
    let tasks = &parsed.folder.window.tasks;
    let id = |task: &ImportedTask| task.task.task_id.as_ref().map(ToString::to_string);
    let derived = id(&tasks[1]);
    assert!(derived.as_ref().unwrap().starts_with("import-"), "{tasks:?}");
    let expected = [
        "task-1 | Bootstrapped | ",
        " | Wired it | all tests",
        "task_2 | Deployed | no quota",
    ];
    assert_eq!(told(tasks), expected);
    let is_dated = |task: &ImportedTask| task.time == day("2026-11-20");
    assert!(tasks.iter().all(is_dated), "{tasks:?}");
    assert!(tasks[2].task.has_failed());
    // The newest is last in a file that is appended to.
    let decisions = [
        "Reason stays. (reason: one thing: another) <- ",
        "Use PostgreSQL <- it is everywhere",
    ];
    assert_eq!(made(&parsed), decisions);
    assert_eq!(parsed.folder.window.decisions[0].reason, None);
    assert_eq!(left(&parsed), ["- [ ] Ship", "- rest", "- ask Ann"]);
    // It is known again at any time.
    let again = "## Recent Tasks\n- [x] Wired it: all tests\n";
    let later = parse([(STATUS, again)], time(99));
    assert_eq!(id(&later.folder.window.tasks[0]), derived);
}

#[test]
fn what_looks_like_no_id_is_an_intent() {
    let table = "
        task-1: Bootstrapped → task-1 | Bootstrapped
        JIRA-12: Fix: fixed → JIRA-12 | Fix
        Fix: cached it →  | Fix
        Step 1: done →  | Step 1
        v1.2: out →  | v1.2
        T-3: Fix →  | Fix
        **task-101**: Add → task-101 | Add
        `task-9`: Add → task-9 | Add
        task-9 — Add → task-9 | Add
        3f2a9c1e-aa: Add → 3f2a9c1e-aa | Add
        **Fix** it: 2 →  | **Fix** it
        2026-11: a month →  | 2026-11";
    for row in table.trim().lines() {
        let (words, expected) = row.trim_start().split_once(" → ").unwrap();
        let text = format!("## Recent Tasks\n- {words}\n");
        let tasks = parsed([(STATUS, text.as_str())]).folder.window.tasks;
        let task = tasks[0].clone().without_derived_id().task;
        let id = task.task_id.map_or_else(String::new, |id| id.to_string());
        assert_eq!(format!("{id} | {}", task.intent), expected, "{words}");
    }
}

/// A folder with this task alone, T-1.
fn one_task(id: &str, intent: &str, summary: &str, members: &Value) -> Folder {
    let task = ImportedTask {
        time: time(0),
        record: Some("T-1".parse().unwrap()),
        task: Task {
            task_id: Some(id.parse().unwrap()),
            intent: intent.to_owned(),
            summary: summary.to_owned(),
            details: details(members),
        },
    };
    let window = WindowImport {
        tasks: vec![task],
        ..WindowImport::default()
    };
    Folder {
        window,
        ..Folder::default()
    }
}

fn words() -> impl Strategy<Value = String> {
    let odd = "- |* |because |[failed] |: |<!-- | -->|T-3 |[2026-11-21] |\n|# |Goal: |Reason: |—|**|\\<!-- rule -->|\
               <!-- rule -->\n| because |```|\"";
    let odd = prop::sample::select(odd.split('|').collect::<Vec<_>>());
    prop::collection::vec(prop_oneof!["\\PC{0,6}", odd.prop_map(str::to_owned)], 1..6)
        .prop_map(|parts| parts.concat())
}

/// A reason that a record line can represent.
fn reason() -> impl Strategy<Value = String> {
    text_with_words().prop_filter("unwritable", |text| unwritable_at(&one_line(text)).is_none())
}

/// Text with at least one letter or digit.
fn text_with_words() -> impl Strategy<Value = String> {
    words().prop_filter("blank", |text| !one_line(text).is_empty())
}

fn task() -> impl Strategy<Value = Task> {
    (
        prop::option::of("[a-z][a-z0-9-]{5,9}(-[0-9])?"),
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

/// Tasks with distinct times, oldest first.
fn tasks() -> impl Strategy<Value = Vec<ImportedTask>> {
    let with_record = (1_i64..9, task());
    prop::collection::vec(with_record, 0..4).prop_map(|tasks| {
        let timed = tasks.into_iter().zip(0..);
        timed
            .map(|((record, task), second)| ImportedTask {
                time: time(second),
                record: Some(RecordId::new(RecordKind::Task, record)),
                task,
            })
            .collect()
    })
}

#[test]
fn no_heading_of_the_rules_is_skipped_unseen() {
    let text = "# Project\n\n## Rules\n~~~\n# a\n~~~\n\n# Anti-Goals\n\n## Storage\n- an ORM\n\n## Later\n\n# Empty\n";
    let parsed1 = parsed([(RULES, text)]);
    let rules = "# Project\n## Rules\n~~~\n# a\n~~~|# Anti-Goals\n## Storage\n- an ORM";
    assert_eq!(parsed1.folder.rules.join("|"), rules);
    assert_eq!(left(&parsed1), ["## Later", "# Empty"]);
    let lines: Vec<_> = parsed1.unplaced.iter().map(|line| line.line).collect();
    assert_eq!(lines, [13, 15]);
    let exported = "# Context\n\n# Anti-Goals\n- an ORM\n\n<!-- rule -->\nBe kind\n\n";
    let parsed2 = parsed([(RULES, exported)]);
    assert_eq!(parsed2.folder.rules, ["Be kind"]);
    assert_eq!(left(&parsed2), ["# Anti-Goals", "- an ORM"]);
}

#[test]
fn tasks_are_read_in_the_forms_that_people_write() {
    let table = "
        ### task-1: Add parser\\n- Intent: Read the DSL\\n- Summary: FSM over lines\\n\\n### task-2: Fix CI\\n- Intent: Fix CI\\n- Summary: cached\\n → task-1 | Add parser — Read the DSL | FSM over lines + task-2 | Fix CI | cached
        ### task-1\\n**Intent:** Add parser\\n**Summary:** FSM\\n**Outcome:** all tests pass\\n → task-1 | Add parser | FSM; Outcome: all tests pass
        - **task-101**: Add parser\\n- `task-9`: Fix CI: cached\\n- task-8 — Ship\\n- 3f2a9c1e-aa: Rename\\n → task-101 | Add parser |  + task-9 | Fix CI | cached + task-8 | Ship |  + 3f2a9c1e-aa | Rename | 
        - task-2: Add parser\\n  - FSM over lines\\n  - 60 tests.\\n- task-1: Begin\\n  went well\\n → task-2 | Add parser | FSM over lines; 60 tests. + task-1 | Begin | went well
        1. task-2: Add parser\\n2. Fix CI: cached\\n → task-2 | Add parser |  +  | Fix CI | cached
        | ID | Task | Summary | Owner |\\n|---|:--|---|---|\\n| task-2 | Add \\| parser | FSM | Ann |\\n| `task-1` | Begin | | |\\n → task-2 | Add \\| parser | FSM; Owner: Ann + task-1 | Begin | 
        | Task | Summary |\\n|---|---|\\n| task-2: Add parser | FSM |\\n| **task-1** — Begin | |\\n → task-2 | Add parser | FSM + task-1 | Begin | 
        ### task-1\\nIntent: Add parser\\nStatus: done\\n\\n### task-2\\nIntent: Fix CI\\nOutcome: passed\\n → task-1 | Add parser |  + task-2 | Fix CI | Outcome: passed
        - Intent: Add parser\\n- Summary: FSM\\n- Intent: Begin\\n  Summary: went well\\n →  | Add parser | FSM +  | Begin | went well";
    for row in table.trim_start().lines() {
        let (text, expected) = row.trim_start().split_once(" → ").unwrap();
        let expected: Vec<&str> = expected.split(" + ").collect();
        let text = format!("# Status\n\n## Recent Tasks\n\n{}", text.replace("\\n", "\n"));
        let parsed = parsed([(STATUS, text.as_str())]);
        let mut found = told(&parsed.folder.window.tasks);
        if found[0] != expected[0] {
            found.reverse();
        }
        assert_eq!(found, expected, "{text}");
        assert_eq!(parsed.unplaced, [], "{text}");
    }
}

#[test]
fn bullets_of_an_epic_that_are_no_tasks_are_reported() {
    let text = "# Auth\n\nLogin for all.\n\n## Goals\n- no passwords\n- single sign-on\n\n## Tasks\n- task-1: Add \
                login\n- [x] Add logout\n- [ ] Add refresh\n  - by Friday\n";
    let parsed = parsed([("archive/epics/auth.md", text)]);
    let history = &parsed.folder.window.history;
    assert_eq!(told(history), ["task-1 | Add login | ", " | Add logout | "]);
    let is_auth = |task: &ImportedTask| task.task.details.epic.as_deref() == Some("Auth");
    assert!(history.iter().all(is_auth), "{history:?}");
    let expected =
        "Login for all.|- no passwords|- single sign-on|- [ ] Add refresh|  - by Friday".split('|');
    assert_eq!(left(&parsed), expected.collect::<Vec<_>>());
}

#[test]
fn what_two_files_say_about_a_task_is_joined() {
    let history = "- 2026-10-01 task-1: Kickoff\n- 2026-10-02 task-2: Tables: drawn\n";
    let epic = "# Billing\n- 2026-10-01 task-1: Kickoff\n  Summary: built the invoice table\n- 2026-10-02 task-2: Tables: \
                drawn\n  Outcome: {\"rows\":3}\n";
    let parsed = parsed([(HISTORY, history), ("archive/epics/billing.md", epic)]);
    let history = &parsed.folder.window.history;
    let expected = [
        "task-1 | Kickoff | built the invoice table",
        "task-2 | Tables | drawn",
    ];
    assert_eq!(told(history), expected);
    assert_eq!(history[1].task.details.outcome, Some(json!({ "rows": 3 })));
    assert!(
        history
            .iter()
            .all(|task| task.task.details.epic.as_deref() == Some("Billing"))
    );
}

#[test]
fn what_one_file_says_twice_under_an_id_is_joined() {
    let text = "- 2026-10-01 task-1: Kickoff\n- 2026-10-02 task-1: Rollback: undone\n";
    let tasks = |path| match (path, parsed([(path, text)]).folder.window) {
        (HISTORY, window) => window.history,
        (_, window) => window.tasks,
    };
    for path in [HISTORY, STATUS] {
        let told = told(&tasks(path)).join("; ");
        for words in ["task-1", "Kickoff", "Rollback", "undone"] {
            assert_eq!(told.matches(words).count(), 1, "{told}");
        }
    }
}

#[test]
fn what_is_not_done_is_no_task_and_what_failed_says_so() {
    let text = "## Recent Tasks\n\n### task-3: Deploy\nStatus: failed\nSummary: no quota\n\n### task-4: Ship\n**Status:** in \
                progress\n\n## Tasks in progress\n- Wire\n";
    let parsed = parsed([(STATUS, text)]);
    assert_eq!(told(&parsed.folder.window.tasks), ["task-3 | Deploy | no quota"]);
    assert!(parsed.folder.window.tasks[0].task.has_failed());
    let lines = "### task-4: Ship|**Status:** in progress|- Wire";
    assert_eq!(left(&parsed).join("|"), lines);
    let numbers: Vec<usize> = parsed.unplaced.iter().map(|line| line.line).collect();
    assert_eq!(numbers, [7, 8, 11]);
}

#[test]
fn a_task_without_words_is_reported_once() {
    let parsed = parsed([(STATUS, "## Recent Tasks\n- Intent:\n- Summary: done\n")]);
    assert_eq!(left(&parsed), ["- Intent:", "- Summary: done"]);
}

#[test]
fn decisions_are_read_in_the_forms_that_people_write() {
    let text = "# Decisions\n\n## ADR-1: Use PostgreSQL\n**Status:** accepted\n**Reason:** it is everywhere\n\n## Keep it \
                small\nWhy: we are few\n";
    let parsed1 = parsed([(DECISIONS, text)]);
    assert_eq!(parsed1.unplaced, []);
    let adr = "ADR-1: Use PostgreSQL; Status: accepted <- it is everywhere";
    let found = made(&parsed1);
    assert!(found.iter().any(|made| made == adr), "{found:?}");
    let table =
        "| Date | Decision | Reason |\n|---|---|---|\n| 2026-11-20 | Use PostgreSQL | it is everywhere |\n";
    let parsed2 = parsed([(DECISIONS, table)]);
    assert_eq!(made(&parsed2), ["Use PostgreSQL <- it is everywhere"]);
    assert_eq!(parsed2.folder.window.decisions[0].time, day("2026-11-20"));
}

#[test]
fn position_counts_where_no_date_does() {
    // Ids that fall, and a status without any.
    let status: String = (1..=7).rev().map(|n| format!("- task-{n}: Step {n}\n")).collect();
    let status = format!("## Recent Tasks\n{status}");
    let parsed2 = parsed([(STATUS, status.as_str())]);
    assert_eq!(told(&parsed2.folder.window.tasks)[0], "task-7 | Step 7 | ");
    let exported = "- [2026-11-21T02:00:00Z] T-2 task-1: b\n- [2026-11-21T02:00:00Z] T-1 task-3: a\n";
    let exported = parsed([(STATUS, exported)]).folder.window.tasks;
    assert_eq!(told(&exported)[0], "task-1 | b | ");
    let plain = parsed([(STATUS, "## Recent Tasks\n- Third\n- Second\n- First\n")]);
    assert_eq!(told(&plain.folder.window.tasks)[0], " | Third | ");
    // Dates count before ids, and what has none has the date beside it.
    let dated = "## Recent Tasks\n- task-1: undated\n- 2026-11-01 task-9: a\n- 2026-11-02 task-3: b\n- task-2: last\n";
    let parsed3 = parsed([(STATUS, dated)]);
    let times = parsed3.folder.window.tasks.iter().map(|task| task.time);
    let days = ["2026-11-02", "2026-11-02", "2026-11-01", "2026-11-01"];
    assert_eq!(times.collect::<Vec<_>>(), days.map(day));
    assert_eq!(told(&parsed3.folder.window.tasks)[0], "task-2 | last | ");
    let (file, end, by) = (STATUS.to_owned(), End::Last, By::Dates);
    assert_eq!(parsed3.newest, [Newest { file, end, by }]);
}

#[test]
fn a_task_of_several_lines_is_written_as_one() {
    let members = json!({"outcome": {"success": false, "exit": 3}, "epic": "E"});
    let summary = "FSM over lines.\n\n- 60 tests";
    let folder = one_task("task-1", "Add parser: lines\nand words", summary, &members);
    let files = render(&folder);
    let shown = files[1].1.split("## Recent Tasks\n\n").nth(1).unwrap();
    let line = "- [2026-11-21T02:00:00Z] T-1 task-1: [failed] Add parser: lines";
    let facts = "{\"colons\":1,\"epic\":\"E\",\"outcome\":{\"exit\":3,\"success\":false}}";
    assert_eq!(
        shown,
        format!("{line} and words: FSM over lines. - 60 tests <!-- {facts} -->\n")
    );
    // As earlier versions wrote it.
    let facts = facts.replace("colons\":1", "intent_lines\":2");
    let quoted = "  > and words\n  > FSM over lines.\n  >\n  > - 60 tests\n";
    let status = format!("## Recent Tasks\n\n{line} <!-- {facts} -->\n{quoted}");
    assert_eq!(parsed([(STATUS, &status)]).folder, folder);
}

#[test]
fn weekly_summaries_lie_among_the_epics() {
    let weekly = "# 2026-W47\n\n- [2026-11-21T02:00:00Z] T-2 task-2: Begin: Done.\n";
    let parsed = parsed([("archive/epics/2026-W47.md", weekly)]);
    assert_eq!(told(&parsed.folder.window.history), ["task-2 | Begin | Done."]);
    assert_eq!(parsed.folder.window.history[0].task.details.epic, None);
}

#[test]
fn files_of_epics_have_names_of_their_own() {
    let mut used = HashSet::new();
    let table = "Start → start | start → start-cced28c6 | 漢字 → epic | 字漢 → epic-3abcda26 | 2026-W47 → 2026-w47-4c4aa44c";
    for row in table.split(" | ") {
        let (epic, name) = row.split_once(" → ").unwrap();
        assert_eq!(file_name(epic, &mut used), name);
    }
}

/// Tasks with each text as one line, which begins with no reason.
fn folded(tasks: &[ImportedTask]) -> Vec<ImportedTask> {
    let mut tasks = tasks.to_vec();
    for ImportedTask { task, .. } in &mut tasks {
        task.intent = one_line(&task.intent).replace('\u{a0}', " ");
        task.summary = one_line(&task.summary);
    }
    tasks
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
            // A decision without a reason does not begin like one with a reason.
            decision: one_line(&format!("{} {decision}", if reason.is_none() { "D" } else { "" })),
            reason: reason.map(|reason| one_line(&reason)),
        });
        let window = WindowImport {
            status: Status { updated: updated.map(time), ..Status::new(goal.as_deref(), blocker.as_deref()) },
            tasks: tasks.into_iter().rev().collect(),
            decisions: decisions.collect(),
            history,
        };
        let folder = Folder { rules, window };
        let Parsed { folder: read, unplaced, .. } = read(&render(&folder));
        prop_assert_eq!(unplaced, vec![]);
        prop_assert_eq!(read.rules, folder.rules);
        prop_assert_eq!(&read.window.status, &folder.window.status);
        prop_assert_eq!(&read.window.decisions, &folder.window.decisions);
        prop_assert_eq!(folded(&read.window.tasks), folded(&folder.window.tasks));
        prop_assert_eq!(folded(&read.window.history), folded(&folder.window.history));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(\\PC|\n|- |# |2026-11-21|\u{e9}|<!-- | -->){0,60}") {
        for path in [RULES, STATUS, DECISIONS, HISTORY, "archive/epics/x.md", "archive/epics/2026-W47.md"] {
            let unplaced = parse([(path, text.as_str())], time(0)).unplaced;
            prop_assert!(unplaced.iter().all(|line| line.file == path && text.contains(&line.text)));
        }
    }
}
