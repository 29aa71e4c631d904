//! Files in an exported vault, and the previous schema.

use super::Files;
use crate::harness::{Service, has, holds};
use crate::transfer::program::{copied, exported, imported};
use serde_json::json;
use working_memory::storage::transfer::OnConflict;

#[tokio::test]
async fn files_are_exported_with_their_paths_empty_ones_too() {
    let (service, files) = Files::start("agent").await;
    files.create("/memories/empty", "").await;
    let moved = files.create("/memories/d/a", "one\n").await;
    files
        .told(json!({"command": "insert", "path": "/memories/d/a", "insert_line": 1, "insert_text": "two"}))
        .await;
    files.create("/memories/gone", "still a memory").await;
    files
        .told(json!({"command": "delete", "path": "/memories/gone"}))
        .await;
    service.memory("plain").write("no file").await;

    let there = Files::of(&copied(&service, 4).await, "agent");
    assert_eq!(there.view("/memories").await, files.view("/memories").await);
    let view = there
        .run(json!({"command": "view", "path": "/memories/d/a"}))
        .await;
    has(&view, json!({"memory_id": moved, "version": 2}));
}

#[tokio::test]
async fn an_existing_file_at_the_path_stays() {
    let service = Service::start().await;
    Files::of(&service, "agent")
        .create("/memories/a/b", "theirs")
        .await;
    let file = exported(service.storage(), "acme").await;

    let other = Service::start().await;
    let files = Files::of(&other, "agent");
    files.create("/memories/a", "ours").await;
    let refused = imported(other.storage(), &file, None, OnConflict::Fail).await;
    holds(refused.unwrap_err(), &["/memories/a/b"]);
    assert_eq!(other.count("memories").await, 1);
    let done = imported(other.storage(), &file, None, OnConflict::Skip).await;
    assert_eq!(done.unwrap().created, 1);
    assert!(files.view("/memories/a").await.ends_with("\tours"));
    assert_eq!(other.count("memories").await, 2);
}

#[tokio::test]
async fn invalid_paths_are_rejected() {
    let service = Service::start().await;
    Files::of(&service, "agent").create("/memories/name", "x").await;
    let file = String::from_utf8(exported(service.storage(), "acme").await).unwrap();
    let other = Service::start().await;
    for (to, said) in [
        ("/memories/../etc", "would escape"),
        ("/etc", "must start with /memories"),
        ("/memories/a\\u0000", "expected a context"),
    ] {
        let changed = file.replace("/memories/name", to);
        assert_ne!(changed, file);
        let refused = imported(other.storage(), changed.as_bytes(), None, OnConflict::Skip).await;
        holds(refused.unwrap_err(), &[said]);
        assert_eq!(other.count("memories").await, 0);
    }
}
