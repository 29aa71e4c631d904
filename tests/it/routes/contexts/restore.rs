//! `POST M/contexts/{ref}/restore`

use crate::harness::Service;

#[tokio::test]
async fn restoring_creates_a_new_version_with_its_records_if_the_preconditions_of_a_put_hold() {
    let table = r##"
        § restoring creates a new version and reactivates its records
        PUT context < # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because a: one\n → 201
        +60
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because b: two\n  ARCHIVE:\n    - KL-1 because it is over\n → 200
        POST contexts/1/restore | X-Actor-Id: ann → 201 | location: /v1/vaults/acme/memories/$memory/contexts/3 | etag: "$id" | {"version": 3, "unchanged": false, "source": "restore", "actor_id": "ann", "/warnings/0/kind": "records_dropped", "/warnings/0/records": ["KL-2"]} ⇒ id=/context_id
        GET context → 200 | etag: "$id" | =# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because a: one\n
        GET records/KL-1 → 200 {"status": "active", "created_version": 1, "created_at": "2026-11-21T02:00:00Z", "ended_version": null, "archive_reason": null}
        GET records/KL-2 → 200 {"status": "archived", "ended_version": 3, "ended_by": "ann", "archive_reason": "left out by version 3"}
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because c: three\n → 200 {"/operations/0/id": "KL-3"}
        GET log → 200 {"/items/1/log^": "version 1 restored: ", "/items/1/log~": "KL-1 one"}
        § restoring the current text creates no version
        PUT context < one → 201
        PUT context < two → 201
        PUT context < one → 201 ⇒ head=etag
        POST contexts/1/restore → 200 | etag: $head | location: - | {"version": 3, "unchanged": true}
        POST contexts/3/restore → 200 | etag: $head | location: - | {"version": 3, "unchanged": true}
        ROWS memory_contexts 3
        § preconditions are those of a put
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201 ⇒ head=etag
        POST contexts/1/restore | If-Match: $old → 412 precondition-failed
        POST contexts/1/restore | If-None-Match: $head → 412 precondition-failed
        POST contexts/1/restore | If-None-Match: * → 412 precondition-failed
        ROWS memory_contexts 2
        POST contexts/1/restore | If-Match: $head < {"reason": "one\nand two"} → 201
        GET log → 200 {"/items/0/log^": "version 1 restored (because one and two)"}
        § missing and redacted versions cannot be restored
        POST contexts/1/restore → 404 not-found ref
        ROWS memories 0
        PUT context < one → 201
        PUT context < two → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST contexts/9/restore → 404 not-found ref
        POST contexts/1/restore → 410 gone ref {"detail~": "redacted"}
        ROWS memory_contexts 2
        § a restore may have a reason, which the log contains
        PUT context < one → 201
        PUT context < two → 201
        POST contexts/1/restore < {"reason": " "} → 422
        POST contexts/1/restore < {"reason": "(x×1001)"} → 422
        POST contexts/1/restore < {"why": "x"} → 422
        POST contexts/1/restore < {"reason": "the second was wrong"} → 201
        GET log → 200 {"/items/0/log^": "version 1 restored (because the second was wrong): "}"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn a_text_over_a_lowered_limit_cannot_be_restored() {
    let service = Service::configured(|config| config.limits.context_bytes = 20).await;
    let memory = service.memory("agent");
    memory.write("one").await;
    let larger = "UPDATE memory_contexts SET context = 'twenty-one characters' WHERE vault_id = 'acme' AND version = 1";
    service.execute(larger).await;
    memory.write("two").await;
    memory.restore("1").await.invalid("ref");
}
