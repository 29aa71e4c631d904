//! `GET /v1/vaults/{vault_id}/memories`

use crate::harness::Service;
use serde_json::{Value, json};

/// The ids of all pages.
async fn ids(service: &Service, query: &str) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/vaults/acme/memories?limit=2{query}{cursor}");
        let page = service.get(&path).await.is(200).json();
        let items = page["items"].as_array().unwrap();
        ids.extend(
            items
                .iter()
                .map(|item| item["memory_id"].as_str().unwrap().to_owned()),
        );
        match &page["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return ids,
        }
    }
}

#[tokio::test]
async fn memories_are_listed_in_pages_in_byte_order() {
    let service = Service::start().await;
    for id in ["b", "B", "a-1", "a.1", "a", "a_1", "1"] {
        service.memory(id).put(format!("text of {id}")).await.is(201);
    }
    let put = service.memory("B").put("more").await.is(201).json();

    let all = ids(&service, "").await;

    assert_eq!(all, ["1", "B", "a", "a-1", "a.1", "a_1", "b"]);
    assert_eq!(ids(&service, "&prefix=a").await, ["a", "a-1", "a.1", "a_1"]);
    assert_eq!(ids(&service, "&prefix=a_").await, ["a_1"]);
    assert_eq!(ids(&service, "&prefix=z").await, [""; 0]);
    let one = service
        .get("/v1/vaults/acme/memories?prefix=B")
        .await
        .is(200)
        .json();
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
async fn a_cursor_is_rejected_for_another_vault_or_filter() {
    let service = Service::start().await;
    for id in ["a", "b", "c"] {
        service.memory(id).put("x").await.is(201);
    }
    let page = service
        .get("/v1/vaults/acme/memories?limit=1")
        .await
        .is(200)
        .json();
    let cursor = page["next_cursor"].as_str().unwrap();

    let empty = service.get("/v1/vaults/other/memories").await.is(200).json();
    assert_eq!(empty, json!({"items": [], "next_cursor": null}));
    for path in [
        format!("/v1/vaults/other/memories?cursor={cursor}"),
        format!("/v1/vaults/acme/memories?prefix=a&cursor={cursor}"),
    ] {
        service.get(&path).await.problem(400, "malformed", Some("cursor"));
    }
    for bad in ["prefix=", "prefix=%25", "prefix=a&prefix=b", "prefix=~"] {
        let path = format!("/v1/vaults/acme/memories?{bad}");
        service.get(&path).await.problem(422, "invalid", Some("prefix"));
    }
    service
        .get("/v1/vaults/.x/memories")
        .await
        .problem(422, "invalid", Some("vault_id"));
}
