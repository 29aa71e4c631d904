//! `GET M/records`

use crate::harness::{Memory, Service};

async fn ids(memory: &Memory<'_>, query: &str) -> Vec<String> {
    let page = memory.get(&format!("records{query}")).await.is(200).json();
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["record_id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn records_are_filtered_by_kind_and_status() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put("# Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n\n# Decisions\n- D-1 because c: x\n").await.is(201);
    memory
        .apply("KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because old\n")
        .await
        .is(200);

    assert_eq!(ids(&memory, "").await, ["D-1", "KL-2"]);
    assert_eq!(ids(&memory, "?status=all").await, ["D-1", "KL-1", "KL-2"]);
    assert_eq!(ids(&memory, "?status=archived").await, ["KL-1"]);
    assert_eq!(ids(&memory, "?kind=KL&status=all").await, ["KL-1", "KL-2"]);
    assert_eq!(ids(&memory, "?kind=VC").await, [""; 0]);
    memory
        .get("records?kind=kl")
        .await
        .problem(422, "invalid", Some("kind"));
    memory
        .get("records?status=gone")
        .await
        .problem(422, "invalid", Some("status"));

    let page = memory.get("records?status=all&limit=2").await.is(200).json();
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(
        ids(&memory, &format!("?status=all&limit=2&cursor={cursor}")).await,
        ["KL-2"]
    );
    memory
        .get(&format!("records?cursor={cursor}"))
        .await
        .problem(400, "malformed", Some("cursor"));
}
