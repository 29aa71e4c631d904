//! Jobs over all vaults continue with the other vaults when one fails: because of a trigger that raises, or of a locked row.

use crate::harness::{Answer, EmbeddingServer, Memory, Service, eventually, holds};
use crate::pipeline::dictated::{Dictated, dictate, learning};
use chrono::TimeDelta;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use working_memory::background::Background;
use working_memory::clock::{Clock, SystemClock};
use working_memory::config::retention::RetentionConfig;

/// The first vault in the order: a job that stops at it never reaches the others.
const BROKEN: &str = "a-broken";

/// From now on this raises an error for the broken vault.
async fn break_vault(service: &Service, event_and_table: &str) {
    let statements = format!(
        "CREATE OR REPLACE FUNCTION broken() RETURNS TRIGGER LANGUAGE plpgsql AS $$
         BEGIN
             IF COALESCE(NEW.vault_id, OLD.vault_id) = '{BROKEN}' THEN RAISE 'broken'; END IF;
             RETURN COALESCE(NEW, OLD);
         END $$;
         CREATE TRIGGER broken BEFORE {event_and_table} FOR EACH ROW EXECUTE FUNCTION broken();"
    );
    service.execute(statements).await;
}

/// The background tasks, whose time passes.
fn background(service: &Service) -> Background {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Background::start(service.storage(), &clock, &RetentionConfig::default())
}

async fn is_pending(service: &Service, vault: &str) -> bool {
    let pending =
        sqlx::query_scalar("SELECT count(*) > 0 FROM memories WHERE vault_id = $1 AND search_pending");
    pending.bind(vault).fetch_one(service.rows()).await.unwrap()
}

async fn is_indexed(service: &Service, vault: &str) {
    eventually(vault, async || !is_pending(service, vault).await).await;
}

/// Writes these texts into a memory of each vault.
async fn write(service: &Service, vaults: &[&str], texts: &[&str]) {
    for vault in vaults {
        let memory = Memory::new(service, vault, "agent");
        for text in texts {
            memory.write(*text).await;
        }
    }
}

#[tokio::test]
async fn a_vault_that_cannot_be_indexed_does_not_block_others_and_is_indexed_later() {
    let service = Service::start().await;
    break_vault(&service, "INSERT OR UPDATE ON search_entries").await;
    write(&service, &[BROKEN, "b-sound", "c-sound"], &["a parser\n"]).await;
    let background = background(&service);
    is_indexed(&service, "b-sound").await;
    is_indexed(&service, "c-sound").await;
    assert!(is_pending(&service, BROKEN).await);
    let metrics = service.get("/metrics").await;
    holds(metrics.text(), &["vaults_passed_over_total{work=\"search\"}"]);
    service.execute("DROP TRIGGER broken ON search_entries").await;
    is_indexed(&service, BROKEN).await;
    background.stop().await;
}

#[tokio::test]
async fn writes_are_indexed_by_vault_while_the_query_over_all_memories_fails() {
    let service = Service::start().await;
    write(&service, &[BROKEN], &["a parser\n"]).await;
    // As with a shard whose server is unreachable: every access to one of its rows fails.
    service
        .execute(
            "ALTER TABLE memories RENAME TO reachable_memories;
         CREATE FUNCTION reached(vault text) RETURNS boolean LANGUAGE plpgsql COST 1000000 AS $$
         BEGIN
             IF vault = 'a-broken' THEN RAISE 'broken'; END IF;
             RETURN TRUE;
         END $$;
         CREATE VIEW memories AS SELECT * FROM reachable_memories WHERE reached(vault_id);",
        )
        .await;
    let background = background(&service);
    let all = service.storage().pending_for_search(None, None).await;
    assert!(all.is_err(), "{all:?}");
    write(&service, &["b-sound"], &["a parser\n"]).await;
    is_indexed(&service, "b-sound").await;

    service
        .execute("DROP VIEW memories; ALTER TABLE reachable_memories RENAME TO memories;")
        .await;
    is_indexed(&service, BROKEN).await;
    background.stop().await;
}

#[tokio::test]
async fn a_locked_row_does_not_block_indexing_of_other_vaults() {
    let service = Service::start().await;
    write(&service, &[BROKEN, "b-sound"], &["a parser\n"]).await;
    let mut locking = service.rows().begin().await.unwrap();
    sqlx::query("SELECT FROM memories WHERE vault_id = $1 FOR UPDATE")
        .bind(BROKEN)
        .execute(&mut *locking)
        .await
        .unwrap();
    let background = background(&service);
    is_indexed(&service, "b-sound").await;
    locking.rollback().await.unwrap();
    is_indexed(&service, BROKEN).await;
    background.stop().await;
}

