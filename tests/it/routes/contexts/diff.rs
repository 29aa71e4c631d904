//! `GET M/contexts/{ref}/diff`

use crate::harness::{Service, has};
use serde_json::{Value, json};

const FIRST: &str = "# Facts\none\n\n# Key Learnings\n- KL-1 because a: stays\n- KL-2 because b: goes\n";
const OPERATIONS: &str = "\
CURRENT_PROGRESS:
  In Progress:
    - views
KEY_LEARNINGS:
  ADD:
    - because d: comes
  ARCHIVE:
    - KL-2 because it is wrong
";

/// Two versions by operations and a third by hand.
async fn three_versions(service: &Service) {
    let memory = service.memory("agent");
    memory.write(FIRST).await;
    memory.applied(OPERATIONS).await;
    let text = memory.text().await;
    let text = text.replace("one", "two").replace("stays", "changes");
    memory.write(text).await;
}

fn ids(records: &Value) -> Vec<&str> {
    let ids = records.as_array().unwrap().iter();
    ids.map(|record| record["record_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_version_is_compared_with_the_previous_one_as_text() {
    let service = Service::start().await;
    three_versions(&service).await;
    let memory = service.memory("agent");

    let diff = memory.get("contexts/3/diff").await.is(200);

    assert_eq!(diff.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(diff.header("x-context-version"), "3");
    assert_eq!(diff.header("vary"), "Accept");
    let text = diff.text();
    assert!(
        text.starts_with("--- version 2\n+++ version 3\n@@ -1,8 +1,8 @@\n"),
        "{text}"
    );
    for line in [
        "-one\n",
        "+two\n",
        "-- KL-1 because a: stays\n",
        "+- KL-1 because a: changes\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(memory.get("contexts/3/diff?base=3").await.is(200).text(), "");
}

#[tokio::test]
async fn the_first_version_is_compared_with_an_empty_document() {
    let service = Service::start().await;
    three_versions(&service).await;
    let memory = service.memory("agent");

    let text = memory.get("contexts/1/diff").await.is(200).text().to_owned();
    assert!(
        text.starts_with("--- /dev/null\n+++ version 1\n@@ -0,0 +1,6 @@\n+# Facts\n"),
        "{text}"
    );
    let body = memory.get_json("contexts/1/diff").await.is(200).json();
    has(&body, json!({"base_version": 0, "base_context_id": null}));
    assert_eq!(ids(&body["records"]["added"]), ["KL-1", "KL-2"]);
    assert_eq!(body["sections_changed"], json!(["Facts"]));
}

#[tokio::test]
async fn json_lists_the_changed_records_with_their_reasons() {
    let service = Service::start().await;
    three_versions(&service).await;
    let memory = service.memory("agent");

    let body = memory.get_json("contexts/3/diff?base=1").await.is(200).json();

    assert_eq!(body["vault_id"], "acme");
    assert_eq!(body["memory_id"], "agent");
    has(&body, json!({"base_version": 1, "version": 3}));
    assert!(
        body["diff"]
            .as_str()
            .unwrap()
            .starts_with("--- version 1\n+++ version 3\n")
    );
    let records = &body["records"];
    assert_eq!(ids(&records["added"]), ["KL-3"]);
    assert_eq!(records["added"][0]["content"], "comes");
    assert_eq!(records["added"][0]["reason"], "d");
    assert_eq!(records["added"][0]["time"], "2026-11-21T02:00:00Z");
    assert_eq!(ids(&records["changed"]), ["KL-1"]);
    assert_eq!(records["changed"][0]["before"]["content"], "stays");
    assert_eq!(records["changed"][0]["after"]["content"], "changes");
    assert_eq!(ids(&records["archived"]), ["KL-2"]);
    assert_eq!(records["archived"][0]["reason"], "it is wrong");
    assert_eq!(records["archived"][0]["archived_version"], 2);
    assert_eq!(records["archived"][0]["record"]["content"], "goes");
    assert_eq!(body["progress_rewritten"], true);
    assert_eq!(body["sections_changed"], json!(["Facts"]));

    // Sections that were added behind a free one do not change it; one that is gone is listed, too.
    let step = memory.get_json("contexts/2/diff").await.is(200).json();
    has(&step, json!({"progress_rewritten": true, "sections_changed": []}));
    for (version, text, changed) in [
        (4, "# Facts\ntwo\n# Facts\nanother\n", json!(["Facts"])),
        (5, "# Notes\none\n", json!(["Notes", "Facts", "Facts"])),
    ] {
        memory.write(text).await;
        let body = memory
            .get_json(&format!("contexts/{version}/diff"))
            .await
            .is(200)
            .json();
        assert_eq!(body["sections_changed"], changed, "{version}");
    }
    let step = memory.get_json("contexts/3/diff").await.is(200).json();
    assert_eq!(step["progress_rewritten"], false);
    assert_eq!(step["records"]["archived"], json!([]));
}

#[tokio::test]
async fn versions_are_compared_in_either_order_and_by_id() {
    let service = Service::start().await;
    three_versions(&service).await;
    let memory = service.memory("agent");
    let first = memory.get_json("contexts/1").await.is(200).json()["context_id"].clone();
    let first = first.as_str().unwrap();

    let back = memory
        .get_json(&format!("contexts/{first}/diff?base=3"))
        .await
        .is(200)
        .json();

    has(&back, json!({"base_version": 3, "version": 1}));
    assert_eq!(back["context_id"], first);
    assert_eq!(ids(&back["records"]["added"]), ["KL-2"]);
    assert_eq!(ids(&back["records"]["archived"]), ["KL-3"]);
    assert_eq!(back["records"]["archived"][0]["reason"], Value::Null);
    let by_id = memory.get(&format!("contexts/3/diff?base={first}")).await.is(200);
    assert_eq!(by_id.body, memory.get("contexts/3/diff?base=1").await.body);
}

#[tokio::test]
async fn each_representation_of_each_pair_has_its_own_etag() {
    let service = Service::start().await;
    three_versions(&service).await;
    let memory = service.memory("agent");
    let text = memory.get("contexts/3/diff").await.is(200);
    let tag = text.header("etag");
    let patch = r#"GET contexts/3/diff | Accept: text/x-diff | If-None-Match: "x" → 200"#;
    let patch = memory.requests(patch).await;
    assert_eq!(patch.header("content-type"), "text/x-diff; charset=utf-8");
    assert_eq!(patch.body, text.body);
    memory
        .requests(&format!(
            "
            GET contexts/3/diff | If-None-Match: {tag} → 304
            GET contexts/3/diff?base=2 | If-None-Match: {tag} → 304
            GET contexts/3/diff?base=1 | If-None-Match: {tag} → 200
            GET contexts/3/diff | Accept: application/json | If-None-Match: {tag} → 200
            GET contexts/3/diff | Accept: text/html | If-None-Match: {tag} → 406 not-acceptable Accept"
        ))
        .await;
}
