//! Keeps the full text behind the writers: catches up at the start, wakes up at every write of this instance, and
//! looks by itself for what other instances wrote and could not index before they ended.

use crate::clock::Clock;
use crate::storage::search::Pending;
use crate::storage::{Storage, StorageError};
use crate::telemetry;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to wait for a write before looking nevertheless.
const IDLE: Duration = Duration::from_millis(800);

/// How long to wait after a write, so that a burst of them is indexed together.
const GATHER: Duration = Duration::from_millis(25);

/// How long to rest after a batch while documents are being saved, in multiples of the time that the batch took, and at
/// most: the database is theirs then.
const PAUSE_PER_BATCH: u32 = 8;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How long to wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Indexes for as long as it is polled.
pub(super) async fn index(storage: Storage, clock: Arc<dyn Clock>) {
    loop {
        let begun = Instant::now();
        match pass(&storage, &*clock).await {
            Ok(()) => {
                // The more memories rest, the longer a look at them takes.
                let pause = (begun.elapsed() * PAUSE_PER_BATCH).min(LONGEST_PAUSE);
                storage.written(IDLE).await;
                tokio::time::sleep(GATHER.max(pause)).await;
            }
            Err(error) => {
                tracing::warn!(%error, "documents could not be indexed, trying again");
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Once through all memories that have still to be indexed, in the order of their keys, so that none waits because
/// others are written all the time.
async fn pass(storage: &Storage, clock: &dyn Clock) -> Result<(), StorageError> {
    let mut last: Option<Pending> = None;
    let mut lag = Duration::ZERO;
    loop {
        let batch = storage.pending_for_search(None, last.as_ref()).await?;
        let now = clock.now();
        let waited = batch.iter().map(|pending| now - pending.changed_at);
        lag = waited
            .filter_map(|time| time.to_std().ok())
            .fold(lag, Duration::max);
        metrics::gauge!(telemetry::SEARCH_LAG_SECONDS).set(lag.as_secs_f64());
        let Some(end) = batch.last().cloned() else {
            return Ok(());
        };
        let begun = Instant::now();
        storage.index_memories(&batch).await?;
        if storage.is_saving() {
            // A search indexes what its vault still needs; writers cannot be helped otherwise.
            tokio::time::sleep((begun.elapsed() * PAUSE_PER_BATCH).min(LONGEST_PAUSE)).await;
        }
        last = Some(end);
    }
}
