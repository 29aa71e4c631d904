//! Removes what has expired, at intervals. Any number of instances may do so at once, and be interrupted at any time.

use crate::clock::Clock;
use crate::config::retention::RetentionConfig;
use crate::storage::{FailingVaults, Storage, StorageError};
use crate::telemetry::meters;
use chrono::TimeDelta;
use std::sync::Arc;
use std::time::Duration;

/// The interval of what is cheap to look for.
const OFTEN: Duration = Duration::from_secs(60);

/// The interval of what reads whole histories.
const SELDOM: Duration = Duration::from_secs(15 * 60);

/// Rows looked for at once.
const BATCH: i64 = 500;

/// Does `work`, which returns how many rows it removed, for ever.
async fn repeat<F>(every: Duration, what: &'static str, work: impl Fn() -> F)
where
    F: Future<Output = Result<u64, StorageError>>,
{
    loop {
        match work().await {
            Ok(0) => {}
            Ok(rows) => {
                metrics::counter!(meters::PURGED_TOTAL, "what" => what).increment(rows);
                tracing::info!(what, rows, "expired rows removed");
            }
            Err(error) => {
                tracing::warn!(%error, what, "expired rows could not be removed, trying again later")
            }
        }
        // Jitter: instances that start together should not go on together.
        tokio::time::sleep(every.mul_f64(0.5 + fastrand::f64())).await;
    }
}

/// Idempotency keys, prompt items and sessions; and merges the counts of vaults that have many rows of them.
pub(super) async fn rows(storage: Storage) {
    tokio::join!(
        repeat(OFTEN, "idempotency_keys", || storage.purge_keys(BATCH)),
        repeat(OFTEN, "prompt_items", || storage.purge_items(BATCH)),
        repeat(OFTEN, "sessions", || storage.purge_sessions()),
        repeat(OFTEN, "vault_storage", || async {
            storage.sum_up_stored(BATCH).await.map(|_| 0)
        }),
    );
}

/// Old versions.
pub(super) async fn versions(storage: Storage, clock: Arc<dyn Clock>, retention: RetentionConfig) {
    let prune = || storage.prune_versions(&retention, clock.now());
    repeat(SELDOM, "versions", prune).await;
}

/// Runs that ended more than `max_age` ago.
pub(super) async fn runs(storage: Storage, clock: Arc<dyn Clock>, max_age: TimeDelta) {
    let prune = || storage.prune_runs(clock.now() - max_age);
    repeat(SELDOM, "runs", prune).await;
}

/// Proposals that have waited longer than `expire_after`. One that is not expired yet is refused by its age.
pub(super) async fn proposals(storage: Storage, clock: Arc<dyn Clock>, expire_after: TimeDelta) {
    let expire = || storage.expire_proposals(clock.now() - expire_after, BATCH);
    repeat(OFTEN, "proposals", expire).await;
}

/// Events older than `keep`, vault by vault. It also numbers those that were not read yet, so that the next reader of a vault
/// has few to number.
pub(super) async fn events(storage: Storage, clock: Arc<dyn Clock>, keep: TimeDelta) {
    let round = || async {
        let mut deleted = 0;
        let mut failing = FailingVaults::new("events");
        let mut vault = None;
        while let Some(next) = storage.next_vault_with_events(vault.as_ref()).await? {
            let done = async {
                storage.sequence_events(&next).await?;
                storage.purge_events(&next, clock.now() - keep).await
            };
            deleted += failing.pass_over(next.as_str(), done.await)?.unwrap_or_default();
            vault = Some(next);
        }
        Ok(deleted)
    };
    repeat(OFTEN, "events", round).await;
}
