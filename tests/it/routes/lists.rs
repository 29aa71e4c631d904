//! What all lists have in common: pages without gaps, cursors of one list, and limits.

use crate::harness::{Answer, Service, each, has};
use reqwest::Method;
use serde_json::{Value, json};

/// The lists below `/v1/vaults/acme/`, with what their query begins with.
const LISTS: [&str; 11] = [
    "memories?",
    "memories?sort=changed_at&",
    "items?",
    "events?order=newest&",
    "updates?status=proposed&",
    "memories/agent/contexts?",
    "memories/agent/log?",
    "memories/agent/records?status=all&",
    "memories/agent/updates?",
    "memories/agent/items?",
    "memories/agent/sections?",
];

/// A vault in which every list has at least five entries.
async fn filled() -> Service {
    let (service, memory) = Service::start().await.agent();
    memory.write("# A\n# B\n# C\n# D\n").await;
    for number in 0..5 {
        let other = format!("other-{number}");
        service.memory(&other).write("x").await;
        let text = format!("KEY_LEARNINGS:\n  ADD:\n    - because x: insight {number}\n");
        memory.applied(&text).await;
        let add = json!({"operations": [{"op": "add", "section": "learnings", "reason": "r", "content": format!("{number}")}]});
        memory.asked("?mode=propose", add).await;
        let item = json!({"content": format!("{number}"), "category": "a"});
        memory.post("items", &item).await.is(201);
        service.post("/v1/vaults/acme/items", &item).await.is(201);
    }
    service
}

#[tokio::test]
async fn pages_of_every_list_have_no_gaps_and_no_repeats() {
    let service = filled().await;
    for list in LISTS {
        let path = format!("/v1/vaults/acme/{list}");
        let all = service.pages(&format!("{path}limit=500")).await;
        assert!(all.len() >= 5, "{list}: {all:?}");
        for limit in [1, 2, 4] {
            let paged = service.pages(&format!("{path}limit={limit}")).await;
            assert_eq!(paged, all, "{list} by {limit}");
        }
    }
    let pages = async |list: &str| json!(service.pages(&format!("/v1/vaults/acme/{list}")).await);
    let newest_first = json!([6, 5, 4, 3, 2, 1]);
    let mut events = pages("events?order=newest&kinds=version&limit=3").await;
    let events = events.as_array_mut().unwrap();
    events.retain(|event| event["memory_id"] == "agent");
    has(
        &json!({ "items": events }),
        json!({"/items/*/version": newest_first}),
    );
    let versions = pages("memories/agent/contexts?limit=2").await;
    has(
        &json!({ "items": versions }),
        json!({"/items/*/version": newest_first}),
    );
    let is_without_text = |version: &Value| version.get("context").is_none() && version["bytes"].is_number();
    assert!(versions.as_array().unwrap().iter().all(is_without_text));
    let runs = pages("memories/agent/updates?limit=3").await;
    let mut ids = each(&runs, "update_id");
    ids.dedup();
    assert_eq!(ids.len(), 10, "{runs}");
    let has_exchanges = |run: &Value| run.get("exchanges").is_some();
    assert!(!runs.as_array().unwrap().iter().any(has_exchanges));
}

#[tokio::test]
async fn a_cursor_is_of_one_list_and_a_limit_is_at_most_500() {
    let service = filled().await;
    let refused = async |path: String| service.refuses(&path, 400, "malformed", Some("cursor")).await;
    let first = service
        .read("/v1/vaults/acme/memories/agent/contexts?limit=1")
        .await;
    let cursor = first["next_cursor"].as_str().unwrap();
    for list in LISTS {
        let path = format!("/v1/vaults/acme/{list}");
        for bad in [cursor, "nonsense", ""] {
            if bad == cursor && list.contains("contexts") {
                continue;
            }
            refused(format!("{path}cursor={bad}")).await;
        }
        for bad in "0|501|-1|x|1.5|1e2|99999999999||1&limit=2".split('|') {
            let path = format!("{path}limit={bad}");
            let problem = service.refuses(&path, 422, "invalid", Some("limit")).await;
            // One that is given twice has no value.
            if !bad.contains('&') {
                let detail = "limit must be a whole number from 1 to 500";
                has(&problem, json!({"detail": detail, "minimum": 1, "limit": 500}));
            }
        }
    }
    for other in ["other-1/contexts?cursor=", "agent/contexts?cursor=x"] {
        refused(format!("/v1/vaults/acme/memories/{other}{cursor}")).await;
    }
    let table = r#"
        PUT /v1/vaults/acme/memory-tool/files?root=agent&path=/memories/a < x → 201
        PUT /v1/vaults/acme/memory-tool/files?root=agent&path=/memories/b < x → 201
        POST /v1/vaults/acme/memories/agent/window/import < {"history": [{"time": "2026-09-01T00:00:00Z", "intent": "a"}, {"time": "2026-09-02T00:00:00Z", "intent": "b"}]} → 201
        GET /v1/vaults/acme/memories?limit=1 → 200"#;
    let page = service.requests(table).await;
    for other in ["other/memories?", "acme/memories?prefix=a&"] {
        refused(format!("/v1/vaults/{other}cursor={}", page.part("/next_cursor"))).await;
    }
    // PostgreSQL has no NUL in texts, and no time before 4713 BC.
    for (list, known, forged) in [
        ("memory-tool/files?root=agent", "/memories/", r"/memories/\u0000"),
        ("items?", r#""2026-"#, r#""-5026-"#),
        ("memories/agent/archive/history?", r#""2026-"#, r#""-5026-"#),
    ] {
        let list = format!("/v1/vaults/acme/{list}");
        let page = service.request(Method::GET, &format!("{list}&limit=1"));
        let page = Answer::to(page.header("Accept", "application/json")).await;
        let next = page.is(200).part("/next_cursor");
        let (start, key) = next.split_at(8);
        let key = String::from_utf8(hex::decode(key).unwrap()).unwrap();
        assert!(key.contains(known), "{key}");
        let key = hex::encode(key.replace(known, forged));
        refused(format!("{list}&cursor={start}{key}")).await;
    }
}
