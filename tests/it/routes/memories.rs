//! `/v1/vaults`, `/v1/vaults/{vault_id}/memories`, `M`

use crate::harness::{Memory, Service, each};
use futures::future::{join, join_all};
use serde_json::json;
use working_memory::domain::ids::VaultId;

#[tokio::test]
async fn a_memory_has_its_newest_version_its_counters_and_its_records() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        GET . → 404 not-found
        PUT . → 405 method-not-allowed
        GET .?x=1 → 422 invalid x {"detail~": "known: none"}
        GET contexts?limt=3 → 422 invalid limt {"detail~": "known: limit, cursor"}
        GET /v1/vaults/acme/memories/.a → 422 invalid memory_id
        PUT context < # Key Learnings\n- KL-4 because a: one\n- KL-5 because b: two\n\n# Decisions\n- D-2 because c: x\n → 201
        +60
        POST operations | X-Actor-Id: ann < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-4 because d\n → 200"##;
    let head = memory.requests(table).await.json();
    let bytes = memory.get("context").await.is(200).body.len();
    assert_eq!(
        memory.about().await,
        json!({
            "vault_id": "acme", "memory_id": "agent", "version": 2, "context_id": head["context_id"],
            "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:01:00Z", "bytes": bytes,
            "last_actor_id": "ann", "last_source": "operations",
            "counters": {"KL": 5, "VC": 0, "T": 0, "D": 2},
            "records": {
                "active": {"KL": 1, "VC": 0, "T": 0, "D": 1},
                "archived": {"KL": 1, "VC": 0, "T": 0, "D": 0},
            },
            "bytes_limit": 102_400, "open_proposals": 0,
        })
    );
}

#[tokio::test]
async fn vaults_and_memories_are_listed_in_byte_order() {
    let service = Service::start().await;
    for id in ["b", "B", "a-1", "a.1", "a", "a_1", "1"] {
        service.memory(id).write(format!("text of {id}")).await;
    }
    let table = r#"
        PUT /v1/vaults/acme/memories/B/context < more → 201 ⇒ id=/context_id
        GET /v1/vaults/acme/memories → 200 {"/items/*/memory_id": ["1", "B", "a", "a-1", "a.1", "a_1", "b"]}
        GET /v1/vaults/acme/memories?prefix=a → 200 {"/items/*/memory_id": ["a", "a-1", "a.1", "a_1"]}
        GET /v1/vaults/acme/memories?prefix=a_ → 200 {"/items/*/memory_id": ["a_1"]}
        GET /v1/vaults/acme/memories?prefix=z → 200 {"items": []}
        GET /v1/vaults/acme/memories?prefix=B → 200 {"items": [{"vault_id": "acme", "memory_id": "B", "version": 2, "context_id": "$id", "bytes": 4, "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:00:00Z", "last_actor_id": "anonymous", "last_source": "put"}]}
        GET /v1/vaults/other/memories → 200 ={"items":[],"next_cursor":null}
        GET /v1/vaults/acme/memories?prefix= → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=%25 → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=a&prefix=b → 422 invalid prefix
        GET /v1/vaults/acme/memories?prefix=~ → 422 invalid prefix
        GET /v1/vaults/acme/memories?sort=colour → 422 invalid sort
        +1
        PUT /v1/vaults/two/memories/a/context < x → 201
        +1
        PUT /v1/vaults/one/memories/a/context < x → 201
        PUT /v1/vaults/two/memories/b/context < x → 201
        GET /v1/vaults?limit=2 → 200 {"items": [{"vault_id": "acme", "memories": 7, "changed_at": "2026-11-21T02:00:00Z"}, {"vault_id": "one", "memories": 1, "changed_at": "2026-11-21T02:00:02Z"}]} ⇒ cursor=/next_cursor
        GET /v1/vaults?cursor=$cursor → 200 ={"items":[{"vault_id":"two","memories":2,"changed_at":"2026-11-21T02:00:02Z"}],"next_cursor":null}
        GET /v1/vaults?prefix=a → 422 invalid prefix
        GET /v1/vaults?cursor=zz → 400 malformed cursor"#;
    service.requests(table).await;
}

