//! Prompt items in a file, of a memory and of the vault.

use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::{Value, json};
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

async fn import(service: &Service, file: &[u8]) -> Result<Imported, String> {
    let options = ImportOptions {
        into_vault: None,
        on_conflict: OnConflict::Fail,
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

async fn put(service: &Service, path: &str, items: Value) {
    Answer::to(service.request(Method::PUT, path).json(&items))
        .await
        .is(200);
}

#[tokio::test]
async fn items_travel_with_their_memory_and_their_vault() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put("# Facts\nf\n").await.is(201);
    let items = json!([{"content": "x", "metadata": {"a": 1}}, {"content": "y", "expires_at": "2026-12-01T00:00:00Z"}]);
    put(&service, &memory.path("items/rules"), items).await;
    put(
        &service,
        "/v1/vaults/acme/items/style",
        json!([{"content": "Short."}]),
    )
    .await;
    let file = export(&service).await;

    let other = Service::start().await;
    assert_eq!(import(&other, &file).await.unwrap().created, 1);
    assert_eq!(export(&other).await, file);
    assert_eq!(import(&other, &file).await.unwrap().unchanged, 1);
    assert_eq!(export(&other).await, file);
    let copy = other.memory("agent");
    assert_eq!(copy.get("items").await.json(), memory.get("items").await.json());
    assert_eq!(copy.get("prompt").await.text(), memory.get("prompt").await.text());
}

#[tokio::test]
async fn items_that_were_changed_or_are_none_are_refused() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put("# Facts\nf\n").await.is(201);
    put(
        &service,
        &memory.path("items/style"),
        json!([{"content": "as it was"}]),
    )
    .await;
    let file = String::from_utf8(export(&service).await).unwrap();
    for (from, to, said) in [
        ("as it was", "as it is", "not those that were exported"),
        ("\"style\"", "\"a,b\"", "category"),
        ("as it was", "  ", "content"),
        ("as it was", "a\\u0000", "content"),
        ("\"metadata\":{}", "\"metadata\":[]", "metadata"),
    ] {
        let other = Service::start().await;
        let error = import(&other, file.replace(from, to).as_bytes())
            .await
            .unwrap_err();
        assert!(error.contains(said), "{to}: {error}");
        assert_eq!(other.count("prompt_items").await, 0);
    }
}
