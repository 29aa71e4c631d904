//! Deletes expired events, vault by vault, and numbers events that were not read yet, so that the
//! next reader of a vault has few to number.

use crate::clock::Clock;
use crate::storage::{FailingVaults, Storage, StorageError};
use chrono::TimeDelta;
use std::sync::Arc;
use std::time::Duration;

/// The interval between two runs.
const EVERY: Duration = Duration::from_secs(60);

/// Purges while it is polled.
pub(super) async fn events(storage: Storage, clock: Arc<dyn Clock>, keep: TimeDelta) {
    loop {
        // Jitter: instances that start together should not run together.
        tokio::time::sleep(EVERY.mul_f64(0.5 + fastrand::f64())).await;
        match round(&storage, &*clock, keep).await {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "old events deleted"),
            Err(error) => tracing::warn!(%error, "old events could not be deleted, trying again later"),
        }
    }
}

async fn round(storage: &Storage, clock: &dyn Clock, keep: TimeDelta) -> Result<u64, StorageError> {
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
}
