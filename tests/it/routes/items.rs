//! `…/items`, of memories and of vaults.

use crate::harness::{Service, each};
use futures::future::join_all;
use serde_json::{Value, json};

#[tokio::test]
async fn items_are_added_replaced_listed_and_removed_one_by_one_and_by_category_without_a_document() {
    let table = r#"
        § an item is added, read, listed and removed without a document
        GET items → 200 {"items": []}
        POST items | X-Actor-Id: tools < {"content": "Use ripgrep.", "category": "tool_guidance", "metadata": {"a": [1]}, "expires_at": "2026-11-21T04:00:00+01:00"} → 201 | location: /v1/vaults/acme/memories/$memory/items/$id ⇒ id=/item_id whole==
        GET /v1/vaults/acme/memories/$memory/items/$id → 200 =$whole
        GET items → 200 {"items": [{"item_id": "$id", "vault_id": "acme", "memory_id": "$memory", "category": "tool_guidance", "content": "Use ripgrep.", "metadata": {"a": [1]}, "expires_at": "2026-11-21T03:00:00Z", "created_at": "2026-11-21T02:00:00Z", "created_by": "tools"}]}
        DELETE items/$id → 204
        GET items/$id → 404 not-found item_id
        DELETE items/$id → 404 not-found item_id
        GET items → 200 {"items": []}
        ROWS memories 0
        § items are listed by category in the order they were added
        POST items < {"content": "1", "category": "b"} → 201
        POST items < {"content": "2", "category": "a"} → 201
        POST items < {"content": "3", "category": "b"} → 201
        POST items < {"content": "4", "category": "a"} → 201
        POST items < {"content": "5", "category": "b"} → 201
        GET items → 200 {"/items/*/content": ["2", "4", "1", "3", "5"]}
        GET items?category=b → 200 {"/items/*/content": ["1", "3", "5"]}
        GET items?category=none → 200 {"items": []}
        GET items?category=a%2Cb → 422 invalid category
        § with items
        POST items < {"content": "1", "category": "a"} → 201
        POST items < {"content": "2", "category": "a"} → 201
        POST items < {"content": "3", "category": "b"} → 201
        DELETE items?category=a → 200 ={"removed":2}
        DELETE items?category=a → 200 ={"removed":0}
        DELETE items → 422 invalid category
        GET items → 200 {"/items/*/content": ["3"]}
        § nobody
        DELETE items?category=a → 200 ={"removed":0}
        § putting a category replaces it at once, and the same again changes nothing
        PUT items/a < {"items": [{"content": "x", "metadata": {"n": 1.5}}, {"content": "y", "expires_at": "2026-11-22T00:00:00Z"}]} → 200 {"/items/*/content": ["x", "y"], "unchanged": false} ⇒ items=/items
        +60
        PUT items/a < {"items": [{"content": "x", "metadata": {"n": 1.5}}, {"content": "y", "expires_at": "2026-11-22T00:00:00Z"}]} → 200 {"items": $items, "unchanged": true}
        PUT items/a < [{"content": "y"}] → 200 {"/items/*/content": ["y"], "unchanged": false}
        PUT items/a < the only one\n → 200 {"/items/*/content": ["the only one\n"]} ⇒ one=/items
        GET items → 200 {"items": $one}
        PUT items/a < [] → 200 {"items": [], "unchanged": false}
        PUT items/a < [] → 200 {"unchanged": true}
        GET items → 200 {"items": []}
        § a leap second is stored as the second after it
        PUT items/a < [{"content": "x", "expires_at": "2030-12-31T23:59:60Z"}] → 200 {"/items/0/expires_at": "2031-01-01T00:00:00Z"} ⇒ items=/items
        PUT items/a < [{"content": "x", "expires_at": "2030-12-31T23:59:60Z"}] → 200 {"items": $items, "unchanged": true}
        § an invalid item is rejected, and its field named
        POST items < {"category": "a"} → 422 invalid content
        POST items < {"content": "x"} → 422 invalid category
        POST items < {"content": "", "category": "a"} → 422 invalid content
        POST items < {"content": " \u00a0\n", "category": "a"} → 422 invalid content
        POST items < {"content": "a\u0000", "category": "a"} → 422 invalid content
        POST items < {"content": "x", "category": ""} → 422 invalid category
        POST items < {"content": "x", "category": " "} → 422 invalid category
        POST items < {"content": "x", "category": "a,b"} → 422 invalid category
        POST items < {"content": "x", "category": "a\nb"} → 422 invalid category
        POST items < {"content": "x", "category": " a"} → 422 invalid category
        POST items < {"content": "x", "category": "a "} → 422 invalid category
        POST items < {"content": "x", "category": "a\u202eb"} → 422 invalid category
        POST items < {"content": "x", "category": "ru\u200bles"} → 422 invalid category
        POST items < {"content": "x", "category": "a\u0000"} → 422 invalid category
        POST items < {"content": "x", "category": "(ä×129)"} → 422 invalid category
        POST items < {"content": "x", "category": "key_learnings"} → 422 invalid category
        POST items < {"content": "x", "category": "Rules"} → 422 invalid category
        POST items < {"content": "x", "category": "a", "metadata": [1]} → 422 invalid metadata
        POST items < {"content": "x", "category": "a", "metadata": {"k": {"\u0000": 1}}} → 422 invalid metadata
        POST items < {"content": "x", "category": "a", "expires_at": "tomorrow"} → 422 invalid expires_at
        POST items < {"content": "x", "category": "a", "expires_at": "2036-11-21T02:00:00"} → 422 invalid expires_at expected a time as in
        POST items < {"content": "x", "category": "a", "expires_at": "2026-11-21T02:00:00Z"} → 422 invalid expires_at
        POST items < {"content": "x", "category": "a", "expires_at": "+10000-01-01T00:00:00Z"} → 422 invalid expires_at
        POST items < {"content": "x", "category": "a", "expires_at": "9999-12-31T23:59:60Z"} → 422 invalid expires_at
        POST items < {"content": "x", "category": "a", "item_id": "mine"} → 422 invalid item_id
        POST items < {"content": "x", "category": "a", "metadata": {"k": "(v×8192)"}} → 413 too-large metadata
        POST items < {"content": "(x×65537)", "category": "a"} → 413 too-large content
        PUT items/a < [{"content": "ok"}, {"content": ""}] → 422 invalid [1].content
        PUT items/a < {"items": [{"content": "\t"}]} → 422 invalid items[0].content
        PUT items/a < {"items": [{"content": "x", "category": "a"}]} → 422 invalid items[0].category
        PUT items/a | Content-Type: application/json < "text" → 422 invalid body
        PUT items/recent_tasks < [] → 422 invalid category
        PUT items/a%2Cb < [] → 422 invalid category
        PUT items/a | Content-Type: text/html < x → 415 unsupported-media-type
        PUT items/a < \t → 422 invalid content
        PATCH items/a → 405 method-not-allowed
        DELETE items/a%2Fb → 422 invalid item_id
        GET items → 200 {"items": []}
        § a category may contain spaces and letters of any script
        PUT items/User%20notes < [{"content": "notes"}] → 200
        POST items < {"content": "work", "category": "Überblick/作業"} → 201
        POST items < {"content": "long", "category": "(ä×128)"} → 201
        GET items?category=User+notes → 200 {"/items/*/content": ["notes"]}
        GET prompt?include=Überblick/作業 → 200 =work
        GET items?category=(%C3%A4×128) → 200 {"/items/*/content": ["long"]}
        GET prompt?include=(%C3%A4×128) → 200 =long
        GET items?limit=1 → 200 ⇒ cursor=/next_cursor
        GET items?limit=2&cursor=$cursor → 200 {"items#": 2}
        PUT items/User%20notes < [{"content": "new"}] → 200 {"/items/*/content": ["new"]}
        DELETE items?category=User%20notes → 200 ={"removed":1}
        § items of the vault are its own
        POST items < {"content": "mine", "category": "a"} → 201
        POST /v1/vaults/acme/items < {"content": "ours", "category": "a"} → 201 | location: /v1/vaults/acme/items/$id | {"memory_id": null} ⇒ id=/item_id
        GET /v1/vaults/acme/items/$id → 200
        DELETE . → 204
        DELETE . → 404 not-found
        ROWS prompt_items 0
        GET /v1/vaults/acme/items → 200 {"/items/*/content": ["ours"]} ⇒ old=/items/0/item_id
        PUT /v1/vaults/acme/items/a < [{"content": "new"}] → 200 {"/items/*/content": ["new"]}
        GET /v1/vaults/acme/items/$old → 404 not-found
        DELETE /v1/vaults/acme/items?category=a → 200 ={"removed":1}
        GET /v1/vaults/acme/items → 200 {"items": []}"#;
    Service::start().await.requests(table).await;
}

