//! Manipulated files: each is rejected with its line, and its memory is not changed.

use super::program::{export, filled, refuses};
use super::sealed::File;
use crate::harness::{Database, Service, has};
use serde_json::{Value, json};
use sqlx::Connection as _;

/// The memory `agent` of a filled service, as a file. What was said in the version that was redacted stands in lines of
/// records.
async fn agent() -> String {
    let service = filled().await;
    service.memory("agent").redact("2").await.is(200);
    export(&service.database_url(), &["--vault", "acme", "--memory", "agent"])
}

/// Imports a file into a database that has nothing: it must fail with this error, and nothing is stored.
async fn refused_whole(database: &Database, arguments: &[&str], text: &str, said: &str) {
    refuses(&database.url(), arguments, text, said);
    let mut connection = sqlx::PgConnection::connect(&database.url()).await.unwrap();
    let stored = "SELECT (SELECT count(*) FROM memories) + (SELECT count(*) FROM records) + (SELECT count(*) FROM updates)";
    let rows: i64 = sqlx::query_scalar(stored)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows, 0);
}

/// Changes one line, corrects the hash, and expects this error, with the line's number.
async fn refused(database: &Database, original: &str, line: usize, change: impl Fn(&mut Value), said: &str) {
    let mut file = File::of(original);
    change(&mut file.0[line]);
    let said = format!("line {}: {said}", line + 1);
    refused_whole(database, &[], &file.sealed(), &said).await;
}

/// A member of a line, a value that it may not have, and the error.
const MEMBERS: &str = r#"header.format = "other" → format: working-memory of a version from 1 to 2 is expected
header.version = 3 → format: working-memory of a version from 1 to 2 is expected
header.vault_id = "a/b" → expected a header, but must be 1 to 128
memory.memory_id = "../x" → expected a memory or the footer, but must be 1 to 128
memory.head_version = 0 → head_version: must be 1 or more
memory.head_version = 9223372036854775807 → head_version: must be at most
memory.task_counter = -1 → task_counter: must be 0 or more
memory.head_context_id = null → head_context_id: must be the id of the newest version
memory.changed_at = "2026-11-21T02:00:00.000000001Z" → changed_at: must be a time
memory.created_at = "+12026-11-21T02:00:00Z" → created_at: must be a time
context.version = 0 → version: a number over 0 is expected here, not 0
context.version = "1" → expected a context
context.context_id = "" → expected a context
context.actor_id = "a b" → expected a context
context.source = "magic" → expected a context
context.bytes = 7 → bytes: must be the size
context.update_id = "-" → expected a context
context.operations = {"op": "add"} → operations: must be a list or null
context.operations = [{"op": "\u0000"}] → the database does not accept it: unsupported Unicode escape
context.log = "a\u0000" → the database does not accept it: invalid byte sequence
context.line_origins = [99, 1] → line_origins: must be pairs
context.line_origins = [1] → line_origins: must be pairs
context.redaction_reason = " " → redaction_reason: must be a text
context.redacted_sha256 = "abc" → redacted_sha256: must be 64
context.context = "a\u0000b" → context: the context contains a NUL
context.context = " \n" → context: the context is empty or blank
context.vault_id = "other" → expected a context
record.kind = "XX" → expected a context
record.number = 0 → number: must be 1 or more
record.number = 77 → KL-77: its number is over the memory's counter
record.status = "gone" → status: must be active or archived
record.status = "active" → archive_reason: must be null while the record is active
record.created_version = 99 → created_version: must be a version of the memory
record.superseded_by = "x" → expected a context
run.kind = "cron" → expected a context
run.status = "resolved" → resolved_by: must be there exactly
run.version = null → context_id: must be there exactly
run.version = 99 → version: the memory has no such version
run.request = {"\u0000": 1} → the database does not accept it: unsupported Unicode escape
end.memory_id = "other" → memory_id: the end of agent is expected here"#;

