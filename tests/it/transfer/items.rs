//! Prompt items of a memory and of the vault in an export.

use super::program::{copied, exported, imported, refuses};
use super::sealed::File;
use crate::harness::Service;
use serde_json::{Value, json};
use working_memory::storage::transfer::OnConflict;

async fn put(service: &Service, path: &str, items: Value) {
    service.put_json(path, &items).await.is(200);
}

#[tokio::test]
async fn items_are_exported_with_their_memory_and_their_vault() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Facts\nf\n").await;
    let items = json!([{"content": "x", "metadata": {"a": 1}}, {"content": "y", "expires_at": "2026-12-01T00:00:00Z"}]);
    put(&service, &memory.path("items/rules"), items).await;
    let of_vault = json!([{"content": "Short."}]);
    put(&service, "/v1/vaults/acme/items/style", of_vault).await;

    let copy = copied(&service, 1).await.memory("agent");
    assert_eq!(copy.get("items").await.json(), memory.get("items").await.json());
    assert_eq!(copy.get("prompt").await.text(), memory.get("prompt").await.text());
}

#[tokio::test]
async fn a_vault_of_its_own_items_alone_is_exported_too() {
    let service = Service::start().await;
    let of_vault = json!([{"content": "Short."}]);
    put(&service, "/v1/vaults/acme/items/style", of_vault).await;
    let copy = copied(&service, 0).await;
    let items = "/v1/vaults/acme/items";
    assert_eq!(copy.read(items).await, service.read(items).await);
}

#[tokio::test]
async fn a_memory_of_items_alone_is_exported_too() {
    let service = Service::start().await;
    let (memory, written) = (service.memory("b-items"), service.memory("c-written"));
    written.write("text").await;
    put(&service, &written.path("items/style"), json!([{"content": "w"}])).await;
    for (path, content) in [("items/style", "one"), ("items/rules", "two")] {
        put(&service, &memory.path(path), json!([{"content": content}])).await;
        service.clock.advance(std::time::Duration::from_secs(1));
    }
    // Expired items are not exported.
    let expired = service.memory("a-gone");
    let expires = json!([{"content": "x", "expires_at": "2026-11-21T02:00:03Z"}]);
    put(&service, &expired.path("items/style"), expires.clone()).await;
    let mixed = service.memory("d-mixed");
    let stays = json!([{"content": "stays"}]);
    put(&service, &mixed.path("items/style"), stays).await;
    service.clock.advance(std::time::Duration::from_millis(500));
    put(&service, &mixed.path("items/late"), expires).await;
    service.clock.advance(std::time::Duration::from_secs(1));
    let file = exported(service.storage(), "acme").await;
    let other = copied(&service, 3).await;
    let about = async |service: &Service| service.read("/v1/vaults/acme/memories/b-items").await;
    assert_eq!(about(&other).await, about(&service).await);
    let copy = other.memory("b-items");
    assert_eq!(copy.get("items").await.json(), memory.get("items").await.json());
    let stored: Vec<String> = other.values("SELECT details ->> 'category' FROM events WHERE memory_id = 'b-items' AND kind = 'items' ORDER BY 1").await;
    assert_eq!(stored, ["rules", "style"]);

    // Items are no file, and nothing is no memory.
    let mut changed = File::of(&String::from_utf8(file.clone()).unwrap());
    let item = changed.first("item");
    changed.0[item + 1] = json!({"path": {"root": "agent", "path": "/memories/x"}});
    let url = other.database_url();
    let said = "path: a memory without a version is no file";
    refuses(
        &url,
        &["--into-vault", "v"],
        &File(changed.0.clone()).sealed(),
        said,
    );
    changed.0.drain(item..item + 2);
    let said = "the memory b-items has no context";
    refuses(&url, &["--into-vault", "v"], &changed.sealed(), said);

    // Other items of the same memory are not merged with these.
    let third = Service::start().await;
    third.clock.advance(std::time::Duration::from_secs(60));
    let own = third.memory("b-items");
    put(&third, &own.path("items/style"), json!([{"content": "own"}])).await;
    let before = own.get("items").await.json();
    let done = imported(third.storage(), &file, None, OnConflict::Fail).await;
    assert_eq!(done.unwrap().unchanged, 1);
    assert_eq!(own.get("items").await.json(), before);
}