/// The database writes them without exponents, the largest as an integer of 309 digits.
#[tokio::test]
async fn every_double_keeps_its_value_in_metadata_and_outcomes_and_sent_again_changes_nothing() {
    let (_, memory) = Service::start().await.agent();
    let mut sent = vec![f64::MAX, f64::MIN, 5e-324, -1e16, 2e18, 4.3e115, 7.6e32];
    let random = std::iter::repeat_with(|| f64::from_bits(fastrand::u64(..)));
    sent.extend(random.filter(|number| number.is_finite()).take(300));
    let values = |list: &Value| -> Vec<f64> {
        let numbers = list.as_array().unwrap().iter();
        numbers.map(|number| number.as_f64().unwrap()).collect()
    };
    let items = json!([{"content": "x", "metadata": {"n": sent}}]);
    let first = memory.put_json("items/c", &items).await.is(200).json();
    assert_eq!(values(&first["items"][0]["metadata"]["n"]), sent);
    assert_eq!(memory.read("items").await["items"], first["items"]);
    let again = memory.put_json("items/c", &items).await.is(200).json();
    assert_eq!(again, json!({"items": first["items"], "unchanged": true}));

    let task = json!({"task_id": "t", "intent": "i", "summary": "s", "outcome": sent});
    memory.post("tasks", &task).await.is(201);
    let again = memory.post("tasks", &task).await.is(200).json();
    assert_eq!(again["unchanged"], true);
    assert_eq!(values(&memory.read("records/T-1").await["outcome"]), sent);
    memory.write("text").await;
    memory.redact("1").await.is(200);
}

