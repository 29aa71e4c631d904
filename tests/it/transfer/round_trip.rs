//! Exports that are imported and exported again.

use super::program::{export, filled, imports, path, program, refuses_with, stderr};
use super::sealed::File;
use crate::harness::{Database, Service, has, holds};
use serde_json::{Value, json};

#[tokio::test]
async fn redacted_and_pruned_versions_are_imported_as_they_are() {
    let (service, agent) = filled().await.agent();
    agent.redact("2").await.is(200);
    assert!(service.prune(3, false).await > 0, "the first versions were to go");
    let first = export(&service.database_url(), &["--vault", "acme"]);
    let other = Database::create().await;
    imports(&other.url(), &[], &first, [3, 0, 0, 0]);
    assert_eq!(export(&other.url(), &["--vault", "acme"]), first);
    imports(&other.url(), &["--on-conflict", "append"], &first, [0, 0, 3, 0]);
}

#[tokio::test]
async fn the_file_has_a_header_and_every_row_in_order() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let lines = File::of(&file).0;
    has(
        &lines[0]["header"],
        json!({"format": "working-memory", "version": 2}),
    );
    let count = |kind: &str| lines.iter().filter(|line| line.get(kind).is_some()).count() as i64;
    assert_eq!(count("memory"), service.count("memories").await);
    assert_eq!(count("context"), service.count("memory_contexts").await);
    assert_eq!(count("record"), 0, "all of them follow from the versions");
    assert_eq!(count("run"), service.count("updates").await);
    assert_eq!(lines.last().unwrap()["footer"]["memories"], 3);
    let memories = lines
        .iter()
        .filter_map(|line| line["memory"]["memory_id"].as_str());
    let expected = ["Upper", "agent", "plain"];
    assert!(memories.eq(expected), "by bytes, in any database: {file}");
}

#[tokio::test]
async fn a_version_of_long_ago_is_imported_and_can_be_read() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme", "--memory", "plain"]);
    let mut file = File::of(&file);
    let (memory, context) = (file.first("memory"), file.first("context"));
    let then = json!("1899-12-31T00:00:00Z");
    for member in ["created_at", "changed_at"] {
        file.0[memory]["memory"][member] = then.clone();
    }
    file.0[context]["context"]["creation_time"] = then;
    let other = Service::start().await;
    imports(&other.database_url(), &[], &file.sealed(), [1, 0, 0, 0]);

    let read = other.memory("plain").get("context").await.is(200);

    assert_eq!(read.text(), "only this");
    assert_eq!(read.header("last-modified"), "Thu, 01 Jan 1970 00:00:00 GMT");
    other.memory("plain").get("blame").await.is(200);
}

#[tokio::test]
async fn an_imported_run_whose_outcome_has_another_form_has_a_page() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme", "--memory", "agent"]);
    let mut file = File::of(&file);
    let run = file.first("run");
    file.0[run]["run"]["outcome"] = json!({"operations": 1});
    let id = file.0[run]["run"]["update_id"].as_str().unwrap().to_owned();
    let other = Service::start().await;
    imports(&other.database_url(), &[], &file.sealed(), [1, 0, 0, 0]);

    let page = format!("/ui/vaults/acme/memories/agent/updates/{id}");

    holds(other.get(&page).await.is(200).text(), &[&id]);
}

/// The records of a memory, whole.
async fn records(service: &Service, memory: &str) -> Value {
    let both = "records?status=all&limit=500";
    service.memory(memory).get(both).await.is(200).json()["items"].clone()
}

#[tokio::test]
async fn a_file_of_version_1_is_imported_with_everything_in_it() {
    let file = include_str!("../../data/transfer/version-1.jsonl");
    let service = Service::start().await;
    imports(&service.database_url(), &[], file, [4, 0, 0, 0]);
    let mut memory = "";
    for line in &File::of(file).0 {
        if let Some(id) = line["memory"]["memory_id"].as_str() {
            memory = id;
        }
        let Some(told) = line.get("record") else { continue };
        let id = format!("{}-{}", told["kind"].as_str().unwrap(), told["number"]);
        let stored = service.memory(memory).read(&format!("records/{id}")).await;
        for member in "status content created_version created_at created_by epic task_id".split(' ') {
            let (told, stored) = (told.get(member), stored.get(member));
            let is_kept = told.is_none() || told == stored;
            assert!(is_kept, "{memory} {id} {member}: {told:?} {stored:?}");
        }
        assert_eq!(stored["archive_reason"], told["archive_reason"], "{memory} {id}");
    }
    has(
        &service.memory("agent").read("updates").await,
        json!({"items#": 2}),
    );
    let now = export(&service.database_url(), &["--vault", "acme"]);
    // Records of the memory with a redacted version are told by lines of their own.
    let kinds = ["context", "run", "item", "vault_item", "path", "record"];
    let counts = kinds.map(|kind| now.matches(&format!("\n{{\"{kind}\"")).count());
    assert_eq!(counts, [9, 2, 2, 1, 1, 3], "{now}");

    let again = Database::create().await;
    imports(&again.url(), &[], &now, [4, 0, 0, 0]);
    assert_eq!(export(&again.url(), &["--vault", "acme"]), now);
}

