//! Indexes new versions as full text, after they were written: catches up at the start, is notified of every write of
//! this instance, and polls for versions that other instances wrote but did not index before they ended.
//!
//! A vault that cannot be indexed does not stop the others. If the statement over all vaults fails, the vaults that
//! notifications name are indexed one by one.
//!
//! Embedding follows the full text.

use crate::clock::Clock;
use crate::domain::ids::VaultId;
use crate::pipeline::meaning::{Meaning, Pass};
use crate::storage::database::notification::Notification;
use crate::storage::search::Pending;
use crate::storage::{FailingVaults, Storage, StorageError};
use crate::telemetry;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

/// The polling interval without notifications.
const IDLE: Duration = Duration::from_millis(800);

/// The delay after a write, so that a burst of writes is indexed together.
const BATCH_DELAY: Duration = Duration::from_millis(25);

/// The pause after a batch while documents are being saved, in multiples of the batch's duration, and its maximum:
/// it leaves the database to the writers.
const PAUSE_PER_BATCH: u32 = 8;
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The pause after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Indexes while it is polled.
pub(super) async fn index(storage: Storage, clock: Arc<dyn Clock>) {
    let mut failing = FailingVaults::new("search");
    let mut notifications = storage.notifications();
    let mut written = BTreeSet::new();
    loop {
        named(&mut notifications, &mut written);
        let begun = Instant::now();
        match pass(&storage, &*clock, &mut failing).await {
            Ok(()) => {
                written.clear();
                // The more memories are pending, the longer a query for them takes.
                let pause = (begun.elapsed() * PAUSE_PER_BATCH).min(LONGEST_PAUSE);
                storage.written(IDLE).await;
                tokio::time::sleep(BATCH_DELAY.max(pause)).await;
            }
            Err(error) => {
                tracing::warn!(%error, "documents could not be indexed, trying again");
                index_named(&storage, &mut written, &mut failing).await;
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Adds the vaults that notifications name as written.
fn named(notifications: &mut Receiver<Notification>, vaults: &mut BTreeSet<VaultId>) {
    loop {
        match notifications.try_recv() {
            Ok(notification) if notification.version.is_some() => {
                vaults.insert(notification.vault);
            }
            // Missed notifications are covered by the pass over all vaults.
            Ok(_) | Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return,
        }
    }
}

/// Indexes vault by vault, while the statement over all vaults fails.
async fn index_named(storage: &Storage, vaults: &mut BTreeSet<VaultId>, failing: &mut FailingVaults) {
    while let Some(vault) = vaults.pop_first() {
        if failing.waits(vault.as_str()) {
            continue;
        }
        let done = storage.index_vault(&vault).await;
        if failing.pass_over(vault.as_str(), done).is_err() {
            return;
        }
    }
}

/// One pass over all memories that are not indexed yet, in key order, so that none is starved by
/// others that are written all the time.
async fn pass(storage: &Storage, clock: &dyn Clock, failing: &mut FailingVaults) -> Result<(), StorageError> {
    let mut last: Option<Pending> = None;
    let mut lag = Duration::ZERO;
    loop {
        let mut batch = storage.pending_for_search(None, last.as_ref()).await?;
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
        batch.retain(|pending| !failing.waits(pending.vault.as_str()));
        index_batch(storage, &batch, failing).await?;
        if storage.is_saving() {
            // A search indexes the pending memories of its vault; writers get the time of this pause.
            tokio::time::sleep((begun.elapsed() * PAUSE_PER_BATCH).min(LONGEST_PAUSE)).await;
        }
        last = Some(end);
    }
}

/// Indexes a batch together or, if that fails, vault by vault, so that the others are indexed.
async fn index_batch(
    storage: &Storage,
    batch: &[Pending],
    failing: &mut FailingVaults,
) -> Result<(), StorageError> {
    let Some(first) = batch.first() else { return Ok(()) };
    if batch.iter().any(|pending| pending.vault != first.vault) && storage.index_memories(batch).await.is_ok()
    {
        return Ok(());
    }
    for of_vault in batch.chunk_by(|one, next| one.vault == next.vault) {
        let done = storage.index_memories(of_vault).await;
        failing.pass_over(of_vault[0].vault.as_str(), done)?;
    }
    Ok(())
}

/// The polling interval of embedding without notifications.
const EMBEDDING_IDLE: Duration = Duration::from_secs(2);

/// The delay after a write: the full text is indexed first, and a burst of writes is embedded together.
const EMBEDDING_DELAY: Duration = Duration::from_millis(300);

/// The longest backoff after failures of the model; the first is [`AFTER_FAILURE`].
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Embeds while it is polled.
pub(super) async fn embed(storage: Storage, meaning: Meaning) {
    let mut wait = AFTER_FAILURE;
    loop {
        match meaning.index().await {
            Ok(Pass::Done) => {
                wait = AFTER_FAILURE;
                storage.indexed(EMBEDDING_IDLE).await;
                tokio::time::sleep(EMBEDDING_DELAY).await;
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
