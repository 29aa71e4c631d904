//! `GET /v1/vaults/{vault_id}/memories`

use crate::harness::Service;
use serde_json::json;

/// The ids of all pages.
async fn ids(service: &Service, query: &str) -> Vec<String> {
    let path = format!("/v1/vaults/acme/memories?limit=2{query}");
    let pages = service.pages(&path).await;
    let ids = pages
        .iter()
        .map(|item| item["memory_id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[tokio::test]
async fn memories_are_listed_in_pages_in_byte_order() {
    let service = Service::start().await;
    for id in ["b", "B", "a-1", "a.1", "a", "a_1", "1"] {
        service.memory(id).write(format!("text of {id}")).await;
    }
    let put = service.memory("B").write("more").await;

    let all = ids(&service, "").await;

    assert_eq!(all, ["1", "B", "a", "a-1", "a.1", "a_1", "b"]);
    assert_eq!(ids(&service, "&prefix=a").await, ["a", "a-1", "a.1", "a_1"]);
    assert_eq!(ids(&service, "&prefix=a_").await, ["a_1"]);
    assert_eq!(ids(&service, "&prefix=z").await, [""; 0]);
    let one = service.read("/v1/vaults/acme/memories?prefix=B").await;
    assert_eq!(
        one["items"],
        json!([{
            "vault_id": "acme", "memory_id": "B", "version": 2, "context_id": put["context_id"], "bytes": 4,
            "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:00:00Z",
            "last_actor_id": "anonymous", "last_source": "put",
        }])
    );
}

#[tokio::test]
async fn an_unknown_vault_has_no_memories_and_a_bad_prefix_is_named() {
    let service = Service::start().await;
    let table = r#"
        GET /v1/vaults/other/memories → 200 ={"items":[],"next_cursor":null}
        GET /v1/vaults/acme/memories?prefix= → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=%25 → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=a&prefix=b → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=~ → 422 invalid prefix
        GET /v1/vaults/acme/memories?sort=colour → 422 invalid sort"#;
    service.requests(table).await;
}