#[tokio::test]
async fn records_of_versions_that_are_gone_are_told_by_lines_of_their_own() {
    let service = filled().await;
    service.memory("agent").redact("2").await.is(200);
    service.prune(2, false).await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    assert!(file.contains("{\"record\""), "{file}");
    let copy = Service::start().await;
    super::program::import(&copy.database_url(), &[], &file);
    assert_eq!(records(&copy, "agent").await, records(&service, "agent").await);
    for service in [&copy, &service] {
        let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
        assert_eq!(rebuilt.mended, 0);
    }
    assert_eq!(records(&copy, "agent").await, records(&service, "agent").await);
    // Nor does a line get another author.
    let blame = async |service: &Service| service.memory("agent").read("blame").await["lines"].clone();
    assert_eq!(blame(&copy).await, blame(&service).await);
    assert_eq!(export(&copy.database_url(), &["--vault", "acme"]), file);
}

#[tokio::test]
async fn records_that_follow_from_the_versions_need_no_line_beside_a_redacted_one() {
    let (service, memory) = Service::start().await.with_memory("agent");
    for bullets in [
        "KL-1 a|KL-2 b|KL-3 c",
        "KL-1 d|KL-2 b|KL-4 e",
        "KL-1 f|KL-2 b|KL-4 e",
        "KL-1 f|KL-4 e|KL-5 g",
    ] {
        memory
            .write(&format!("# Key Learnings\n- {}\n", bullets.replace('|', "\n- ")))
            .await;
    }
    memory.redact("2").await.is(200);
    // As it was exported before all records had lines.
    let mut file = super::sealed::File::of(&export(&service.database_url(), &["--vault", "acme"]));
    file.0.retain(|line| {
        line.get("record")
            .is_none_or(|line| line["number"] == 3 || line["number"] == 4)
    });
    let copy = Service::start().await;
    super::program::import(&copy.database_url(), &[], &file.sealed());
    assert_eq!(records(&copy, "agent").await, records(&service, "agent").await);
}

#[tokio::test]
async fn handoffs_are_exported_and_imported() {
    let service = filled().await;
    let agent = service.memory("agent");
    agent.post("handoff/refresh", json!({})).await.is(201);
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let other = Database::create().await;
    imports(&other.url(), &[], &file, [3, 0, 0, 0]);
    assert_eq!(export(&other.url(), &["--vault", "acme"]), file);
    let copy = Service::start().await;
    super::program::import(&copy.database_url(), &[], &file);
    let copied = copy.memory("agent").get_json("handoff").await.is(200).json();
    has(&copied, json!({"markdown~": "# Handoff"}));
    let handoff = agent.get_json("handoff").await.is(200).json();
    assert_eq!(copied["markdown"], handoff["markdown"]);
}

#[tokio::test]
async fn an_imported_memory_continues_like_the_original() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme", "--memory", "agent"]);
    let copy = Service::start().await;
    copy.clock.advance(std::time::Duration::from_secs(3600));
    super::program::import(&copy.database_url(), &[], &file);
    let add = "KEY_LEARNINGS:\n  ADD:\n    - because it is new: a third thing\n";
    let (there, here) = (service.memory("agent"), copy.memory("agent"));
    let (there, here) = (there.applied(add).await, here.applied(add).await);
    assert_eq!(there["operations"][0]["id"], here["operations"][0]["id"]);
    assert_eq!(there["version"], here["version"]);
    let count = async |service: &Service| records(service, "agent").await.as_array().unwrap().len();
    assert_eq!(count(&service).await, count(&copy).await);
}

#[tokio::test]
async fn one_memory_is_imported_into_another_vault() {
    let service = filled().await;
    let url = service.database_url();
    let file = export(&url, &["--vault", "acme", "--memory", "plain"]);
    let output = super::program::import(&url, &["--into-vault", "copy"], &file);
    assert!(output.status.success(), "{}", stderr(&output));
    let copied = "GET /v1/vaults/copy/memories/plain/context → 200 =only this";
    service.requests(copied).await;
    assert_eq!(export(&url, &["--vault", "copy"]), file.replace("acme", "copy"));
}

#[tokio::test]
async fn a_file_is_created_only_when_it_is_complete() {
    let service = filled().await;
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path(), "backup.jsonl");
    let url = service.database_url();
    assert_eq!(export(&url, &["--vault", "acme", "--output", &file]), "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, export(&url, &["--vault", "acme"]));
    let missing = [
        "export", "--vault", "acme", "--memory", "nobody", "--output", &file,
    ];
    let output = program(&url, &missing).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    holds(stderr(&output), &["the vault acme has no memory nobody"]);
    // The old file stays, and nothing unfinished is left.
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let other = Database::create().await;
    imports(&other.url(), &[&file], "", [3, 0, 0, 0]);
    // Nobody reads what it says.
    let (_, closed) = std::io::pipe().unwrap();
    let again = program(&other.url(), &["import", &file])
        .stderr(closed)
        .status()
        .unwrap();
    assert!(again.success(), "{again}");
}

#[tokio::test]
async fn a_missing_vault_or_memory_is_an_error() {
    let database = Database::create().await;
    let mut export = program(&database.url(), &["export", "--vault", "nobody"]);
    let output = export.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    holds(stderr(&output), &["the vault nobody has no memories"]);
    let missing = "/no/such/file";
    refuses_with(2, &database.url(), (&[missing], ""), "cannot open /no/such/file");
}
