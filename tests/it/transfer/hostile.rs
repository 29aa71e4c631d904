//! Manipulated files: each is rejected with its line, and its memory is not changed, or leaves a memory that works.

use super::program::{export, filled, imported, refuses};
use super::sealed::File;
use crate::harness::{Answer, Database, OPERATIONS, Service, holds};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Connection as _;
use working_memory::storage::transfer::OnConflict;

/// The memory `agent` of a filled service, as a file. Because a version was redacted, it has lines of records.
async fn agent() -> String {
    let service = filled().await;
    let agent = service.memory("agent");
    agent.redact("2").await.is(200);
    agent.post("handoff/refresh", json!({})).await.is(201);
    let items = json!([{"content": "Short."}]);
    agent.put_json("items/style", items).await.is(200);
    export(&service.database_url(), &["--vault", "acme", "--memory", "agent"])
}

/// Imports a file into a database that has nothing: it must fail with this error, and nothing is stored.
async fn refused_whole(database: &Database, text: &str, said: &str) {
    refuses(&database.url(), &[], text, said);
    let mut connection = sqlx::PgConnection::connect(&database.url()).await.unwrap();
    let stored = "SELECT (SELECT count(*) FROM memories) + (SELECT count(*) FROM records) + (SELECT count(*) FROM updates)";
    let rows: i64 = sqlx::query_scalar(stored)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows, 0);
}

/// A member of a line, a value that no export writes, and the error, or that it is taken.
const MEMBERS: &str = r#"header.format = "other" → format: working-memory of a version from 1 to 2 is expected
header.version = 3 → format: working-memory of a version from 1 to 2 is expected
header.vault_id = "a/b" → expected a header, but must be 1 to 128
memory.memory_id = "../x" → expected a memory or the footer, but must be 1 to 128
memory.head_version = 0 → memories_head_check
memory.head_version = 9223372036854775807 → head_version: must be at most
memory.head_context_id = null → memories_head_check
memory.learning_counter = 9223372036854775807 → taken
memory.decision_counter = -1 → taken
memory.changed_at = "2026-11-21T02:00:00.000000001Z" → changed_at: must be a time
memory.created_at = "+12026-11-21T02:00:00Z" → created_at: must be a time
context.version = 0 → version: a number over 0 is expected here, not 0
context.context_id = "" → expected a context
context.bytes = 7 → bytes: must be the size
context.operations = {"op": "add"} → operations: must be a list or null
context.operations = [{"op": "add", "id": "KL-1", "evidence": [1]}] → operations: must be with evidence
context.operations = [{"op": "\u0000"}] → unsupported Unicode escape
context.operations = [1, {"op": "add", "id": "KL-1", "evidence": 1}] → taken
context.log = "a\u0000" → invalid byte sequence
context.line_origins = [99, 1] → line_origins: must be pairs
context.line_origins = [1, 9223372036854775807] → taken
context.redaction_reason = " " → redaction_reason: must be a text
context.redacted_by = "me" → memory_contexts_redacted_check
context.context = "a\u0000b" → context: the context contains a NUL
context.context = " \n" → context: the context is empty or blank
record.number = 0 → number: must be from 1 to
record.number = 77 → number: must be from 1 to the memory's counter
record.status = "gone" → records_status_check
record.archive_reason = "x" → records_
record.created_version = 99 → created_version: must be a version of the memory
record.created_at = "+12026-11-21T02:00:00Z" → the database does not accept it
record.marks = "until never" → marks: must be
record.task_id = "t" → records_task_check
record.superseded_by = "D-9223372036854775807" → records_status_check
run.kind = "cron" → expected a run
run.status = "queued" → updates_queue_check
run.status = "proposed" → taken
run.finished_at = null → updates_queue_check
run.created_at = "+12026-11-21T02:00:00Z" → created_at: must be a time
run.attempts = -1 → updates_attempts_check
run.base_version = -1 → base_version: must be
run.base_version = 99 → taken
run.version = null → updates_version_check
run.version = 99 → version: must be a version of the memory
run.request = {"\u0000": 1} → unsupported Unicode escape
run.exchanges = {"packed": 1} → exchanges: must be a list
run.exchanges = [{"system": {"instructions": "x"}, "answer": [[0, 0, 99]]}] → taken
run.outcome = {"in_version": 1} → taken
handoff.number = 9223372036854775807 → number: must be at most
handoff.window_seconds = 0 → must be a duration
handoff.base_version = 0 → handoffs_base_check
handoff.base_version = 99 → base_version: must be a version of the memory
handoff.citations = [{"line": 18446744073709551615, "cited": []}] → taken
handoff.manifest = "x" → manifest: must be an object
handoff.manifest = {"model": 1, "inputs": 1} → taken
handoff.markdown = "\u0000" → invalid byte sequence
item.category = "a,b" → expected a context
item.content = " " → content: must be a text
item.expires_at = "+12026-11-21T02:00:00Z" → expires_at: must be a time
end.memory_id = "other" → memory_id: the end of agent is expected here"#;

