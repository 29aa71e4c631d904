//! `GET M/records`

use crate::harness::Service;

#[tokio::test]
async fn records_are_filtered_by_kind_and_status() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n\n# Decisions\n- D-1 because c: x\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because old\n → 200
        GET records → 200 {"/items/*/record_id": ["D-1", "KL-2"]}
        GET records?status=all → 200 {"/items/*/record_id": ["D-1", "KL-1", "KL-2"]}
        GET records?status=archived → 200 {"/items/*/record_id": ["KL-1"]}
        GET records?kind=KL&status=all → 200 {"/items/*/record_id": ["KL-1", "KL-2"]}
        GET records?kind=VC → 200 {"items": []}
        GET records?kind=kl → 422 invalid kind
        GET records?status=gone → 422 invalid status"##;
    memory.requests(table).await;
}
