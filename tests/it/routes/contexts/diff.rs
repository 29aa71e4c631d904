//! `GET M/contexts/{ref}/diff`

use crate::harness::Service;

#[tokio::test]
async fn versions_are_compared_as_text_and_by_their_records_in_either_order() {
    let (_, memory) = Service::start().await.agent();
    // Two versions by operations and a third by hand.
    let table = r#"
        PUT context < # Facts\none\n\n# Key Learnings\n- KL-1 because a: stays\n- KL-2 because b: goes\n → 201
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - views\nKEY_LEARNINGS:\n  ADD:\n    - because d: comes\n  ARCHIVE:\n    - KL-2 because it is wrong\n → 200"#;
    memory.requests(table).await;
    let text = memory.text().await;
    memory
        .write(text.replace("one", "two").replace("stays", "changes"))
        .await;
    let first = memory.get_json("contexts/1").await.part("/context_id");
    let table = r#"
        ¶ a version is compared with the previous one as text
        GET contexts/3/diff → 200 | content-type: text/plain; charset=utf-8 | x-context-version: 3 | vary: Accept | ^--- version 2\n+++ version 3\n@@ -1,8 +1,8 @@\n
        GET contexts/3/diff → 200 ~-one\n
        GET contexts/3/diff → 200 ~+two\n
        GET contexts/3/diff → 200 ~-- KL-1 because a: stays\n
        GET contexts/3/diff → 200 ~+- KL-1 because a: changes\n
        GET contexts/3/diff?base=3 → 200 =
        ¶ the first version is compared with an empty document
        GET contexts/1/diff → 200 ^--- /dev/null\n+++ version 1\n@@ -0,0 +1,6 @@\n+# Facts\n
        GET contexts/1/diff | Accept: application/json → 200 {"base_version": 0, "base_context_id": null, "/records/added/*/record_id": ["KL-1", "KL-2"], "sections_changed": ["Facts"]}
        ¶ versions are compared in either order and by id
        GET contexts/FIRST/diff?base=3 | Accept: application/json → 200 {"base_version": 3, "version": 1, "context_id": "FIRST"}
        GET contexts/FIRST/diff?base=3 | Accept: application/json → 200 {"/records/added/*/record_id": ["KL-2"], "/records/archived/*/record_id": ["KL-3"], "/records/archived/*/reason": [null]}
        GET contexts/3/diff?base=1 → 200 ⇒ whole==
        GET contexts/3/diff?base=FIRST → 200 =$whole
        ¶ each representation of each pair has its own etag
        GET contexts/3/diff → 200 ⇒ tag=etag text==
        GET contexts/3/diff | Accept: text/x-diff | If-None-Match: "x" → 200 | content-type: text/x-diff; charset=utf-8 | =$text
        GET contexts/3/diff | If-None-Match: $tag → 304
        GET contexts/3/diff?base=2 | If-None-Match: $tag → 304
        GET contexts/3/diff?base=1 | If-None-Match: $tag → 200
        GET contexts/3/diff | Accept: application/json | If-None-Match: $tag → 200
        GET contexts/3/diff | Accept: text/html | If-None-Match: $tag → 406 not-acceptable Accept
        ¶ JSON lists the changed records with their reasons, and the sections that changed or are gone, not those that were moved
        GET contexts/3/diff?base=1 | Accept: application/json → 200 {"vault_id": "acme", "memory_id": "$memory", "base_version": 1, "version": 3, "diff^": "--- version 1\n+++ version 3\n"}
        GET contexts/3/diff?base=1 | Accept: application/json → 200 {"/records/added/*/record_id": ["KL-3"], "/records/added/0/content": "comes", "/records/added/0/reason": "d", "/records/added/0/time": "2026-11-21T02:00:00Z"}
        GET contexts/3/diff?base=1 | Accept: application/json → 200 {"/records/changed/*/record_id": ["KL-1"], "/records/changed/0/before/content": "stays", "/records/changed/0/after/content": "changes"}
        GET contexts/3/diff?base=1 | Accept: application/json → 200 {"/records/archived/*/record_id": ["KL-2"], "/records/archived/0/reason": "it is wrong", "/records/archived/0/archived_version": 2, "/records/archived/0/record/content": "goes"}
        GET contexts/3/diff?base=1 | Accept: application/json → 200 {"progress_rewritten": true, "sections_changed": ["Facts"]}
        GET contexts/2/diff | Accept: application/json → 200 {"progress_rewritten": true, "sections_changed": []}
        PUT context < # Facts\ntwo\n# Facts\nanother\n → 201
        GET contexts/4/diff | Accept: application/json → 200 {"sections_changed": ["Facts"]}
        PUT context < # Notes\none\n → 201
        GET contexts/5/diff | Accept: application/json → 200 {"sections_changed": ["Notes", "Facts", "Facts"]}
        GET contexts/3/diff | Accept: application/json → 200 {"progress_rewritten": false, "/records/archived": []}"#;
    memory.requests(&table.replace("FIRST", &first)).await;
}
