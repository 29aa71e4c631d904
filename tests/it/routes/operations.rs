//! `POST M/operations`

use crate::harness::{Answer, Service, each, has, holds, rows};
use reqwest::Method;
use serde_json::{Value, json};

const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n";
const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - no reason at all\n    - because good: kept\n";

#[tokio::test]
async fn operations_are_applied_without_a_model_and_create_the_memory() {
    let (service, memory) = Service::start().await.agent();

    let answer = memory.applied(ADD).await;

    assert_eq!(answer["status"], "applied");
    has(&answer, json!({"base_version": 0, "version": 1}));
    assert_eq!(answer["operations"][0]["id"], "KL-1");
    assert_eq!(answer["rejected"], json!([]));
    assert_eq!(answer["models"], json!({}));
    let line = "- KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit the query data\n";
    assert_eq!(memory.text().await, format!("# Key Learnings\n{line}"));
    assert_eq!(service.counts(["records", "updates"]).await, [1, 1]);
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_saves_nothing() {
    let (service, memory) = Service::start().await.agent();

    let answer = Answer::to(memory.applying("?dry_run=true", ADD))
        .await
        .is(200)
        .json();

    assert_eq!(answer["status"], "dry_run");
    assert_eq!(answer["version"], 0);
    assert_eq!(answer["operations"][0]["id"], "KL-1");
    assert!(answer["diff"].as_str().unwrap().contains("+- KL-1"), "{answer}");
    memory.get("context").await.missing();
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn faulty_items_are_dropped_and_reported() {
    let service = Service::start().await;

    let answer = service.memory("agent").applied(FAULTY).await;

    assert_eq!(answer["rejected"][0]["kind"], "missing_reason");
    assert_eq!(answer["rejected"][0]["section"], "learnings");
    assert_eq!(answer["operations"][0]["content"], "kept");
}

#[tokio::test]
async fn the_caller_can_limit_the_number_of_additions() {
    let (_, memory) = Service::start().await.agent();
    let items: String = (0..5)
        .map(|number| format!("    - because x: insight {number}\n"))
        .collect();
    let text = format!("KEY_LEARNINGS:\n  ADD:\n{items}");

    let few = Answer::to(memory.applying("?dry_run=true&max_additions=3", &text))
        .await
        .is(200)
        .json();
    let all = Answer::to(memory.applying("?dry_run=true", &text))
        .await
        .is(200)
        .json();

    let count = |answer: &Value| answer["operations"].as_array().unwrap().len();
    assert_eq!((count(&few), count(&all)), (3, 5));
    assert_eq!(few["rejected"][0]["kind"], "too_many_additions");
    for bad in ["0", "101", "x"] {
        let refused = Answer::to(memory.applying(&format!("?max_additions={bad}"), &text)).await;
        refused.invalid("max_additions");
    }
}

#[tokio::test]
async fn a_document_over_its_limit_is_rejected_with_both_sizes() {
    let service = Service::configured(|config| config.limits.context_bytes = 200).await;
    let memory = service.memory("agent");
    memory.write("x".repeat(190)).await;
    for answer in [
        memory.apply(ADD).await,
        memory.post("tasks", json!({"intent": "i", "summary": "s"})).await,
        memory.post("decisions", json!({"decision": "d"})).await,
        memory.put_json("status", json!({"goal": "g"})).await,
    ] {
        let problem = answer.invalid("context");
        has(&problem, json!({"before": 190, "limit": 200}));
        assert!(problem["actual"].as_u64().unwrap() > 200, "{problem}");
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_stale_precondition_and_an_empty_body_are_rejected() {
    let (service, memory) = Service::start().await.agent();
    let stale = memory.applying("", ADD).header("If-Match", "\"x\"");
    Answer::to(stale).await.stale();
    memory.apply("").await.invalid("body");
    memory.apply("KEY_LEARNINGS:\n\0").await.invalid("body");
    let of_type = |media_type: &str| {
        let request = memory.request(Method::POST, "operations");
        Answer::to(request.header("Content-Type", media_type.to_owned()).body("{}"))
    };
    of_type("application/json").await.invalid("operations");
    of_type("application/xml")
        .await
        .problem(415, "unsupported-media-type", Some("Content-Type"));
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_list_of_operations_in_json_is_applied_to_the_byte() {
    let (_, memory) = Service::start().await.agent();
    let snippet = "KEY_LEARNINGS:\n  ADD:\n\t- because x: y\n";

    let answer = memory
        .asked(
            "",
            json!({"operations": [
                {"op": "add", "section": "verbatim", "reason": "a", "label": "l", "content": snippet},
                {"op": "add", "section": "learnings", "reason": "no", "content": " "},
                {"op": "add", "section": "learnings", "reason": "b", "content": "one\ntwo"},
                {"op": "rewrite_progress", "completed": [], "in_progress": ["i"], "remaining": []},
            ]}),
        )
        .await;

    assert_eq!(answer["status"], "applied");
    let rejected = &answer["rejected"][0];
    has(rejected, json!({"kind": "empty_content", "index": 1}));
    assert!(
        rejected["detail"]
            .as_str()
            .unwrap()
            .starts_with("operations[1]: "),
        "{rejected}"
    );
    assert_eq!(answer["rejected"].as_array().unwrap().len(), 1);
    let warning = &answer["warnings"][0];
    has(warning, json!({"kind": "multi_line_insight", "index": 2}));
    let record = memory.read("records/VC-1").await;
    assert_eq!(record["content"], snippet.trim_end_matches('\n'));
    assert_eq!(memory.read("records/KL-1").await["content"], "one two");
    let run = memory.run_of(&answer).await;
    assert_eq!(run["request"]["operations"][0]["content"], snippet);
}

#[tokio::test]
async fn a_text_in_json_is_the_same_text() {
    let (_, memory) = Service::start().await.agent();
    let answer = memory.asked("?dry_run=true", json!({"text": ADD})).await;
    assert_eq!(answer["operations"][0]["content"], "commit the query data");
    assert_eq!(answer["rejected"], json!([]));
}

#[tokio::test]
async fn invalid_json_operations_are_rejected_with_their_position() {
    let (service, memory) = Service::start().await.agent();
    let archive = json!({"op": "archive", "id": "KL-1", "reason": "r"});
    for (body, field) in rows(
        r#"
        {"operations": [{"op": "archive", "id": "KL-1", "why": "r"}]} → operations[0].why
        {"operations": [{"op": "add", "content": "r"}]} → operations[0] `section`
        {"operations": [{"op": "add", "section": "tasks"}]} → operations[0].section
        {"operations": [{"op": "add", "section": "learnings", "label": "l"}]} → operations[0] `label`
        {"operations": [{"op": "archive", "id": "KL-1", "content": "b"}]} → operations[0] `content`
        {"operations": [{"op": "rewrite_progress", "id": "KL-1"}]} → operations[0] `id`
        {"operations": [{"op": "rewrite_progress", "in_progress": ["a", "b\u0000"]}]} → operations[0].in_progress[1]
        {"operations": [{"op": "delete"}]} → operations[0].op `delete`
        {"operations": [{"id": "KL-1", "reason": "b"}]} → operations[0] `op`
        {"operations": ["KL-1"]} → operations[0]
        {"operations": [{"op": "archive", "id": "KL-1", "reason": "a\u0000"}]} → operations[0].reason
        {"text": " "} → text
        {} → operations"#,
    )
    .chain([
        (
            json!({"operations": [archive, {"op": "archive", "id": 1, "reason": "r"}]}),
            "operations[1].id",
        ),
        (json!({"operations": [archive], "text": ADD}), "text"),
        (json!([archive]), "body"),
    ]) {
        let (field, named) = field.split_once(' ').unwrap_or((field, ""));
        let problem = memory.ask("", body).await.invalid(field);
        holds(problem["detail"].as_str().unwrap(), &[named]);
    }
    assert_eq!(service.count("updates").await, 0);
}

#[tokio::test]
async fn faulty_json_operations_fail_the_request_only_for_retryable_faults() {
    let (_, memory) = Service::start().await.agent();
    memory.applied(ADD).await;
    let add = |reason: &str| json!({"op": "add", "section": "learnings", "reason": reason, "content": "commit the query data"});

    let twice = memory
        .asked("?on_invalid=fail", json!({"operations": [add("again")]}))
        .await;
    assert_eq!(
        (&twice["status"], &twice["rejected"][0]["kind"]),
        (&json!("unchanged"), &json!("duplicate"))
    );

    let failed = memory
        .ask("?on_invalid=fail", json!({"operations": [add("")]}))
        .await;
    let problem = failed.problem(422, "invalid", None);
    assert_eq!(problem["rejected"][0]["index"], 0);
}

#[tokio::test]
async fn a_replaced_record_names_its_replacement() {
    let (service, memory) = Service::start().await.agent();
    memory.applied(ADD).await;
    memory.asked("", json!({"operations": [{"op": "add", "section": "verbatim", "reason": "r", "label": "l", "content": "x"}]})).await;

    let answer = memory.asked("", json!({"operations": [
            {"op": "add", "section": "learnings", "reason": "CI has a database", "content": "leave it out", "replaces": "KL-1"},
            {"op": "archive", "id": "VC-1", "reason": "it changed"},
            {"op": "add", "section": "verbatim", "reason": "s", "label": "l", "content": "y", "replaces": "VC-1"},
        ]})).await;

    assert_eq!(answer["rejected"], json!([]));
    let log = answer["log"].as_str().unwrap();
    holds(log, &["KL-2 replaced KL-1", "VC-2 replaced VC-1"]);
    for (old, new, reason) in [
        ("KL-1", "KL-2", "CI has a database"),
        ("VC-1", "VC-2", "it changed"),
    ] {
        let record = memory.read(&format!("records/{old}")).await;
        has(
            &record,
            json!({"status": "archived", "superseded_by": new, "archive_reason": reason}),
        );
        let diff = memory
            .get_with("contexts/3/diff", "Accept", "application/json")
            .await
            .is(200)
            .json();
        let archived = diff["records"]["archived"].as_array().unwrap();
        let of_it = archived.iter().find(|record| record["record_id"] == old).unwrap();
        assert_eq!(of_it["superseded_by"], new);
    }
    let handoff = memory.request(Method::POST, "handoff/refresh");
    Answer::to(handoff).await;
    let handoff = memory.get("handoff").await.is(200);
    let handoff = handoff.text();
    holds(handoff, &["Learning KL-1 was replaced by KL-2"]);
    let changes: Vec<String> = service
        .values("SELECT change FROM record_changes WHERE version = 3 ORDER BY kind, number")
        .await;
    assert_eq!(changes, ["superseded", "added", "superseded", "added"]);
}

#[tokio::test]
async fn replacing_an_archived_record_is_rejected_and_archives_nothing() {
    let (_, memory) = Service::start().await.agent();
    memory.applied(ADD).await;
    let add = |content: &str, replaces: &str| json!({"op": "add", "section": "learnings", "reason": "r", "content": content, "replaces": replaces});

    let answer = memory
        .asked(
            "",
            json!({"operations": [
                add("one", "KL-9"),
                add("commit the query data", "KL-1"),
                add("three", "KL-1"),
            ]}),
        )
        .await;
    let kinds = each(&answer["rejected"], "kind");
    assert_eq!(kinds, ["unknown_id", "already_archived"], "{answer}");

    let late = memory
        .asked("", json!({"operations": [add("four", "KL-1")]}))
        .await;
    assert_eq!(late["rejected"][0]["kind"], "already_archived");
    assert_eq!(late["status"], "unchanged");
    // The archive reports the error; the addition is applied like any other.
    let both = json!({"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}, add("four", "KL-1")]});
    let both = memory.asked("", both).await;
    assert_eq!(
        (&both["rejected"][0]["index"], &both["operations"][0]["op"]),
        (&json!(0), &json!("add"))
    );
}

#[tokio::test]
async fn a_record_that_is_replaced_stays_in_the_place_of_no_other() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write("# Key Learnings\n- KL-1 tests are slow\n- KL-2 tests are slow at night\n")
        .await;
    let list = json!([
        {"op": "archive", "id": "KL-1", "duplicate_of": "KL-2", "reason": "it says more"},
        {"op": "add", "section": "learnings", "reason": "r", "content": "nights are free", "replaces": "KL-2"},
    ]);

    let answer = memory.asked("", json!({"operations": list})).await;

    assert_eq!(each(&answer["rejected"], "kind"), ["uncovered"], "{answer}");
    holds(
        &memory.text().await,
        &["- KL-1 tests are slow\n", ": nights are free\n"],
    );
}

#[tokio::test]
async fn a_text_without_a_header_changes_nothing_and_the_error_shows_a_header() {
    let (_, memory) = Service::start().await.agent();
    let text = "Please remember that CI has no database.";

    let answer = memory.applied(text).await;

    assert_eq!(
        (&answer["status"], &answer["warnings"][0]["kind"]),
        (&json!("unchanged"), &json!("no_section"))
    );
    let log = answer["log"].as_str().unwrap();
    assert!(
        log.starts_with("nothing was applied") && log.contains("KEY_LEARNINGS:"),
        "{log}"
    );
    let problem = Answer::to(memory.applying("?on_invalid=fail", text))
        .await
        .problem(422, "invalid", None);
    assert_eq!(problem["rejected"][0]["kind"], "no_section");
}

#[tokio::test]
async fn a_text_whose_items_are_all_rejected_is_not_reported_as_applied() {
    let service = Service::start().await;
    let answer = service
        .memory("agent")
        .applied("KEY_LEARNINGS:\n  ADD:\n    - no reason\n")
        .await;
    let log = answer["log"].as_str().unwrap();
    assert!(
        log.starts_with("nothing was applied\n! learnings: missing_reason"),
        "{log}"
    );
}

#[tokio::test]
async fn progress_beside_a_free_section_of_the_same_name_is_a_warning() {
    let (_, memory) = Service::start().await.agent();
    let text = "CURRENT_PROGRESS:\n  In Progress:\n    - Wire the parser\n";
    let alone = Answer::to(memory.applying("?dry_run=true", text))
        .await
        .is(200)
        .json();
    assert_eq!(alone["warnings"], json!([]));

    memory
        .write("# Progress\nNext: write the parser\n\n# Current Progress\n- nothing yet\n")
        .await;
    let answer = memory.applied(text).await;

    assert_eq!(answer["status"], "applied");
    assert_eq!(answer["warnings"][0]["kind"], "second_progress_section");
    assert_eq!(answer["warnings"][0]["section"], "progress");
    let other = memory.applied(ADD).await;
    assert_eq!(other["warnings"], json!([]));
}

#[tokio::test]
async fn sections_under_their_authors_titles_are_changed_in_place() {
    let (_, memory) = Service::start().await.agent();
    let free = "# Description\r\nA  shop.\n\n";
    memory
        .write(format!(
            "{free}# Progress\n- old\n\n# Learnings\n- because a: one\n\n# Verbatim\n\n# Facts\n\tx\n"
        ))
        .await;
    let text = "CURRENT_PROGRESS:\n  In Progress:\n    - Wire the parser\nKEY_LEARNINGS:\n  ADD:\n    - because b: two\n\
        VERBATIM_CONTEXT:\n  ADD:\n    - because next: run => cargo test\n";
    let answer = memory.applied(text).await;
    has(&answer, json!({"rejected": [], "warnings": []}));
    let now = memory.text().await;
    let headings: Vec<&str> = now.lines().filter(|line| line.starts_with("# ")).collect();
    assert_eq!(
        headings,
        [
            "# Description",
            "# Progress",
            "# Learnings",
            "# Verbatim",
            "# Facts"
        ],
        "{now}"
    );
    assert!(
        now.starts_with(free) && now.ends_with("\n\n# Facts\n\tx\n"),
        "{now}"
    );
    holds(
        &now,
        &["# Progress\n## In Progress\n- Wire the parser\n\n# Learnings\n- KL-1 "],
    );
    let records = memory.read("records").await;
    assert_eq!(records["items"].as_array().unwrap().len(), 3, "{records}");
    let archive = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is over\n";
    memory.applied(archive).await;
    let handoff = memory.request(reqwest::Method::POST, "handoff/refresh");
    let handoff = Answer::to(handoff).await.is(201).json();
    let markdown = handoff["markdown"].as_str().unwrap();
    holds(
        markdown,
        &["- In progress: \"Wire the parser\" [Current Progress@3]"],
    );
    assert!(
        memory
            .get("contexts/3/diff?base=2")
            .await
            .is(200)
            .text()
            .contains("-- KL-1 ")
    );
    let section = memory.get("context?section=learnings").await.is(200);
    assert!(
        section.text().starts_with("# Learnings\n- KL-2 "),
        "{}",
        section.text()
    );
}
