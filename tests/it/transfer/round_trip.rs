//! Exports that are imported and exported again.

use super::program::{export, filled, imports, path, program, refuses, stderr};
use crate::harness::{Database, Service, scripted};
use serde_json::{Value, json};
use working_memory::clock::Clock;
use working_memory::domain::operation::Role;
use working_memory::domain::retention::Retention;
use working_memory::llm::scripted::Step;

#[tokio::test]
async fn an_exported_vault_is_imported_byte_for_byte() {
    let service = filled().await;
    let other = Database::create().await;
    let first = export(&service.database_url(), &["--vault", "acme"]);
    imports(
        &other,
        &[],
        &first,
        "memories: 3 new, 0 appended to, 0 unchanged, 0 skipped",
    );
    assert_eq!(export(&other.url(), &["--vault", "acme"]), first);
}

#[tokio::test]
async fn the_evidence_of_a_record_is_exported_and_imported() {
    let models = scripted(|role| match role {
        Role::Learnings => {
            Step::answer("KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n")
        }
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    });
    let service = Service::with_models(models).await;
    let task = json!({"task": "Next time pin the tool chain."});
    service.memory("agent").update(task).await.is(200);
    let other = Database::create().await;
    let first = export(&service.database_url(), &["--vault", "acme"]);
    let evidence = first
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find_map(|line| line["context"]["operations"][0].get("evidence").cloned());
    assert_eq!(evidence.unwrap()[0]["quote"], "Next time pin the tool chain.");
    imports(
        &other,
        &[],
        &first,
        "memories: 1 new, 0 appended to, 0 unchanged, 0 skipped",
    );
    assert_eq!(export(&other.url(), &["--vault", "acme"]), first);
}

#[tokio::test]
async fn redacted_and_pruned_versions_are_imported_as_they_are() {
    let service = filled().await;
    let agent = service.memory("agent");
    agent.redact("2").await.is(200);
    let retention = Retention {
        max_versions: Some(3),
        max_age: None,
        keep_provenance: false,
    };
    let pruned = service.storage().prune_versions(&retention, service.clock.now());
    assert!(pruned.await.unwrap() > 0, "the first versions were to go");
    let first = export(&service.database_url(), &["--vault", "acme"]);
    let other = Database::create().await;
    imports(
        &other,
        &[],
        &first,
        "memories: 3 new, 0 appended to, 0 unchanged, 0 skipped",
    );
    assert_eq!(export(&other.url(), &["--vault", "acme"]), first);
    imports(
        &other,
        &["--on-conflict", "append"],
        &first,
        "memories: 0 new, 0 appended to, 3 unchanged, 0 skipped",
    );
}

#[tokio::test]
async fn the_file_has_a_header_and_every_row_in_order() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let lines: Vec<Value> = file
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["header"]["format"], "working-memory");
    assert_eq!(lines[0]["header"]["version"], 1);
    let count = |kind: &str| lines.iter().filter(|line| line.get(kind).is_some()).count() as i64;
    assert_eq!(count("memory"), service.count("memories").await);
    assert_eq!(count("context"), service.count("memory_contexts").await);
    assert_eq!(count("record"), service.count("records").await);
    assert_eq!(count("run"), service.count("updates").await);
    assert_eq!(lines.last().unwrap()["footer"]["memories"], 3);
    let memories: Vec<_> = lines
        .iter()
        .filter_map(|line| line["memory"]["memory_id"].as_str())
        .collect();
    assert_eq!(memories, ["Upper", "agent", "plain"], "by bytes, in any database");
    assert!(
        lines
            .iter()
            .any(|line| line["record"]["archive_reason"] == "it is over"
                || line["context"]["operations"][0]["op"].is_string())
    );
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
    let (there, here) = (
        there.apply(add).await.is(200).json(),
        here.apply(add).await.is(200).json(),
    );
    assert_eq!(there["operations"][0]["id"], here["operations"][0]["id"]);
    assert_eq!(there["version"], here["version"]);
    let both = "records?status=all&limit=500";
    assert_eq!(
        service.memory("agent").get(both).await.json()["items"]
            .as_array()
            .unwrap()
            .len(),
        copy.memory("agent").get(both).await.json()["items"]
            .as_array()
            .unwrap()
            .len()
    );
}

#[tokio::test]
async fn one_memory_is_imported_into_another_vault() {
    let service = filled().await;
    let url = service.database_url();
    let file = export(&url, &["--vault", "acme", "--memory", "plain"]);
    let output = super::program::import(&url, &["--into-vault", "copy"], &file);
    assert!(output.status.success(), "{}", stderr(&output));
    let copy = service
        .get("/v1/vaults/copy/memories/plain/context")
        .await
        .is(200);
    assert_eq!(copy.text(), "only this");
    assert_eq!(export(&url, &["--vault", "copy"]), file.replace("acme", "copy"));
}

#[tokio::test]
async fn a_file_is_created_only_when_it_is_complete() {
    let service = filled().await;
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path(), "backup.jsonl");
    assert_eq!(
        export(&service.database_url(), &["--vault", "acme", "--output", &file]),
        ""
    );
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, export(&service.database_url(), &["--vault", "acme"]));
    let missing = [
        "export", "--vault", "acme", "--memory", "nobody", "--output", &file,
    ];
    let output = program(&service.database_url(), &missing).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("the vault acme has no memory nobody"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        written,
        "the old file stays"
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing unfinished is left"
    );
    let other = Database::create().await;
    imports(
        &other,
        &[&file],
        "",
        "memories: 3 new, 0 appended to, 0 unchanged, 0 skipped",
    );
}

#[tokio::test]
async fn a_missing_vault_or_memory_is_an_error() {
    let database = Database::create().await;
    let output = program(&database.url(), &["export", "--vault", "nobody"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("the vault nobody has no memories"),
        "{}",
        stderr(&output)
    );
    refuses(
        &database.url(),
        &["/no/such/file"],
        "",
        "cannot open /no/such/file",
    );
}
