//! Imports of memories that exist already.

use super::program::{export, import, imports, program, refuses, stderr};
use super::sealed::File;
use crate::harness::{Database, Memory, Service, has, holds};
use serde_json::json;

const DONE: [u64; 4] = [0, 0, 1, 0];

/// A service with the memory `agent`, whose versions are these texts.
async fn with_versions(texts: &[&str]) -> Service {
    let service = Service::start().await;
    put(&service, texts).await;
    service
}

async fn put(service: &Service, texts: &[&str]) {
    for text in texts {
        service.memory("agent").write(*text).await;
    }
}

fn exported(service: &Service) -> String {
    export(&service.database_url(), &["--vault", "acme"])
}

/// The same with other ids: those of test clocks start alike, and those of services do not.
fn foreign(service: &Service) -> String {
    File::of(&exported(service).replace("-7000-8000-", "-7000-9000-")).sealed()
}

#[track_caller]
fn import_into(service: &Service, policy: &str, file: &str, counts: [u64; 4]) {
    imports(&service.database_url(), &["--on-conflict", policy], file, counts);
}

/// Texts of all versions, the oldest first.
async fn texts(service: &Service) -> Vec<String> {
    service
        .values("SELECT context FROM memory_contexts WHERE memory_id = 'agent' ORDER BY version")
        .await
}

#[tokio::test]
async fn another_memory_of_the_same_name_stops_the_import_and_is_unchanged() {
    let (source, target) = (with_versions(&["a", "b"]).await, Service::start().await);
    target.memory("agent").write("mine").await;
    let said = "line 2: the memory agent of the vault acme exists already";
    refuses(&target.database_url(), &[], &exported(&source), said);
    assert_eq!(texts(&target).await, ["mine"]);
}

#[tokio::test]
async fn an_older_schema_is_not_exported_and_what_to_do_is_said() {
    let database = Database::create().await;
    let run = |arguments: &[&str]| program(&database.url(), arguments).output().unwrap();
    let output = run(&["migrate", "--down-to", "99"]);
    assert_eq!(output.status.code(), Some(1));
    holds(
        stderr(&output),
        &["is at migration 5, below the one that is to stay"],
    );
    assert!(run(&["migrate", "--down-to", "3"]).status.success());
    let output = run(&["export", "--vault", "acme"]);
    assert_eq!(output.status.code(), Some(1));
    holds(
        stderr(&output),
        &["is older than this program: run `working-memory migrate`"],
    );
}

#[tokio::test]
async fn skipped_memories_are_unchanged() {
    let source = with_versions(&["a", "b"]).await;
    let target = with_versions(&["x", "mine"]).await;
    import_into(&target, "skip", &foreign(&source), [0, 0, 0, 1]);
    assert_eq!(texts(&target).await, ["x", "mine"]);
}

#[tokio::test]
async fn a_repeated_import_finds_everything_imported_also_after_further_writes() {
    let source = with_versions(&["a", "b"]).await;
    let file = exported(&source);
    import_into(&source, "fail", &file, DONE);
    put(&source, &["c"]).await;
    import_into(&source, "fail", &file, DONE);
    import_into(&source, "append", &file, DONE);
    assert_eq!(texts(&source).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn memories_before_an_invalid_line_are_imported_and_the_rest_with_the_next_run() {
    let source = super::program::filled().await;
    let file = exported(&source);
    let target = Database::create().await;
    let cut = file.rfind("{\"context\"").unwrap() + 30;
    let output = import(&target.url(), &[], &file[..cut]);
    assert_eq!(output.status.code(), Some(1));
    holds(stderr(&output), &["the file is cut off", "memories: 2 new"]);
    imports(&target.url(), &[], &file, [1, 0, 2, 0]);
    assert_eq!(export(&target.url(), &["--vault", "acme"]), file);
}

#[tokio::test]
async fn append_adds_unknown_versions_after_the_head_once() {
    let source = with_versions(&["same", "a\n\n# Key Learnings\n- KL-7 theirs\n", "b"]).await;
    let target = with_versions(&["mine\n\n# Key Learnings\n- KL-1 mine\n", "same"]).await;
    let file = foreign(&source);
    import_into(&target, "append", &file, [0, 1, 0, 0]);
    let after = texts(&target).await;
    assert_eq!(after[1..], ["same", "a\n\n# Key Learnings\n- KL-7 theirs\n", "b"]);

    let memory = target.memory("agent");
    // Ids come along.
    let id = File::of(&file).0[4]["context"]["context_id"].clone();
    let newest = json!({"version": 4, "source": "import", "context_id": id});
    has(&memory.read("contexts").await["items"][0], newest);
    let archived = memory.read("records/KL-7").await;
    has(&archived, json!({"created_version": 3, "ended_version": 4}));

    // A second import adds nothing, though the first version was skipped as equal to the head.
    import_into(&target, "append", &file, [0, 0, 1, 0]);
    assert_eq!(texts(&target).await, after);
    let added = memory.learns("new: one more").await;
    assert_eq!(added["operations"][0]["id"], "KL-8", "the file's ids are used up");
}

#[tokio::test]
async fn append_of_a_newer_export_adds_only_newer_versions() {
    let source = with_versions(&["same", "a"]).await;
    let target = with_versions(&["same"]).await;
    import_into(&target, "append", &foreign(&source), [0, 1, 0, 0]);
    put(&source, &["b"]).await;
    import_into(&target, "append", &foreign(&source), [0, 1, 0, 0]);
    assert_eq!(texts(&target).await, ["same", "a", "b"]);
}

#[tokio::test]
async fn append_between_two_copies_loses_what_was_written_to_neither() {
    let service = with_versions(&["both"]).await;
    let (url, copy) = (service.database_url(), Memory::new(&service, "copy", "agent"));
    let across = |from: &str, to: &str, policy: &str, counts: [u64; 4]| {
        let file = export(&url, &["--vault", from]);
        imports(
            &url,
            &["--into-vault", to, "--on-conflict", policy],
            &file,
            counts,
        );
    };
    across("acme", "copy", "fail", [1, 0, 0, 0]);
    copy.write("only in the copy").await;
    put(&service, &["only in the first"]).await;
    across("acme", "copy", "append", [0, 1, 0, 0]);
    across("copy", "acme", "append", [0, 1, 0, 0]);
    copy.write("later").await;
    for counts in [[0, 1, 0, 0], [0, 0, 1, 0]] {
        across("copy", "acme", "append", counts);
    }
    let of = "SELECT context FROM memory_contexts WHERE vault_id = 'acme' ORDER BY version";
    let texts = service.values::<String>(of).await;
    assert_eq!(texts, ["both", "only in the first", "only in the copy", "later"]);
}

#[tokio::test]
async fn appended_versions_are_announced_and_have_the_lines_that_they_brought_in() {
    let source = with_versions(&["new\nold\n", "new\nold\nlast\n"]).await;
    let target = with_versions(&["old\n"]).await;
    let file = foreign(&source);
    import_into(&target, "append", &file, [0, 1, 0, 0]);
    let blame = target.memory("agent").read("blame").await;
    let lines = blame["lines"].as_array().unwrap().iter();
    assert_eq!(lines.map(|line| &line["version"]).collect::<Vec<_>>(), [2, 1, 3]);
    let told = "SELECT version::text FROM events WHERE kind = 'version' ORDER BY insert_order";
    assert_eq!(target.values::<String>(told).await, ["1", "2", "3"]);
}
