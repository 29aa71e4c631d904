//! Memories with prompt items and no document: every route gives the same answer on whether they exist.

use crate::harness::{Service, each};
use serde_json::{Value, json};
use std::time::Duration;

/// Neither the memory itself nor a list contains it.
const NOWHERE: &str = r#"
    GET . → 404 not-found
    GET /v1/vaults/acme/memories?sort=memory_id → 200 {"items": []}
    GET /v1/vaults/acme/memories?sort=changed_at → 200 {"items": []}
    GET /v1/vaults/acme/memories?sort=bytes → 200 {"items": []}
    GET /v1/vaults → 200 {"items": []}
    DELETE . → 404 not-found"#;

/// It is the only memory.
const ALONE: &str = r#"
    GET /v1/vaults/acme/memories?sort=memory_id&limit=1 → 200 {"/items/*/memory_id": ["$memory"], "next_cursor": null}
    GET /v1/vaults/acme/memories?sort=changed_at&limit=1 → 200 {"/items/*/memory_id": ["$memory"], "next_cursor": null}
    GET /v1/vaults/acme/memories?sort=bytes&limit=1 → 200 {"/items/*/memory_id": ["$memory"], "next_cursor": null}
    GET /v1/vaults → 200 {"/items/*/memories": [1]}"#;

