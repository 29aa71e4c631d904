//! The storage of a vault is counted by every change, and may be limited.

use super::{of, put};
use crate::harness::{Answer, Memory, Service, has};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// What `GetUsage` returns, which must match the stored rows.
async fn held(service: &Service, vault: &str) -> (i64, i64) {
    let usage = service.read(&format!("/v1/vaults/{vault}/usage")).await;
    let member = |name: &str| usage[name].as_i64().unwrap();
    let reported = (member("memories"), member("bytes"));
    let there = "SELECT count(DISTINCT memory_id), COALESCE(sum(bytes) FILTER (WHERE redacted_at IS NULL), 0)
                 FROM memory_contexts WHERE vault_id = $1";
    let there = sqlx::query_as(there).bind(vault).fetch_one(service.rows());
    assert_eq!(reported, there.await.unwrap());
    reported
}

#[tokio::test]
async fn everything_that_stores_or_removes_texts_is_counted() {
    let service = Service::start().await;
    assert_eq!(held(&service, "v").await, (0, 0));
    put(&service, "v", "a", "# One\n").await.is(201);
    put(&service, "v", "a", "# One\n\ntwo\n").await.is(201);
    put(&service, "v", "b", "# B\n").await.is(201);
    let task = of(&service, Method::POST, "v", "a/tasks").json(&json!({"intent": "i", "summary": "s"}));
    assert!(Answer::to(task).await.status < 300);
    let (memories, bytes) = held(&service, "v").await;
    assert!(memories == 2 && bytes > 20);

    let redact = of(&service, Method::POST, "v", "a/contexts/1/redact").json(&json!({"reason": "r"}));
    Answer::to(redact).await.is(200);
    assert_eq!(held(&service, "v").await, (2, bytes - 6));

    service.clock.advance(Duration::from_secs(3_600));
    service.prune(1, false).await;
    let (_, pruned) = held(&service, "v").await;
    assert!(pruned < bytes - 6);

    Answer::to(of(&service, Method::DELETE, "v", "a")).await.is(204);
    assert_eq!(held(&service, "v").await, (1, 4));
    for n in 0..70 {
        put(&service, "v", "b", format!("# B\n{n}\n")).await.is(201);
    }
    let before = held(&service, "v").await;
    service.storage().sum_up_stored(100).await.unwrap();
    assert_eq!(held(&service, "v").await, before);
    assert_eq!(service.count("vault_storage").await, 1);
}

#[tokio::test]
async fn a_vault_over_its_quota_rejects_writes_and_accepts_deletions() {
    let service = Service::configured(|config| {
        config.limits.vault_memories = Some(2);
        config.limits.vault_bytes = Some(100);
    })
    .await;
    let text = |letter: &str, count: usize| "# A\n".to_owned() + &letter.repeat(count);
    put(&service, "v", "a", text("x", 50)).await.is(201);
    put(&service, "v", "b", "# B\n").await.is(201);

    let third = put(&service, "v", "c", "# C\n").await.problem(507, "quota", None);
    has(&third, json!({"limit_name": "limits.vault_memories", "limit": 2}));
    let larger = put(&service, "v", "a", text("y", 50))
        .await
        .problem(507, "quota", None);
    has(&larger, json!({"limit_name": "limits.vault_bytes", "limit": 100}));
    let learned = "KEY_LEARNINGS:\n  ADD:\n    - because of this: that, at some length, and more\n";
    let refused = Memory::new(&service, "v", "b").apply(learned).await;
    refused.problem(507, "quota", None);
    assert_eq!(service.counts(["memory_contexts", "memories"]).await, [2, 2]);

    let usage: Value = service.read("/v1/vaults/v/usage").await;
    has(&usage, json!({"memories_limit": 2, "bytes_limit": 100}));
    put(&service, "w", "c", "# C\n").await.is(201);
    Answer::to(of(&service, Method::DELETE, "v", "a")).await.is(204);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    put(&service, "v", "c", "# C\n").await.is(201);
}

#[tokio::test]
async fn a_write_that_is_decided_twice_takes_its_room_once() {
    let service = Service::configured(|config| config.limits.vault_bytes = Some(100)).await;
    put(&service, "v", "a", "# A\n").await.is(201);
    // Held by somebody else, so that the optimistic write is passed over and decided again under the lock.
    let mut holder = service.rows().begin().await.unwrap();
    let lock = sqlx::query("SELECT FROM memories WHERE vault_id = 'v' FOR UPDATE");
    lock.execute(&mut *holder).await.unwrap();
    let release = async {
        service.waits_for_locks(1).await;
        holder.rollback().await.unwrap();
    };

    let text = |letter: &str, count: usize| "# A\n".to_owned() + &letter.repeat(count);
    let (second, ()) = tokio::join!(put(&service, "v", "a", text("x", 56)), release);

    second.is(201);
    put(&service, "v", "a", text("y", 30)).await.is(201);
    let refused = put(&service, "v", "a", "# A\nmore").await;
    refused.problem(507, "quota", None);
}

#[tokio::test]
async fn a_deletion_makes_room_at_once() {
    let service = Service::configured(|config| config.limits.vault_bytes = Some(100)).await;
    let text = || "# A\n".to_owned() + &"x".repeat(90);
    put(&service, "v", "a", text()).await.is(201);
    Answer::to(of(&service, Method::DELETE, "v", "a")).await.is(204);
    put(&service, "v", "b", text()).await.is(201);
}

#[tokio::test]
async fn new_files_of_the_memory_tool_take_room() {
    let service = Service::configured(|config| config.limits.vault_memories = Some(1)).await;
    let file = |name: &str| {
        let path = format!("/v1/vaults/v/memory-tool/files?root=r&path=/memories/{name}");
        let request = service.request(Method::PUT, &path);
        Answer::to(request.header("Content-Type", "text/plain").body("x"))
    };
    file("a").await.is(201);
    file("b").await.problem(507, "quota", None);
    assert_eq!(service.count("memories").await, 1);
}
