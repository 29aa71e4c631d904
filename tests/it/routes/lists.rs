//! What all lists have in common: pages without gaps, cursors of one list, and limits.

use crate::harness::{Answer, Service, each};
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
    let events = service
        .pages("/v1/vaults/acme/events?order=newest&kinds=version&limit=3")
        .await;
    let of_agent = events.iter().filter(|event| event["memory_id"] == "agent");
    let versions: Vec<_> = of_agent.map(|event| &event["version"]).collect();
    assert_eq!(versions, [6, 5, 4, 3, 2, 1]);
    let versions = service
        .pages("/v1/vaults/acme/memories/agent/contexts?limit=2")
        .await;
    let is_without_text = |version: &Value| version.get("context").is_none() && version["bytes"].is_number();
    assert!(versions.iter().all(is_without_text));
    let versions: Vec<_> = versions.iter().map(|version| &version["version"]).collect();
    assert_eq!(versions, [6, 5, 4, 3, 2, 1]);
    let runs = json!(
        service
            .pages("/v1/vaults/acme/memories/agent/updates?limit=3")
            .await
    );
    let mut ids = each(&runs, "update_id");
    ids.dedup();
    assert_eq!(ids.len(), 10, "{runs}");
    let has_exchanges = |run: &Value| run.get("exchanges").is_some();
    assert!(!runs.as_array().unwrap().iter().any(has_exchanges));
}

#[tokio::test]
async fn a_cursor_is_of_one_list_and_a_limit_is_at_most_500() {
    let service = filled().await;
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
            let path = format!("{path}cursor={bad}");
            service.refuses(&path, 400, "malformed", Some("cursor")).await;
        }
        for bad in "0|501|-1|%2B1|x|1.5|1e2|99999999999||1&limit=2".split('|') {
            let path = format!("{path}limit={bad}");
            service.refuses(&path, 422, "invalid", Some("limit")).await;
        }
    }
    for other in [
        "/v1/vaults/acme/memories/other-1/contexts?cursor=",
        "/v1/vaults/acme/memories/agent/contexts?cursor=x",
    ] {
        let path = format!("{other}{cursor}");
        service.refuses(&path, 400, "malformed", Some("cursor")).await;
    }
    let files = "/v1/vaults/acme/memory-tool/files?root=agent";
    for name in ["a", "b"] {
        let put = service.request(Method::PUT, &format!("{files}&path=/memories/{name}"));
        Answer::to(put.header("Content-Type", "text/plain").body("x"))
            .await
            .is(201);
    }
    let told = json!({"history": [
        {"time": "2026-09-01T00:00:00Z", "intent": "a"},
        {"time": "2026-09-02T00:00:00Z", "intent": "b"},
    ]});
    service.memory("agent").post("window/import", &told).await.is(201);
    // PostgreSQL has no NUL in texts, and no time before 4713 BC.
    for (list, known, forged) in [
        (files, "/memories/", r"/memories/\u0000"),
        ("/v1/vaults/acme/items?", r#""2026-"#, r#""-5026-"#),
        (
            "/v1/vaults/acme/memories/agent/archive/history?",
            r#""2026-"#,
            r#""-5026-"#,
        ),
    ] {
        let page = service.request(Method::GET, &format!("{list}&limit=1"));
        let page = Answer::to(page.header("Accept", "application/json")).await;
        let page = page.is(200).json();
        let (start, key) = page["next_cursor"].as_str().unwrap().split_at(8);
        let key = String::from_utf8(hex::decode(key).unwrap()).unwrap();
        assert!(key.contains(known), "{key}");
        let key = hex::encode(key.replace(known, forged));
        let path = format!("{list}&cursor={start}{key}");
        service.refuses(&path, 400, "malformed", Some("cursor")).await;
    }
    let page = service.read("/v1/vaults/acme/memories?limit=1").await;
    let cursor = page["next_cursor"].as_str().unwrap();
    for other in ["other/memories?", "acme/memories?prefix=a&"] {
        let path = format!("/v1/vaults/{other}cursor={cursor}");
        service.refuses(&path, 400, "malformed", Some("cursor")).await;
    }
}
