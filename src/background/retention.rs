//! Retention in the background: any number of instances may run it at once.

use crate::clock::Clock;
use crate::domain::retention::Retention;
use crate::storage::Storage;
use crate::telemetry::meters;
use chrono::TimeDelta;
use std::sync::Arc;
use std::time::Duration;

/// The pause between two rounds.
const BETWEEN_ROUNDS: Duration = Duration::from_secs(15 * 60);

/// Prunes old versions repeatedly. Ends only by being aborted, which is safe at any time.
pub(super) async fn retention(storage: Storage, clock: Arc<dyn Clock>, retention: Retention) {
    loop {
        match storage.prune_versions(&retention, clock.now()).await {
            Ok(0) => {}
            Ok(versions) => {
                meters::purged("versions", versions);
                tracing::info!(versions, "old versions pruned");
            }
            Err(error) => tracing::warn!(%error, "old versions could not be pruned, trying again later"),
        }
        tokio::time::sleep(BETWEEN_ROUNDS).await;
    }
}

/// Deletes runs that ended more than `max_age` ago, repeatedly.
pub(super) async fn retain_runs(storage: Storage, clock: Arc<dyn Clock>, max_age: TimeDelta) {
    loop {
        if let Some(before) = clock.now().checked_sub_signed(max_age) {
            match storage.prune_runs(before).await {
                Ok(0) => {}
                Ok(runs) => {
                    meters::purged("runs", runs);
                    tracing::info!(runs, "old runs deleted");
                }
                Err(error) => tracing::warn!(%error, "old runs could not be deleted, trying again later"),
            }
        }
        tokio::time::sleep(BETWEEN_ROUNDS).await;
    }
}
