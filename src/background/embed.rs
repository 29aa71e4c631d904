//! Keeps what searches by meaning read behind the writers and behind the full text.

use crate::pipeline::meaning::{Meaning, Pass};
use crate::storage::Storage;
use std::time::Duration;

/// How long to wait for a write before looking nevertheless.
const IDLE: Duration = Duration::from_secs(2);

/// How long to wait after a write: its words come first, and a burst is embedded together.
const GATHER: Duration = Duration::from_millis(300);

/// How long to wait after a failure, at first and at most.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Embeds for as long as it is polled.
pub(super) async fn embed(storage: Storage, meaning: Meaning) {
    let mut wait = AFTER_FAILURE;
    loop {
        match meaning.index().await {
            Ok(Pass::Done) => {
                wait = AFTER_FAILURE;
                storage.indexed(IDLE).await;
                tokio::time::sleep(GATHER).await;
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
