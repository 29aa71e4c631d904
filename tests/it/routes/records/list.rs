//! `GET M/records`

use crate::harness::{Memory, Service, each};

async fn ids(memory: &Memory, query: &str) -> Vec<String> {
    let page = memory.read(&format!("records{query}")).await;
    each(&page["items"], "record_id")
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn records_are_filtered_by_kind_and_status() {
    let (_, memory) = Service::start().await.agent();
    memory.write("# Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n\n# Decisions\n- D-1 because c: x\n").await;
    memory.archives("KL-1 because old").await;

    assert_eq!(ids(&memory, "").await, ["D-1", "KL-2"]);
    assert_eq!(ids(&memory, "?status=all").await, ["D-1", "KL-1", "KL-2"]);
    assert_eq!(ids(&memory, "?status=archived").await, ["KL-1"]);
    assert_eq!(ids(&memory, "?kind=KL&status=all").await, ["KL-1", "KL-2"]);
    assert_eq!(ids(&memory, "?kind=VC").await, [""; 0]);
    memory.get("records?kind=kl").await.invalid("kind");
    memory.get("records?status=gone").await.invalid("status");
}
