//! Ends proposals that have waited for too long.

use crate::clock::Clock;
use crate::storage::{FailingVaults, Storage};
use crate::telemetry::meters;
use chrono::TimeDelta;
use std::sync::Arc;
use std::time::Duration;

/// How often to look.
const EVERY: Duration = Duration::from_secs(60);

/// How many to end at once: short transactions, however many there are.
const BATCH: u16 = 500;

/// Ends them for as long as it is polled. Until then an old one is refused all the same, by its age.
pub(super) async fn expire(storage: Storage, clock: Arc<dyn Clock>, expire_after: TimeDelta) {
    let mut failing = FailingVaults::new("proposals");
    loop {
        // Instances that start together need not come together for ever.
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
                    tracing::warn!(%error, "old proposals could not be ended, trying again later");
                    break;
                }
            }
        }
    }
}