#[tokio::test]
async fn updates_that_cannot_be_claimed_do_not_block_other_vaults() {
    let service = Dictated::new().service().await;
    let body = dictate(json!({ "learnings": learning("insight 1") }));
    let [broken, sound] = [BROKEN, "b-sound"].map(|vault| Memory::new(&service, vault, "agent"));
    let (of_broken, of_sound) = (broken.queued(&body).await, sound.queued(&body).await);
    break_vault(&service, "UPDATE ON updates").await;
    let workers = service.work(Duration::from_secs(30));
    let is_applied = async |memory: &Memory, id: &str| memory.read(id).await["status"] == "applied";
    eventually("the other is run", async || is_applied(&sound, &of_sound).await).await;
    assert_eq!(broken.read(&of_broken).await["status"], "queued");
    service.execute("DROP TRIGGER broken ON updates").await;
    eventually("it is tried again", async || {
        is_applied(&broken, &of_broken).await
    })
    .await;
    service.stop();
    workers.stopped().await;
}

#[tokio::test]
async fn retention_continues_after_a_vault_that_fails() {
    let service = Service::start().await;
    write(&service, &[BROKEN, "b-sound"], &["one\n", "two\n", "three\n"]).await;
    break_vault(&service, "DELETE ON memory_contexts").await;
    assert_eq!(service.prune(1, false).await, 2);
    service.execute("DROP TRIGGER broken ON memory_contexts").await;
    assert_eq!(service.prune(1, false).await, 2);

    for vault in [BROKEN, "b-sound"] {
        let memory = Memory::new(&service, vault, "agent");
        memory.learns("it was seen: an insight").await;
    }
    break_vault(&service, "DELETE ON updates").await;
    let later = service.clock.now() + TimeDelta::days(1);
    assert_eq!(service.storage().prune_runs(later).await.unwrap(), 1);
    service.execute("DROP TRIGGER broken ON updates").await;
    assert_eq!(service.storage().prune_runs(later).await.unwrap(), 1);
}

/// Three rows of the broken vault fill each batch, before the one of another.
#[tokio::test]
async fn expired_rows_of_a_vault_that_fails_do_not_hide_those_of_others() {
    let service = Service::start().await;
    for (vault, keys) in [(BROKEN, 0..3), ("b-sound", 3..4)] {
        let memory = Memory::new(&service, vault, "agent");
        for key in keys {
            let putting = memory.putting("one").header("Idempotency-Key", format!("k{key}"));
            Answer::to(putting).await;
            let item = json!([{"content": "x", "expires_at": format!("2026-11-21T03:00:0{key}Z")}]);
            let path = memory.path(&format!("items/category{key}"));
            service.put_json(&path, &item).await.is(200);
        }
        service.clock.advance(Duration::from_secs(1));
    }
    service
        .execute(
            "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at,
                                  base_version, request, exchanges, outcome)
             SELECT vault, 'agent', 'u' || number, 'update', 'proposed', 'a', '2026-11-21', '2026-11-21', 0, '{}', '[]', '{}'
             FROM (VALUES ('a-broken', 1), ('a-broken', 2), ('a-broken', 3), ('b-sound', 4)) AS given (vault, number)",
        )
        .await;
    service
        .execute(
            "INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
             SELECT vault, 'c' || number, 0, 0 FROM (VALUES ('a-broken'), ('b-sound')) AS given (vault), generate_series(1, 70) AS number",
        )
        .await;
    for event_and_table in [
        "DELETE ON idempotency_keys",
        "DELETE ON prompt_items",
        "UPDATE ON updates",
        "DELETE ON vault_storage",
    ] {
        break_vault(&service, event_and_table).await;
    }
    service.clock.advance(Duration::from_secs(2 * 86_400));
    let (storage, now) = (service.storage(), service.clock.now());
    assert_eq!(storage.purge_keys(3).await.unwrap(), 1);
    assert_eq!(storage.purge_items(3).await.unwrap(), 1);
    assert_eq!(storage.expire_proposals(now, 3).await.unwrap(), 1);
    assert_eq!(storage.sum_up_stored(1).await.unwrap(), 1);
    for table in ["idempotency_keys", "prompt_items"] {
        assert_eq!(service.count(table).await, 3, "{table}");
    }
}

#[tokio::test]
async fn vectors_of_the_earlier_model_stay_while_a_vault_cannot_be_embedded_with_the_new_one() {
    let server = EmbeddingServer::start().await;
    let service = Service::configured(server.configure("one")).await;
    let vaults = [BROKEN, "b-sound"];
    write(&service, &vaults, &["# Facts\nThe automobile leaks.\n"]).await;
    for vault in vaults {
        let vault = vault.parse().unwrap();
        service.storage().index_vault(&vault).await.unwrap();
    }
    service.meaning().index().await.unwrap();
    assert_eq!(service.count("search_vectors").await, 2);
    break_vault(&service, "INSERT OR UPDATE ON search_vectors").await;
    let other = Service::start_at(service.database(), server.configure("two"), None).await;
    other.clock.advance(Duration::from_secs(60));
    other.meaning().index().await.unwrap();
    assert_eq!(
        service.count("search_vectors").await,
        3,
        "the sound vault has both"
    );
    service.execute("DROP TRIGGER broken ON search_vectors").await;
    other.meaning().index().await.unwrap();
    assert_eq!(service.count("search_vectors").await, 2, "both have the new ones");
}