#[tokio::test]
async fn every_member_of_every_line_is_checked() {
    let (file, database) = (agent().await, Database::create().await);
    let lines = File::of(&file);
    let too_long = format!(
        r#"context.context = "{}" → context: the context has 11534336 bytes"#,
        "x".repeat(11 << 20)
    );
    for row in MEMBERS.lines().chain([too_long.as_str()]) {
        let (place, row) = row.split_once(" = ").unwrap();
        let (value, said) = row.split_once(" → ").unwrap();
        let (kind, member) = place.split_once('.').unwrap();
        let line = lines.first(kind);
        let change = |found: &mut Value| found[kind][member] = serde_json::from_str(value).unwrap();
        refused(&database, &file, line, change, said).await;
    }
    // A footer comes after its memories were imported.
    let mut file = File::of(&file);
    file.0.last_mut().unwrap()["footer"]["memories"] = json!(2);
    let said = "memories: the footer counts 2, the file has 1";
    refuses(&database.url(), &[], &file.sealed(), said);
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
async fn a_record_that_is_told_as_active_stands_in_the_newest_document() {
    let (file, database) = (agent().await, Database::create().await);
    let record = File::of(&file).first("record");
    let revive = |line: &mut Value| {
        let line = &mut line["record"];
        line["status"] = json!("active");
        for member in "ended_version ended_at ended_by archive_reason superseded_by".split(' ') {
            line[member] = json!(null);
        }
    };
    let said = "KL-2.status: the newest document does not have it";
    refused(&database, &file, record, revive, said).await;
}

#[tokio::test]
async fn what_the_versions_know_counts_more_than_a_record_line() {
    let mut file = File::of(include_str!("../../data/transfer/version-1.jsonl"));
    for line in &mut file.0 {
        if line["record"]["kind"] == "KL" && line["record"]["content"] == "stays" {
            line["record"]["content"] = json!("made up");
            line["record"]["created_version"] = json!(2);
        }
    }
    let service = Service::start().await;
    let output = super::program::import(&service.database_url(), &[], &file.sealed());
    assert!(output.status.success(), "{output:?}");
    let record = service.memory("redacted").read("records/KL-1").await;
    has(&record, json!({"content": "stays", "created_version": 1}));
}

#[tokio::test]
async fn ids_of_versions_are_unique_and_counters_cover_all_records() {
    let (file, database) = (agent().await, Database::create().await);
    let mut twice = File::of(&file);
    let first = twice.first("context");
    twice.0[first + 1]["context"]["context_id"] = twice.0[first]["context"]["context_id"].clone();
    refused_whole(&database, &[], &twice.sealed(), "stands twice in this memory").await;
    let said = "line 3: context: it has a record with a number over";
    let mut low = File::of(&file);
    let memory = low.first("memory");
    low.0[memory]["memory"]["learning_counter"] = json!(0);
    refused_whole(&database, &[], &low.sealed(), said).await;
    // A task that went directly to the archive stands in the operations alone.
    let mut historic = File::of(&file);
    historic.0[first]["context"]["operations"] = json!([{"op": "history", "id": "T-99", "content": "done"}]);
    refused_whole(&database, &[], &historic.sealed(), said).await;
}

#[tokio::test]
async fn changed_and_truncated_files_are_detected() {
    let (file, database) = (agent().await, Database::create().await);
    let changed = file.replacen("漢字", "漢子", 1);
    let said = "the lines of agent are not those that were exported";
    refused_whole(&database, &[], &changed, said).await;
    for (end, _) in file.match_indices('\n').step_by(3) {
        if file[end + 1..].lines().count() > 1 {
            refused_whole(&database, &[], &file[..=end], "it is cut off").await;
        }
    }
    let said = "the file ends behind line 0, but a header was expected: it is cut off";
    refused_whole(&database, &[], "", said).await;
    let header = file.lines().next().unwrap();
    let said = "line 1: it has no end: the file is cut off";
    refused_whole(&database, &[], header, said).await;
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
        refused_whole(&database, &[], text, &said).await;
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
    refused_whole(&database, &[], &text, "recursion limit exceeded").await;
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
