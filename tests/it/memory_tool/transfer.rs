//! Files in an exported vault, and the previous schema.

use super::Files;
use crate::harness::Service;
use serde_json::json;
use working_memory::domain::ids::VaultId;
use working_memory::storage::transfer::{ImportOptions, Imported, OnConflict};

async fn export(service: &Service) -> Vec<u8> {
    let vault: VaultId = "acme".parse().unwrap();
    let mut file = Vec::new();
    service
        .storage()
        .export_vault(&vault, None, &mut file, &mut |_| {})
        .await
        .unwrap();
    file
}

async fn import(service: &Service, file: &[u8], on_conflict: OnConflict) -> Result<Imported, String> {
    let options = ImportOptions {
        into_vault: None,
        on_conflict,
        max_line_bytes: 1 << 20,
        max_document_bytes: 1 << 20,
    };
    let mut done = Imported::default();
    service
        .storage()
        .import_vault(file, &options, &mut done, &mut |_| {})
        .await
        .map_err(|error| error.to_string())?;
    Ok(done)
}

#[tokio::test]
async fn files_are_exported_with_their_paths_empty_ones_too() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    files.create("/memories/empty", "").await;
    let moved = files.create("/memories/d/a", "one\n").await;
    files
        .told(json!({"command": "insert", "path": "/memories/d/a", "insert_line": 1, "insert_text": "two"}))
        .await;
    files.create("/memories/gone", "still a memory").await;
    files
        .told(json!({"command": "delete", "path": "/memories/gone"}))
        .await;
    service.memory("plain").put("no file").await.is(201);
    let file = export(&service).await;

    let other = Service::start().await;
    assert_eq!(import(&other, &file, OnConflict::Fail).await.unwrap().created, 4);
    assert_eq!(export(&other).await, file);
    let there = Files::of(&other, "agent");
    assert_eq!(there.view("/memories").await, files.view("/memories").await);
    let view = there
        .run(json!({"command": "view", "path": "/memories/d/a"}))
        .await;
    assert_eq!((&view["memory_id"], &view["version"]), (&json!(moved), &json!(2)));
    assert_eq!(
        import(&other, &file, OnConflict::Fail).await.unwrap().unchanged,
        4
    );
}

#[tokio::test]
async fn an_existing_file_at_the_path_stays() {
    let service = Service::start().await;
    Files::of(&service, "agent")
        .create("/memories/a/b", "theirs")
        .await;
    let file = export(&service).await;

    let other = Service::start().await;
    let files = Files::of(&other, "agent");
    files.create("/memories/a", "ours").await;
    let refused = import(&other, &file, OnConflict::Fail).await.unwrap_err();
    assert!(refused.contains("/memories/a/b"), "{refused}");
    assert_eq!(other.count("memories").await, 1);
    assert_eq!(import(&other, &file, OnConflict::Skip).await.unwrap().created, 1);
    assert!(files.view("/memories/a").await.ends_with("\tours"));
    assert_eq!(other.count("memories").await, 2);
}

#[tokio::test]
async fn invalid_paths_are_rejected() {
    let service = Service::start().await;
    Files::of(&service, "agent").create("/memories/name", "x").await;
    let file = String::from_utf8(export(&service).await).unwrap();
    for (to, said) in [
        ("/memories/../etc", "would escape"),
        ("/memories/", "path"),
        ("/memories", "path"),
        ("/memories/cafe\u{301}", "spelling"),
        ("/memories/a\\u0000", "path"),
    ] {
        let other = Service::start().await;
        let changed = file.replace("/memories/name", to);
        assert_ne!(changed, file);
        let error = import(&other, changed.as_bytes(), OnConflict::Skip)
            .await
            .unwrap_err();
        assert!(error.contains(said), "{to}: {error}");
        assert_eq!(other.count("memories").await, 0);
    }
}
