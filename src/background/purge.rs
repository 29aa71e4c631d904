//! Deletes expired rows.

use crate::storage::Storage;
use crate::telemetry::meters;
use std::time::Duration;

/// The interval between two runs.
const EVERY: Duration = Duration::from_secs(60);

/// Rows per transaction, so that transactions are short.
const BATCH: u16 = 500;

/// Purges while it is polled.
pub(super) async fn purge(storage: Storage) {
    loop {
        // Jitter: instances that start together should not run together.
        tokio::time::sleep(EVERY.mul_f64(0.5 + fastrand::f64())).await;
        match purge_keys(&storage).await {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "expired idempotency keys deleted"),
            Err(error) => tracing::warn!(%error, "expired idempotency keys could not be deleted"),
        }
        if let Err(error) = storage.sum_up_stored().await {
            tracing::warn!(%error, "counts of vaults could not be merged");
        }
        match purge_items(&storage).await {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "expired prompt items deleted"),
            Err(error) => tracing::warn!(%error, "expired prompt items could not be deleted"),
        }
        match storage.purge_sessions().await {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "expired sessions deleted"),
            Err(error) => tracing::warn!(%error, "expired sessions could not be deleted"),
        }
    }
}

async fn purge_keys(storage: &Storage) -> Result<u64, crate::storage::StorageError> {
    let mut total = 0;
    loop {
        let deleted = storage.purge_keys(BATCH.into()).await?;
        total += deleted;
        meters::purged("idempotency_keys", deleted);
        if deleted < BATCH.into() {
            return Ok(total);
        }
    }
}

async fn purge_items(storage: &Storage) -> Result<u64, crate::storage::StorageError> {
    let mut total = 0;
    loop {
        let deleted = storage.purge_items(BATCH.into()).await?;
        total += deleted;
        if deleted < BATCH.into() {
            return Ok(total);
        }
    }
}