#[tokio::test]
async fn a_memory_of_items_exists_like_any_other_until_its_last_item_is_deleted_or_expires() {
    let service = Service::start().await;
    // A vault that has items of its own and no memory is not listed. Expired items are not reported, purged or not: the deletion
    // that finds no memory removes the rows, and sends no event.
    let table = r#"
        § it is read, listed, counted and deleted like any other
        PUT /v1/vaults/acme/items/x < [{"content": "x"}] → 200
        NOWHERE
        PUT /v1/vaults/acme/items/x < [] → 200
        POST items | X-Actor-Id: tools < {"content": "1", "category": "a"} → 201
        +1
        PUT items/b | X-Actor-Id: second < [{"content": "2"}] → 200
        GET /v1/vaults/acme/memories → 200 {"items": [{"vault_id": "acme", "memory_id": "$memory", "version": 0, "context_id": null, "bytes": 0, "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:00:01Z", "last_actor_id": "second", "last_source": null}]} ⇒ all=/items
        GET /v1/vaults/acme/memories?prefix=st → 200 {"items": $all}
        GET /v1/vaults/acme/memories?sort=changed_at → 200 {"items": $all}
        GET /v1/vaults/acme/memories?sort=bytes&prefix=$memory → 200 {"items": $all}
        GET /v1/vaults/acme/memories?prefix=b → 200 {"items": []}
        GET /v1/vaults/other/memories → 200 {"items": []}
        GET /v1/vaults → 200 {"items": [{"vault_id": "acme", "memories": 1, "changed_at": "2026-11-21T02:00:01Z"}]}
        GET . → 200 {"vault_id": "acme", "memory_id": "$memory", "version": 0, "context_id": null, "bytes": 0, "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:00:01Z", "last_actor_id": "second", "last_source": null}
        GET . → 200 {"counters": NONE, "records": {"active": NONE, "archived": NONE}, "bytes_limit": 102400, "open_proposals": 0}
        GET context → 404 not-found
        GET contexts → 404 not-found
        GET log → 404 not-found
        GET records → 404 not-found
        GET sections → 404 not-found
        GET window → 404 not-found
        DELETE . → 204
        NOWHERE
        ROWS prompt_items 0
        ROWS memories 0
        § its first document is version 1
        POST items < {"content": "1", "category": "a"} → 201
        +1
        PUT context | If-None-Match: * < text → 201 ⇒ id=/context_id
        GET . → 200 {"version": 1, "context_id": "$id", "created_at": "2026-11-21T02:00:01Z", "last_source": "put"}
        ALONE
        DELETE . → 204
        NOWHERE
        ROWS prompt_items 0
        § it is deleted with its last item
        POST items < {"content": "1", "category": "a"} → 201
        POST items < {"content": "2", "category": "b"} → 201
        DELETE items?category=a → 200
        GET . → 200
        PUT items/b < [] → 200
        NOWHERE
        § preconditions refer to the missing document
        POST items < {"content": "1", "category": "a"} → 201
        DELETE . | If-Match: * → 412 precondition-failed
        DELETE . | If-Match: "x" → 412 precondition-failed
        GET . → 200
        DELETE . | If-None-Match: * → 204
        NOWHERE
        § it ends when its items expire
        POST items < {"content": "1", "category": "a", "expires_at": "2026-11-21T02:00:02Z"} → 201
        POST /v1/vaults/acme/memories/other/items < {"content": "1", "category": "a", "expires_at": "2026-11-21T02:00:02Z"} → 201
        +1
        POST items < {"content": "2", "category": "a", "expires_at": "2026-11-21T02:00:03Z"} → 201
        GET . → 200 {"created_at": "2026-11-21T02:00:00Z"}
        +1
        GET . → 200 {"created_at": "2026-11-21T02:00:01Z"}
        ALONE
        +1
        ROWS events 2
        NOWHERE
        ROWS events 2
        ROWS prompt_items 0"#;
    let table = table.replace("NOWHERE", NOWHERE).replace("ALONE", ALONE);
    service
        .requests(&table.replace("NONE", r#"{"KL": 0, "VC": 0, "T": 0, "D": 0}"#))
        .await;
    assert_eq!(service.storage().purge_items(500).await.unwrap(), 1);
    service.memory("other").requests(NOWHERE).await;
}

#[tokio::test]
async fn pages_in_every_order_contain_both_kinds_once() {
    let service = Service::start().await;
    // Every third has a document, every third items, every third both; some have the same time.
    for number in 0..12 {
        let memory = service.memory(&format!("m{:02}", (number * 5) % 12));
        if number % 3 != 1 {
            memory.write("x".repeat(1 + number % 4)).await;
        }
        if number % 3 != 0 {
            let item = json!({"content": "1", "category": "a"});
            memory.post("items", item).await.is(201);
        }
        if number % 2 == 0 {
            service.clock.advance(Duration::from_secs(1));
        }
    }
    // Neither the vault's own items nor another vault's memories are in the list.
    let table = r#"
        PUT /v1/vaults/acme/items/a < [{"content": "x"}] → 200
        PUT /v1/vaults/other/memories/m03x/items/a < [{"content": "x"}] → 200
        GET /v1/vaults → 200 {"/items/*/vault_id": ["acme", "other"], "/items/*/memories": [12, 1]}
        GET /v1/vaults/acme/memories?prefix=m1 → 200 {"/items/*/memory_id": ["m10", "m11"]}"#;
    service.requests(table).await;
    let pages = async |limit: usize, query: &str| {
        let path = format!("/v1/vaults/acme/memories?limit={limit}{query}");
        service.pages(&path).await
    };
    let all = pages(500, "").await;
    let names: Vec<String> = (0..12).map(|number| format!("m{number:02}")).collect();
    assert_eq!(each(&json!(all), "memory_id"), names);
    let place = |entry: &Value, key: &str| {
        (
            entry[key].as_str().map(str::to_owned),
            entry[key].as_i64(),
            entry["memory_id"].to_string(),
        )
    };
    for sort in ["memory_id", "changed_at", "bytes"] {
        let mut expected = all.clone();
        if sort != "memory_id" {
            expected.sort_by_key(|entry| std::cmp::Reverse(place(entry, sort)));
        }
        for limit in [1, 2, 500] {
            let found = pages(limit, &format!("&sort={sort}")).await;
            assert_eq!(found, expected, "{sort} by {limit}");
            let found = pages(limit, &format!("&sort={sort}&prefix=m1")).await;
            assert_eq!(found.len(), 2, "{sort} by {limit}");
        }
    }
}