#[tokio::test]
async fn concurrent_puts_of_a_category_leave_the_items_of_one_of_them() {
    let (_, memory) = Service::start().await.agent();
    let put = async |number: usize| {
        let two = json!([{"content": format!("{number} x")}, {"content": format!("{number} y")}]);
        memory.put_json("items/a", two).await.is(200)
    };
    join_all((0..8).map(put)).await;
    let list = memory.read("items").await;
    let left = each(&list["items"], "content");
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(left[0][..1], left[1][..1]);
}

#[tokio::test]
async fn items_are_limited_in_number_and_total_size() {
    let (service, memory) = Service::start().await.agent();
    let many: Vec<Value> = (0..499)
        .map(|number| json!({"content": number.to_string()}))
        .collect();
    memory.put_json("items/a", json!({"items": many})).await.is(200);
    let table = r#"
        POST items < {"content": "soon gone", "category": "b", "expires_at": "2026-11-21T03:00:00Z"} → 201
        POST items < {"content": "one more", "category": "b"} → 422 invalid items {"limit": 500}
        +3600
        POST items < {"content": "one more", "category": "b"} → 201
        POST items < {"content": "one more", "category": "b"} → 422 invalid items"#;
    memory.requests(table).await;
    let large = service.memory("large");
    for _ in 0..16 {
        large
            .requests(r#"POST items < {"content": "(x×65536)", "category": "c"} → 201"#)
            .await;
    }
    large
        .requests(r#"POST items < {"content": "y", "category": "c"} → 422 invalid items {"limit": 1048576}"#)
        .await;
}

#[tokio::test]
async fn expired_items_are_never_returned_and_are_purged() {
    let (service, memory) = Service::start().await.agent();
    let table = r#"
        POST items < {"content": "soon gone", "category": "a", "expires_at": "2026-11-21T02:00:01Z"} → 201 ⇒ id=/item_id
        +1
        GET items → 200 {"items": []}
        GET items/$id → 404 not-found
        GET prompt → 200 =
        DELETE items/$id → 404 not-found
        DELETE items?category=a → 200 ={"removed":0}
        POST items < {"content": "stays", "category": "a", "expires_at": "2026-11-21T02:00:03Z"} → 201
        POST items < {"content": "goes", "category": "a", "expires_at": "2026-11-21T02:00:02Z"} → 201
        +1"#;
    memory.requests(table).await;
    for purged in [1, 0] {
        assert_eq!(service.storage().purge_items(500).await.unwrap(), purged);
    }
    memory
        .requests(r#"GET items → 200 {"/items/*/content": ["stays"]}"#)
        .await;
}
