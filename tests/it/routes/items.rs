//! `…/items`, of memories and of vaults.

use crate::harness::{Answer, Memory, Service, each, has, rows};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

async fn add(memory: &Memory, body: Value) -> Answer {
    memory.post("items", &body).await
}

async fn put(memory: &Memory, category: &str, body: Value) -> Answer {
    memory.put_json(&format!("items/{category}"), &body).await
}

async fn delete(memory: &Memory, below: &str) -> Answer {
    memory.delete_at(below).await
}

fn contents(list: &Value) -> Vec<&str> {
    each(&list["items"], "content")
}

#[tokio::test]
async fn an_item_is_added_read_listed_and_removed_without_a_document() {
    let (service, memory) = Service::start().await.agent();
    assert_eq!(memory.read("items").await["items"], json!([]));

    let added = Answer::to(
        memory
            .request(Method::POST, "items")
            .header("X-Actor-Id", "tools")
            .json(
                &json!({"content": "Use ripgrep.", "category": "tool_guidance", "metadata": {"a": [1]},
                          "expires_at": "2026-11-21T04:00:00+01:00"}),
            ),
    )
    .await
    .is(201);
    let item = added.json();
    let path = added.header("location").to_owned();
    let id = item["item_id"].as_str().unwrap();
    assert_eq!(path, memory.path(&format!("items/{id}")));
    assert_eq!(
        item,
        json!({"item_id": id, "vault_id": "acme", "memory_id": "agent", "category": "tool_guidance",
               "content": "Use ripgrep.", "metadata": {"a": [1]}, "expires_at": "2026-11-21T03:00:00Z",
               "created_at": "2026-11-21T02:00:00Z", "created_by": "tools"})
    );

    assert_eq!(service.read(&path).await, item);
    assert_eq!(memory.read("items").await["items"], json!([item]));
    delete(&memory, &format!("items/{id}")).await.is(204);
    service.refuses(&path, 404, "not-found", Some("item_id")).await;
    delete(&memory, &format!("items/{id}"))
        .await
        .problem(404, "not-found", Some("item_id"));
    assert_eq!(memory.read("items").await["items"], json!([]));
    assert_eq!(service.count("memories WHERE head_version = 0").await, 0);
}

#[tokio::test]
async fn items_are_listed_by_category_in_the_order_they_were_added_page_by_page() {
    let (service, memory) = Service::start().await.agent();
    for (category, content) in [("b", "1"), ("a", "2"), ("b", "3"), ("a", "4"), ("b", "5")] {
        let item = json!({"content": content, "category": category});
        add(&memory, item).await.is(201);
    }
    assert_eq!(
        contents(&memory.get("items").await.json()),
        ["2", "4", "1", "3", "5"]
    );
    assert_eq!(
        contents(&memory.get("items?category=b").await.json()),
        ["1", "3", "5"]
    );
    assert!(contents(&memory.read("items?category=none").await).is_empty());
    let paged = json!(service.pages(&memory.path("items?limit=2")).await);
    assert_eq!(each(&paged, "content"), ["2", "4", "1", "3", "5"]);
    memory.get("items?category=a%2Cb").await.invalid("category");
}

