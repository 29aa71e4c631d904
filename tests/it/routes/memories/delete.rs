//! `DELETE M`

use crate::harness::{Answer, Service};
use working_memory::domain::ids::VaultId;

const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because certain: one\n";

#[tokio::test]
async fn all_of_a_memory_is_deleted_and_nothing_of_another() {
    let service = Service::start().await;
    let (memory, other) = (service.memory("agent-to-go"), service.memory("agent"));
    for memory in [&memory, &other] {
        memory.write("# Notes\n").await;
        memory.applied(ADD).await;
        Answer::to(memory.applying("?on_invalid=fail", "KEY_LEARNINGS:\n  ADD:\n    - no reason\n"))
            .await
            .is(422);
    }

    let deleted = memory.delete().await.is(204);

    assert!(deleted.body.is_empty());
    for below in "context contexts contexts/1 records records/KL-1 updates".split(' ') {
        memory.get(below).await.missing();
    }
    memory.delete().await.missing();
    // Only its name is left, in the event of the deletion, until events expire.
    assert_eq!(service.tables_that_hold("agent-to-go").await, ["events"]);
    assert_eq!(other.read("records/KL-1").await["status"], "active");
    assert_eq!(service.counts(["memory_contexts", "updates"]).await, [2, 2]);
}

#[tokio::test]
async fn a_memory_put_again_starts_at_version_one() {
    let (_, memory) = Service::start().await.agent();
    let old = memory.put("# Key Learnings\n- KL-7 because a: b\n").await.is(201);
    memory.delete().await.is(204);
    let new = memory.put("# Key Learnings\n").await.is(201);
    assert_eq!(new.json()["version"], 1);
    assert_ne!(new.header("etag"), old.header("etag"));
    let stale = memory.putting("x").header("If-Match", old.header("etag"));
    Answer::to(stale).await.stale();
    assert_eq!(memory.applied(ADD).await["operations"][0]["id"], "KL-1");
}

#[tokio::test]
async fn preconditions_are_checked() {
    let (_, memory) = Service::start().await.agent();
    let table = "
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201 ⇒ head=etag
        DELETE . | If-Match: $old → 412 precondition-failed
        DELETE . | If-None-Match: $head → 412 precondition-failed
        DELETE . | If-None-Match: * → 412 precondition-failed
        ROWS memory_contexts 2
        DELETE . | If-Match: $head → 204
        DELETE . | If-Match: * → 412 precondition-failed";
    memory.requests(table).await;
}

#[tokio::test]
async fn failed_runs_without_a_memory_can_be_deleted() {
    let (_, memory) = Service::start().await.agent();
    let table = r"
        POST operations?on_invalid=fail < KEY_LEARNINGS:\n  ADD:\n    - no reason\n → 422
        DELETE . → 204
        ROWS updates 0
        DELETE . → 404 not-found";
    memory.requests(table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_among_writers_leaves_a_complete_memory_or_none() {
    let (service, memory) = Service::start().await.agent();
    memory.write("begin").await;
    for round in 0..10 {
        let writers = (0..6).map(|number| memory.put(format!("text {round} {number}")));
        let deletions = (0..2).map(|_| memory.delete());
        let (puts, deletions) = futures::future::join(
            futures::future::join_all(writers),
            futures::future::join_all(deletions),
        )
        .await;
        for put in puts {
            put.is(201);
        }
        for deletion in deletions {
            assert!(matches!(deletion.status, 204 | 404), "{}", deletion.text());
        }
        let versions: Vec<i64> = service
            .values("SELECT version FROM memory_contexts WHERE vault_id = 'acme' ORDER BY version")
            .await;
        assert_eq!(
            versions,
            (1..=i64::try_from(versions.len()).unwrap()).collect::<Vec<_>>()
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
