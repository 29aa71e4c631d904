//! Embeds new versions in the background, after they were written and indexed as full text.

use crate::pipeline::meaning::{Meaning, Pass};
use crate::storage::Storage;
use std::time::Duration;

/// The polling interval without notifications.
const IDLE: Duration = Duration::from_secs(2);

/// The delay after a write: the full text is indexed first, and a burst of writes is embedded together.
const BATCH_DELAY: Duration = Duration::from_millis(300);

/// The backoff after a failure: first and longest.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Embeds while it is polled.
pub(super) async fn embed(storage: Storage, meaning: Meaning) {
    let mut wait = AFTER_FAILURE;
    loop {
        match meaning.index().await {
            Ok(Pass::Done) => {
                wait = AFTER_FAILURE;
                storage.indexed(IDLE).await;
                tokio::time::sleep(BATCH_DELAY).await;
            }
            Ok(Pass::Idle) => tokio::time::sleep(LONGEST_WAIT).await,
            Err(error) => {
                tracing::warn!(%error, "memories could not be embedded, trying again");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }
}
