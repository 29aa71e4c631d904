//! Memories with prompt items and no document: every route gives the same answer on whether they exist.

use crate::harness::{Answer, Memory, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

async fn add(memory: &Memory, body: Value) {
    let request = memory.request(Method::POST, "items");
    Answer::to(request.header("X-Actor-Id", "tools").json(&body))
        .await
        .is(201);
}

async fn about(memory: &Memory) -> Answer {
    Answer::to(memory.itself(Method::GET)).await
}

async fn listed(service: &Service, vault: &str, query: &str) -> Value {
    let path = format!("/v1/vaults/{vault}/memories?{query}");
    service.read(&path).await["items"].clone()
}

async fn vaults(service: &Service) -> Value {
    service.read("/v1/vaults").await["items"].clone()
}

/// The ids of all pages, with one entry a page and with two.
async fn ids(service: &Service, query: &str) -> Vec<String> {
    let mut all = Vec::new();
    for limit in [1, 2, 500] {
        let path = format!("/v1/vaults/acme/memories?limit={limit}{query}");
        let pages = service.pages(&path).await;
        let ids = pages
            .iter()
            .map(|item| item["memory_id"].as_str().unwrap().to_owned());
        all.push(ids.collect::<Vec<_>>());
    }
    assert!(all.iter().all(|ids| *ids == all[0]), "{query}: {all:?}");
    all.remove(0)
}

/// Neither the memory itself nor a list contains it.
async fn is_nowhere(service: &Service, memory: &Memory) {
    about(memory).await.missing();
    for sort in ["memory_id", "changed_at", "bytes"] {
        assert_eq!(listed(service, "acme", &format!("sort={sort}")).await, json!([]));
    }
    assert_eq!(vaults(service).await, json!([]));
    memory.delete().await.missing();
}

#[tokio::test]
async fn a_memory_of_items_is_read_listed_counted_and_deleted_like_any_other() {
    let (service, memory) = Service::start().await.agent();
    // A vault that has items of its own and no memory is not listed.
    let own = "/v1/vaults/acme/items/x";
    service.put_json(own, json!([{"content": "x"}])).await.is(200);
    is_nowhere(&service, &memory).await;
    service.put_json(own, json!([])).await.is(200);
    add(&memory, json!({"content": "1", "category": "a"})).await;
    service.clock.advance(SECOND);
    let put = memory
        .request(Method::PUT, "items/b")
        .header("X-Actor-Id", "second");
    Answer::to(put.json(&json!([{"content": "2"}]))).await.is(200);

    let mut entry = json!({
        "vault_id": "acme", "memory_id": "agent", "version": 0, "context_id": null, "bytes": 0,
        "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:00:01Z",
        "last_actor_id": "second", "last_source": null,
    });
    for query in ["", "prefix=ag", "sort=changed_at", "sort=bytes&prefix=agent"] {
        assert_eq!(listed(&service, "acme", query).await, json!([entry]), "{query}");
    }
    assert_eq!(listed(&service, "acme", "prefix=b").await, json!([]));
    assert_eq!(listed(&service, "other", "").await, json!([]));
    assert_eq!(
        vaults(&service).await,
        json!([{"vault_id": "acme", "memories": 1, "changed_at": "2026-11-21T02:00:01Z"}])
    );
    let none = json!({"KL": 0, "VC": 0, "T": 0, "D": 0});
    entry["counters"] = none.clone();
    entry["records"] = json!({"active": none, "archived": none});
    entry["bytes_limit"] = json!(102_400);
    entry["open_proposals"] = json!(0);
    assert_eq!(about(&memory).await.is(200).json(), entry);
    // The resources of the document do not exist.
    for below in ["context", "contexts", "log", "records", "sections", "window"] {
        memory.get(below).await.missing();
    }

    memory.delete().await.is(204);
    is_nowhere(&service, &memory).await;
    assert_eq!(service.count("prompt_items").await, 0);
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn the_first_document_of_a_memory_of_items_is_version_1() {
    let (service, memory) = Service::start().await.agent();
    add(&memory, json!({"content": "1", "category": "a"})).await;
    service.clock.advance(SECOND);
    let put = memory.putting("text").header("If-None-Match", "*");
    let made = Answer::to(put).await.is(201).json();

    let entry = about(&memory).await.is(200).json();

    assert_eq!(entry["version"], 1);
    assert_eq!(entry["context_id"], made["context_id"]);
    assert_eq!(entry["created_at"], "2026-11-21T02:00:01Z");
    assert_eq!(entry["last_source"], "put");
    for sort in ["memory_id", "changed_at", "bytes"] {
        assert_eq!(ids(&service, &format!("&sort={sort}")).await, ["agent"]);
    }
    assert_eq!(vaults(&service).await[0]["memories"], 1);
    memory.delete().await.is(204);
    is_nowhere(&service, &memory).await;
    assert_eq!(service.count("prompt_items").await, 0);
}

#[tokio::test]
async fn a_memory_of_items_is_deleted_with_its_last_item() {
    let (service, memory) = Service::start().await.agent();
    let table = r#"
        POST items < {"content": "1", "category": "a"} → 201
        POST items < {"content": "2", "category": "b"} → 201
        DELETE items?category=a → 200
        GET . → 200
        PUT items/b < [] → 200"#;
    memory.requests(table).await;
    is_nowhere(&service, &memory).await;
}

#[tokio::test]
async fn a_memory_of_items_ends_when_its_items_expire_purged_or_not() {
    let service = Service::start().await;
    let (memory, other) = (service.memory("agent"), service.memory("other"));
    for memory in [&memory, &other] {
        add(
            memory,
            json!({"content": "1", "category": "a", "expires_at": "2026-11-21T02:00:02Z"}),
        )
        .await;
    }
    service.clock.advance(SECOND);
    add(
        &memory,
        json!({"content": "2", "category": "a", "expires_at": "2026-11-21T02:00:03Z"}),
    )
    .await;
    assert_eq!(
        about(&memory).await.is(200).json()["created_at"],
        "2026-11-21T02:00:00Z"
    );
    service.clock.advance(SECOND);
    // Expired items are not reported any more.
    assert_eq!(
        about(&memory).await.is(200).json()["created_at"],
        "2026-11-21T02:00:01Z"
    );
    for sort in ["memory_id", "changed_at", "bytes"] {
        assert_eq!(ids(&service, &format!("&sort={sort}")).await, ["agent"]);
    }
    assert_eq!(vaults(&service).await[0]["memories"], 1);
    service.clock.advance(SECOND);
    let events = service.count("events").await;
    is_nowhere(&service, &memory).await;
    // The deletion that found no memory removed the rows, and sent no event.
    assert_eq!(service.count("prompt_items").await, 1);
    assert_eq!(service.count("events").await, events);
    service.storage().purge_items(500).await.unwrap();
    is_nowhere(&service, &other).await;
}

#[tokio::test]
async fn preconditions_refer_to_the_missing_document() {
    let (service, memory) = Service::start().await.agent();
    let table = r#"
        POST items < {"content": "1", "category": "a"} → 201
        DELETE . | If-Match: * → 412 precondition-failed
        DELETE . | If-Match: "x" → 412 precondition-failed
        GET . → 200
        DELETE . | If-None-Match: * → 204"#;
    memory.requests(table).await;
    is_nowhere(&service, &memory).await;
}

#[tokio::test]
async fn pages_in_every_order_contain_both_kinds_once() {
    let service = Service::start().await;
    // Every third has a document, every third items, every third both.
    for number in 0..12 {
        let id = format!("m{:02}", (number * 5) % 12);
        let memory = service.memory(&id);
        if number % 3 != 1 {
            memory.write("x".repeat(1 + number % 4)).await;
        }
        if number % 3 != 0 {
            add(&memory, json!({"content": "1", "category": "a"})).await;
        }
        // Some have the same time.
        if number % 2 == 0 {
            service.clock.advance(SECOND);
        }
    }
    // Neither the vault's own items nor another vault's memories are in the list.
    for path in [
        "/v1/vaults/acme/items/a",
        "/v1/vaults/other/memories/m03x/items/a",
    ] {
        let put = service
            .request(Method::PUT, path)
            .json(&json!([{"content": "x"}]));
        Answer::to(put).await.is(200);
    }
    let all: Vec<String> = (0..12).map(|number| format!("m{number:02}")).collect();
    assert_eq!(ids(&service, "").await, all);
    assert_eq!(ids(&service, "&prefix=m1").await, ["m10", "m11"]);
    for (sort, key) in [("changed_at", "changed_at"), ("bytes", "bytes")] {
        let sorted = ids(&service, &format!("&sort={sort}")).await;
        let mut entries = listed(&service, "acme", "limit=500")
            .await
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(entries.len(), 12);
        let place = |entry: &Value| {
            let value = match &entry[key] {
                Value::String(time) => time.clone(),
                number => format!("{:010}", number.as_i64().unwrap()),
            };
            (value, entry["memory_id"].as_str().unwrap().to_owned())
        };
        entries.sort_by_key(|entry| std::cmp::Reverse(place(entry)));
        let expected: Vec<&str> = entries
            .iter()
            .map(|entry| entry["memory_id"].as_str().unwrap())
            .collect();
        assert_eq!(sorted, expected, "{sort}");
        assert_eq!(ids(&service, &format!("&sort={sort}&prefix=m1")).await.len(), 2);
    }
    let counted: Vec<(Value, Value)> = vaults(&service)
        .await
        .as_array()
        .unwrap()
        .iter()
        .map(|vault| (vault["vault_id"].clone(), vault["memories"].clone()))
        .collect();
    assert_eq!(counted, [(json!("acme"), json!(12)), (json!("other"), json!(1))]);
}