/// Writes to the memory `agent`; the last one deletes it.
const WRITES: &str = r##"PUT context "# Key Learnings\n- KL-1 because y: first\n"
POST operations "KEY_LEARNINGS:\n  ADD:\n    - because it is new: one\n  ARCHIVE:\n    - KL-1 because it is over\n"
POST update {"task": "Wrote the parser. Next: wire it up."}
POST tasks {"task_id": "t-1", "intent": "Step", "summary": "Done."}
POST decisions {"decision": "a", "reason": "b"}
PUT status {"status": "Works."}
POST consolidate {}
POST updates/{update_id}/reject {}
POST handoff/refresh {}
POST contexts/1/restore {}
POST contexts/1/redact {"reason": "Theirs."}
DELETE  {}"##;

/// Every read of the memory of a file and its pages, then every write, ends without an internal error.
async fn works(service: &Service, file: &File, row: &str) {
    let named = |kind: &str, member: &str| {
        file.0[file.first(kind)][kind][member]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let run = named("run", "update_id");
    let fill = |path: &str| {
        let path = path.replace("{vault_id}", "acme").replace("{memory_id}", "agent");
        let path = path.replace("{ref}", "1").replace("{record_id}", "KL-1");
        let path = path.replace("{handoff_id}", &named("handoff", "handoff_id"));
        path.replace("{item}", &named("item", "item_id"))
            .replace("{update_id}", &run)
    };
    let routes = OPERATIONS
        .iter()
        .filter(|operation| operation.method == Method::GET);
    let routes = routes.map(|operation| operation.path.to_owned());
    let pages = " /timeline /blame /records /records/KL-2 /updates /updates/{update_id} /window /handoff /versions/1 /prompt";
    let pages = pages
        .split(' ')
        .map(|page| format!("/ui/vaults/acme/memories/agent{page}"));
    for path in routes.filter(|path| path.contains("{memory_id}")).chain(pages) {
        let answer = service.get(&fill(&path)).await;
        assert!(answer.status < 500, "{row}: {path}: {}", answer.text());
    }
    for write in WRITES.lines() {
        let (method, write) = write.split_once(' ').unwrap();
        let (below, body) = write.split_once(' ').unwrap();
        let path = format!("/v1/vaults/acme/memories/agent/{}", fill(below));
        let request = service.request(method.parse().unwrap(), path.trim_end_matches('/'));
        let request = match serde_json::from_str(body).unwrap() {
            Value::String(text) => request.header("Content-Type", "text/plain").body(text),
            _ if method == "DELETE" => request,
            body => request.json(&body),
        };
        let answer = Answer::to(request).await;
        assert!(answer.status < 500, "{row}: {write}: {}", answer.text());
    }
}

// A refused import is rolled back by a task of its own, which goes on while the program at the end is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_changed_file_is_refused_with_its_line_or_leaves_a_memory_that_works() {
    let (file, service) = (agent().await, Service::start().await);
    let too_long = format!(
        r#"context.context = "{}" → context: the context has 11534336 bytes"#,
        "x".repeat(11 << 20)
    );
    for row in MEMBERS.lines().chain([too_long.as_str()]) {
        let (place, value) = row.split_once(" = ").unwrap();
        let (value, said) = value.split_once(" → ").unwrap();
        let (kind, member) = place.split_once('.').unwrap();
        let mut changed = File::of(&file);
        let line = changed.first(kind);
        changed.0[line][kind][member] = serde_json::from_str(value).unwrap();
        let text = File(changed.0.clone()).sealed();
        match imported(service.storage(), text.as_bytes(), None, OnConflict::Fail).await {
            Ok(_) => {
                assert_eq!(said, "taken", "{place}");
                works(&service, &changed, place).await;
            }
            Err(error) => holds(error, &[&format!("line {}: ", line + 1), said]),
        }
        let tables = [
            "memories",
            "memory_contexts",
            "records",
            "updates",
            "handoffs",
            "prompt_items",
        ];
        assert_eq!(service.counts(tables).await, [0; 6], "{place}");
    }
    // A footer comes after its memories were imported.
    let mut file = File::of(&file);
    file.0.last_mut().unwrap()["footer"]["memories"] = json!(2);
    let said = "memories: the footer counts 2, the file has 1";
    refuses(&service.database_url(), &[], &file.sealed(), said);
}

/// What is done to the lines of a file, and the error. The first line of a kind is changed, or the line of a number.
const OUT_OF_PLACE: &str = "context swap → line 4: version: a number over 2 is expected here, not 1
context repeat → version: a number over 1 is expected here, not 1
header drop → line 1: a header is expected here, not: memory
memory drop → line 2: a memory or the footer is expected here, not: context
footer repeat → nothing is expected behind the footer";