#[tokio::test]
async fn vaults_are_in_the_order_of_their_bytes_whatever_order_the_database_has() {
    if std::env::var("TEST_CITUS_URL").is_ok() {
        // A distributed table keeps the collation of the column that it is distributed by.
        return;
    }
    let service = Service::start().await;
    service
        .execute(r#"ALTER TABLE memories ALTER COLUMN vault_id TYPE TEXT COLLATE "en-x-icu""#)
        .await;
    for vault in ["alpha", "Zoo", "beta", "Ape"] {
        Memory::new(&service, vault, "m").write("x").await;
    }

    let listed = json!(service.pages("/v1/vaults?limit=1").await);
    assert_eq!(each(&listed, "vault_id"), ["Ape", "Zoo", "alpha", "beta"]);
}

#[tokio::test]
async fn all_of_a_memory_is_deleted_and_nothing_of_another() {
    let service = Service::start().await;
    let filled = r"
        PUT context < # Notes\n → 201
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because certain: one\n → 200
        POST operations?on_invalid=fail < KEY_LEARNINGS:\n  ADD:\n    - no reason\n → 422";
    service.memory("agent").requests(filled).await;
    // Only its name is left, in the event of the deletion, until events expire.
    let deleted = r#"
        DELETE . → 204 =
        GET context → 404 not-found
        GET contexts → 404 not-found
        GET contexts/1 → 404 not-found
        GET records → 404 not-found
        GET records/KL-1 → 404 not-found
        GET updates → 404 not-found
        DELETE . → 404 not-found
        HOLDING agent-to-go: events
        GET /v1/vaults/acme/memories/agent/records/KL-1 → 200 {"status": "active"}
        ROWS memory_contexts 2
        ROWS updates 2"#;
    let memory = service.memory("agent-to-go");
    memory.requests(&format!("{filled}{deleted}")).await;
    let table = r##"
        § one that is put again starts at version one
        PUT context < # Key Learnings\n- KL-7 because a: b\n → 201 ⇒ old=etag
        DELETE . → 204
        PUT context < # Key Learnings\n → 201 {"version": 1}
        PUT context | If-Match: $old < x → 412 precondition-failed
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because certain: one\n → 200 {"/operations/0/id": "KL-1"}
        § preconditions are checked
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201 ⇒ head=etag
        DELETE . | If-Match: $old → 412 precondition-failed
        DELETE . | If-None-Match: $head → 412 precondition-failed
        DELETE . | If-None-Match: * → 412 precondition-failed
        ROWS memory_contexts 2
        DELETE . | If-Match: $head → 204
        DELETE . | If-Match: * → 412 precondition-failed
        § failed runs without a memory can be deleted
        POST operations?on_invalid=fail < KEY_LEARNINGS:\n  ADD:\n    - no reason\n → 422
        DELETE . → 204
        ROWS updates 0
        DELETE . → 404 not-found"##;
    service.requests(table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_among_writers_leaves_a_complete_memory_or_none() {
    let (service, memory) = Service::start().await.agent();
    memory.write("begin").await;
    for round in 0..10 {
        let writers = (0..6).map(|number| memory.put(format!("text {round} {number}")));
        let deletions = (0..2).map(|_| memory.delete());
        let (puts, deletions) = join(join_all(writers), join_all(deletions)).await;
        for put in puts {
            put.is(201);
        }
        for deletion in deletions {
            assert!(matches!(deletion.status, 204 | 404), "{}", deletion.text());
        }
        let versions: Vec<i64> = service
            .values("SELECT version FROM memory_contexts WHERE vault_id = 'acme' ORDER BY version")
            .await;
        assert!(
            versions.iter().copied().eq((1..).take(versions.len())),
            "{versions:?}"
        );
        assert_eq!(service.count("memories").await, i64::from(!versions.is_empty()));
    }
}

/// A deletion holds the lock of the memory's row when it deletes its search entry, so the indexer must not wait for that lock
/// while it holds the entry's.
#[tokio::test]
async fn an_indexer_that_waits_for_a_deletion_holds_no_lock_that_it_needs() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write("first").await;
    let vault: VaultId = "acme".parse().unwrap();
    service.index_words().await;
    memory.write("second").await;

    let mut deletion = service.rows().begin().await.unwrap();
    sqlx::query("SELECT FROM memories WHERE vault_id = 'acme' FOR UPDATE")
        .execute(&mut *deletion)
        .await
        .unwrap();
    let storage = service.storage().clone();
    let indexing = tokio::spawn(async move { storage.index_vault(&vault).await });
    service.waits_for_locks(1).await;
    sqlx::query("SET LOCAL lock_timeout = '100ms'")
        .execute(&mut *deletion)
        .await
        .unwrap();
    sqlx::query("DELETE FROM memories WHERE vault_id = 'acme'")
        .execute(&mut *deletion)
        .await
        .expect("the entry is free");
    deletion.commit().await.unwrap();
    indexing.await.unwrap().unwrap();
    assert_eq!(service.count("search_entries").await, 0);
}