#[tokio::test]
async fn a_category_is_removed_as_a_whole() {
    let (service, memory) = Service::start().await.agent();
    memory
        .requests(
            r#"
            POST items < {"content": "1", "category": "a"} → 201
            POST items < {"content": "2", "category": "a"} → 201
            POST items < {"content": "3", "category": "b"} → 201
            DELETE items?category=a → 200 ={"removed":2}
            DELETE items?category=a → 200 ={"removed":0}
            DELETE items → 422 invalid category"#,
        )
        .await;
    assert_eq!(contents(&memory.get("items").await.json()), ["3"]);
    let missing = service.memory("nobody");
    missing
        .requests(r#"DELETE items?category=a → 200 ={"removed":0}"#)
        .await;
}

#[tokio::test]
async fn putting_a_category_replaces_it_at_once_and_the_same_again_changes_nothing() {
    let (service, memory) = Service::start().await.agent();
    let two = json!({"items": [{"content": "x", "metadata": {"n": 1.5}}, {"content": "y", "expires_at": "2026-11-22T00:00:00Z"}]});
    let first = put(&memory, "a", two.clone()).await.is(200).json();
    assert_eq!(
        (contents(&first), &first["unchanged"]),
        (vec!["x", "y"], &json!(false))
    );

    service.clock.advance(Duration::from_secs(60));
    let again = put(&memory, "a", two).await.is(200).json();
    has(&again, json!({"items": first["items"], "unchanged": true}));

    let list = put(&memory, "a", json!([{"content": "y"}])).await.is(200).json();
    assert_eq!((contents(&list), &list["unchanged"]), (vec!["y"], &json!(false)));
    let text = memory
        .requests(r"PUT items/a < the only one\n → 200")
        .await
        .json();
    assert_eq!(contents(&text), ["the only one\n"]);
    assert_eq!(memory.get("items").await.json()["items"], text["items"]);

    let none = put(&memory, "a", json!([])).await.is(200).json();
    assert_eq!((contents(&none).len(), &none["unchanged"]), (0, &json!(false)));
    assert_eq!(put(&memory, "a", json!([])).await.json()["unchanged"], true);
    assert_eq!(memory.read("items").await["items"], json!([]));
}

#[tokio::test]
async fn concurrent_puts_of_a_category_leave_the_items_of_one_of_them() {
    let (_, memory) = Service::start().await.agent();
    let puts = (0..8).map(|n| {
        put(
            &memory,
            "a",
            json!([{"content": format!("{n} x")}, {"content": format!("{n} y")}]),
        )
    });
    for answer in futures::future::join_all(puts).await {
        answer.is(200);
    }
    let list = memory.get("items").await.json();
    let left = contents(&list);
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(left[0][..1], left[1][..1]);
}

#[tokio::test]
async fn an_invalid_item_is_rejected_and_its_field_named() {
    let (_, memory) = Service::start().await.agent();
    for (body, field) in rows(
        r#"
        {"category": "a"} → content
        {"content": "x"} → category
        {"content": "", "category": "a"} → content
        {"content": " \u00a0\n", "category": "a"} → content
        {"content": "a\u0000", "category": "a"} → content
        {"content": "x", "category": ""} → category
        {"content": "x", "category": " "} → category
        {"content": "x", "category": "a,b"} → category
        {"content": "x", "category": "a\nb"} → category
        {"content": "x", "category": " a"} → category
        {"content": "x", "category": "a\u202eb"} → category
        {"content": "x", "category": "key_learnings"} → category
        {"content": "x", "category": "Rules"} → category
        {"content": "x", "category": "a", "metadata": [1]} → metadata
        {"content": "x", "category": "a", "metadata": {"k": {"\u0000": 1}}} → metadata
        {"content": "x", "category": "a", "expires_at": "tomorrow"} → expires_at
        {"content": "x", "category": "a", "expires_at": "2026-11-21T02:00:00Z"} → expires_at
        {"content": "x", "category": "a", "expires_at": "+10000-01-01T00:00:00Z"} → expires_at
        {"content": "x", "category": "a", "item_id": "mine"} → item_id"#,
    )
    .chain([(json!({"content": "x", "category": "ä".repeat(129)}), "category")])
    {
        add(&memory, body).await.invalid(field);
    }
    let (large, long) = ("v".repeat(8_192), "x".repeat(65_537));
    memory
        .requests(&format!(
            r#"
            POST items < {{"content": "x", "category": "a", "metadata": {{"k": "{large}"}}}} → 413 too-large metadata
            POST items < {{"content": "{long}", "category": "a"}} → 413 too-large content
            PUT items/a < [{{"content": "ok"}}, {{"content": ""}}] → 422 invalid [1].content
            PUT items/a < {{"items": [{{"content": "\t"}}]}} → 422 invalid items[0].content
            PUT items/a < {{"items": [{{"content": "x", "category": "a"}}]}} → 422 invalid items[0].category
            PUT items/a | Content-Type: application/json < "text" → 422 invalid body
            PUT items/recent_tasks < [] → 422 invalid category
            PUT items/a%2Cb < [] → 422 invalid category
            PUT items/a | Content-Type: text/html < x → 415 unsupported-media-type
            PUT items/a < \t → 422 invalid content
            PATCH items/a → 405 method-not-allowed
            DELETE items/a%2Fb → 422 invalid item_id"#
        ))
        .await;
    assert_eq!(memory.read("items").await["items"], json!([]));
}

#[tokio::test]
async fn items_are_limited_in_number_and_total_size() {
    let (service, memory) = Service::start().await.agent();
    let many: Vec<Value> = (0..499)
        .map(|number| json!({"content": number.to_string()}))
        .collect();
    put(&memory, "a", json!({"items": many})).await.is(200);
    add(
        &memory,
        json!({"content": "soon gone", "category": "b", "expires_at": "2026-11-21T03:00:00Z"}),
    )
    .await
    .is(201);
    let one_more = json!({"content": "one more", "category": "b"});
    let refused = add(&memory, one_more.clone()).await;
    assert_eq!(refused.invalid("items")["limit"], 500);
    service.clock.advance(Duration::from_secs(3_600));
    add(&memory, one_more.clone()).await.is(201);
    add(&memory, one_more).await.invalid("items");

    let large = service.memory("large");
    let content = "x".repeat(1 << 16);
    for _ in 0..16 {
        add(&large, json!({"content": content, "category": "c"}))
            .await
            .is(201);
    }
    let refused = add(&large, json!({"content": "y", "category": "c"})).await;
    assert_eq!(refused.invalid("items")["limit"], 1 << 20);
}

#[tokio::test]
async fn expired_items_are_never_returned_and_are_purged() {
    let (service, memory) = Service::start().await.agent();
    let soon = r#"POST items < {"content": "soon gone", "category": "a", "expires_at": "2026-11-21T02:00:01Z"} → 201"#;
    let soon = memory.requests(soon).await.json();
    let id = soon["item_id"].as_str().unwrap();
    service.clock.advance(Duration::from_secs(1));
    assert_eq!(memory.read("items").await["items"], json!([]));
    memory
        .requests(&format!(
            r#"
            GET items/{id} → 404 not-found
            GET prompt → 200 =
            DELETE items/{id} → 404 not-found
            DELETE items?category=a → 200 ={{"removed":0}}
            POST items < {{"content": "stays", "category": "a", "expires_at": "2026-11-21T02:00:03Z"}} → 201
            POST items < {{"content": "goes", "category": "a", "expires_at": "2026-11-21T02:00:02Z"}} → 201"#
        ))
        .await;
    service.clock.advance(Duration::from_secs(1));
    assert_eq!(service.storage().purge_items(500).await.unwrap(), 1);
    assert_eq!(service.storage().purge_items(500).await.unwrap(), 0);
    assert_eq!(contents(&memory.get("items").await.json()), ["stays"]);
}

#[tokio::test]
async fn deleting_a_memory_deletes_its_items_and_not_those_of_the_vault() {
    let (service, memory) = Service::start().await.with_memory("agent-to-go");
    add(&memory, json!({"content": "mine", "category": "a"}))
        .await
        .is(201);
    let of_vault = service
        .request(Method::POST, "/v1/vaults/acme/items")
        .json(&json!({"content": "ours", "category": "a"}));
    let added = Answer::to(of_vault).await.is(201);
    assert_eq!(added.json()["memory_id"], Value::Null);
    let path = added.header("location").to_owned();
    assert!(path.starts_with("/v1/vaults/acme/items/"), "{path}");
    service.get(&path).await.is(200);

    memory.delete().await.is(204);
    // Its deletion is an event, with its name.
    assert_eq!(service.tables_that_hold("agent-to-go").await, ["events"]);
    memory.delete().await.missing();
    assert_eq!(contents(&service.read("/v1/vaults/acme/items").await), ["ours"]);
    let put = service
        .request(Method::PUT, "/v1/vaults/acme/items/a")
        .json(&json!([{"content": "new"}]));
    assert_eq!(contents(&Answer::to(put).await.is(200).json()), ["new"]);
    service.get(&path).await.missing();
    let deleted = service.request(Method::DELETE, "/v1/vaults/acme/items?category=a");
    assert_eq!(Answer::to(deleted).await.is(200).json(), json!({"removed": 1}));
    assert!(contents(&service.read("/v1/vaults/acme/items").await).is_empty());
}

#[tokio::test]
async fn a_category_may_contain_spaces_and_letters_of_any_script() {
    let (_, memory) = Service::start().await.agent();
    for name in ["User notes", "Überblick/作業", &"ä".repeat(128)] {
        add(&memory, json!({"content": name, "category": name}))
            .await
            .is(201);
        let query: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let listed = memory.read(&format!("items?category={query}")).await;
        assert_eq!(contents(&listed), [name]);
        let prompt = memory.get(&format!("prompt?include={query}")).await.is(200);
        assert_eq!(prompt.text(), name);
    }
    let paged = memory.get("items?limit=1").await.json();
    let cursor = paged["next_cursor"].as_str().unwrap();
    let next = memory.read(&format!("items?limit=2&cursor={cursor}")).await;
    assert_eq!(contents(&next).len(), 2);
    let replaced = put(&memory, "User%20notes", json!([{"content": "new"}]))
        .await
        .is(200)
        .json();
    assert_eq!(contents(&replaced), ["new"]);
    assert_eq!(
        delete(&memory, "items?category=User%20notes").await.json(),
        json!({"removed": 1})
    );
}