#[tokio::test]
async fn lines_out_of_place_are_refused() {
    let (file, database) = (agent().await, Database::create().await);
    let url = database.url();
    for row in OUT_OF_PLACE.lines() {
        let (change, said) = row.split_once(" → ").unwrap();
        let (kind, change) = change.split_once(' ').unwrap();
        let mut file = File::of(&file);
        let at = file.first(kind);
        match change {
            "swap" => file.0.swap(at, at + 1),
            "repeat" => file.0.insert(at, file.0[at].clone()),
            _ => drop(file.0.remove(at)),
        }
        refuses(&url, &["--into-vault", "v"], &file.sealed(), said);
    }
}

#[tokio::test]
async fn an_active_record_says_what_the_newest_document_says() {
    let mut file = File::of(include_str!("../../data/transfer/version-1.jsonl"));
    for line in &mut file.0 {
        if line["record"]["kind"] == "KL" && line["record"]["content"] == "stays" {
            line["record"]["content"] = json!("made up");
        }
    }
    let database = Database::create().await;
    let said = "KL-1: the newest document does not have it so";
    refuses(&database.url(), &[], &file.sealed(), said);
}

#[tokio::test]
async fn ids_of_versions_are_unique_and_counters_cover_all_records() {
    let (file, database) = (agent().await, Database::create().await);
    let mut twice = File::of(&file);
    let first = twice.first("context");
    twice.0[first + 1]["context"]["context_id"] = twice.0[first]["context"]["context_id"].clone();
    refused_whole(&database, &twice.sealed(), "stands twice in this memory").await;
    let said = "line 3: context: it has a record with a number over";
    let mut low = File::of(&file);
    let memory = low.first("memory");
    low.0[memory]["memory"]["learning_counter"] = json!(0);
    refused_whole(&database, &low.sealed(), said).await;
    // A task that went directly to the archive stands in the operations alone.
    let mut historic = File::of(&file);
    historic.0[first]["context"]["operations"] = json!([{"op": "history", "id": "T-99", "content": "done"}]);
    refused_whole(&database, &historic.sealed(), said).await;
}

#[tokio::test]
async fn changed_and_truncated_files_are_detected() {
    let (file, database) = (agent().await, Database::create().await);
    let changed = file.replacen("漢字", "漢子", 1);
    let said = "the lines of agent are not those that were exported";
    refused_whole(&database, &changed, said).await;
    for (end, _) in file.match_indices('\n').step_by(3) {
        if file[end + 1..].lines().count() > 1 {
            refused_whole(&database, &file[..=end], "it is cut off").await;
        }
    }
    let said = "the file ends behind line 0, but a header was expected: it is cut off";
    refused_whole(&database, "", said).await;
    let header = file.lines().next().unwrap();
    let said = "line 1: it has no end: the file is cut off";
    refused_whole(&database, header, said).await;
}

#[tokio::test]
async fn invalid_lines_are_rejected() {
    let database = Database::create().await;
    let deep = format!("{{\"header\":{}}}\n", "[".repeat(200_000));
    for (text, said) in [
        (deep.as_str(), ""),
        ("not json\n", "expected value at column 1"),
        ("\n", "EOF"),
        ("{\"thing\":{}}\n", "unknown variant `thing`"),
    ] {
        let said = format!("line 1: expected a header, but {said}");
        refused_whole(&database, text, &said).await;
    }
}

#[tokio::test]
async fn deeply_nested_values_of_runs_are_rejected() {
    let (file, database) = (agent().await, Database::create().await);
    let mut lines = File::of(&file);
    let run = lines.first("run");
    lines.0[run]["run"]["request"] = json!("DEEP");
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let text = lines.sealed().replacen("\"DEEP\"", &deep, 1);
    refused_whole(&database, &text, "recursion limit exceeded").await;
}

#[tokio::test]
async fn append_rejects_another_text_under_a_known_id() {
    let service = Service::start().await;
    service.memory("agent").write("one").await;
    service.memory("agent").write("two").await;
    let mut file = File::of(&export(&service.database_url(), &["--vault", "acme"]));
    let first = file.first("context");
    file.0[first]["context"]["context"] = json!("six");
    // The memory does not have this head; otherwise the file would count as imported already.
    file.0[first + 1]["context"]["context_id"] = json!("foreign");
    file.0[1]["memory"]["head_context_id"] = json!("foreign");
    let (url, append) = (service.database_url(), ["--on-conflict", "append"]);
    let said = "is version 1 of the memory already, with another text";
    refuses(&url, &append, &file.sealed(), said);
    assert_eq!(service.memory("agent").text().await, "two");
}
