//! Expires proposals that have waited too long.

use crate::clock::Clock;
use crate::storage::{FailingVaults, Storage};
use crate::telemetry::meters;
use chrono::TimeDelta;
use std::sync::Arc;
use std::time::Duration;

/// The interval between two runs.
const EVERY: Duration = Duration::from_secs(60);

/// Proposals per transaction, so that transactions are short.
const BATCH: u16 = 500;

/// Expires proposals while it is polled. An older one that is not expired yet is rejected by its age.
pub(super) async fn expire(storage: Storage, clock: Arc<dyn Clock>, expire_after: TimeDelta) {
    let mut failing = FailingVaults::new("proposals");
    loop {
        // Jitter: instances that start together should not run together.
        tokio::time::sleep(EVERY.mul_f64(0.5 + fastrand::f64())).await;
        loop {
            match storage
                .expire_proposals(clock.now() - expire_after, BATCH.into(), &mut failing)
                .await
            {
                Ok(expired) => {
                    meters::purged("proposals", expired);
                    if expired < BATCH.into() {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "old proposals could not be expired, trying again later");
                    break;
                }
            }
        }
    }
}
