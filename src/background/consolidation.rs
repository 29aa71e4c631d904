//! Consolidations that begin by themselves, and the archiving of what has expired. Any number of instances may run both.

use crate::config::consolidation::ConsolidationConfig;
use crate::domain::ids::{MemoryId, VaultId};
use crate::pipeline::{Pipeline, PipelineError};
use crate::storage::database::notification::Notification;
use crate::storage::{FailingVaults, Storage, StorageError};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Memories that are remembered until the next look; one above is seen after its next change.
const MAX_CHANGED: usize = 100_000;

/// Records that are read at once.
const PAGE: i64 = 1_000;

/// Rounds between two looks for expired records.
const ROUNDS_PER_SWEEP: u32 = 10;

/// Queues consolidations of memories that have changed and are due, and archives expired records, as configured.
pub(super) async fn consolidation(storage: Storage, pipeline: Pipeline, settings: ConsolidationConfig) {
    let mut failing = FailingVaults::new("consolidation");
    let mut notifications = storage.notifications();
    let mut changed = BTreeSet::new();
    let every = Duration::from_secs(settings.poll_seconds.into());
    for round in 0_u32.. {
        // Jitter: instances that start together should not look together.
        let until = tokio::time::Instant::now() + every.mul_f64(0.5 + 0.5 * fastrand::f64());
        while tokio::time::timeout_at(until, note(&mut notifications, &mut changed))
            .await
            .is_ok()
        {}
        if settings.is_automatic() {
            queue_due(&pipeline, &mut changed, &mut failing).await;
        } else {
            changed.clear();
        }
        if settings.archive_expired && round % ROUNDS_PER_SWEEP == 0 {
            archive_expired(&storage, &pipeline, &mut failing).await;
        }
    }
}

/// Waits for the next notification and remembers the memory that it is about.
async fn note(notifications: &mut Receiver<Notification>, changed: &mut BTreeSet<(VaultId, MemoryId)>) {
    match notifications.recv().await {
        Ok(notification) if notification.version.is_some() && changed.len() < MAX_CHANGED => {
            changed.insert((notification.vault, notification.memory));
        }
        Err(RecvError::Closed) => std::future::pending().await,
        // What was missed is seen after the memory's next change.
        _ => {}
    }
}

/// Takes the memories that it has decided about out of `changed`: where the database failed, or the vault has used its tokens,
/// they are looked at again.
async fn queue_due(
    pipeline: &Pipeline,
    changed: &mut BTreeSet<(VaultId, MemoryId)>,
    failing: &mut FailingVaults,
) {
    for (vault, memory) in changed.clone() {
        if failing.waits(vault.as_str()) {
            continue;
        }
        let queued = pipeline.consolidate_if_due(&vault, &memory).await;
        let is_decided = queued.is_ok();
        match failing.pass_over(vault.as_str(), unless_refused(queued)) {
            Ok(Some(_)) if is_decided => {
                changed.remove(&(vault, memory));
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// What failed in the database. A memory that is refused, for a full queue or a spent budget, is looked at again later.
fn unless_refused<T: Default>(done: Result<T, PipelineError>) -> Result<T, StorageError> {
    match done {
        Ok(done) => Ok(done),
        Err(PipelineError::Storage(error)) => Err(error),
        Err(refused) => {
            tracing::debug!(%refused, "a memory was not consolidated");
            Ok(T::default())
        }
    }
}

async fn archive_expired(storage: &Storage, pipeline: &Pipeline, failing: &mut FailingVaults) {
    let mut last = None;
    loop {
        let page = match storage.ending_records(last.as_ref(), PAGE).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "expired records could not be looked for, trying again later");
                return;
            }
        };
        let Some((end, _)) = page.last() else { return };
        last = Some(end.clone());
        let now = storage.now();
        for of_memory in page.chunk_by(|(one, _), (next, _)| (&one.0, &one.1) == (&next.0, &next.1)) {
            let (vault, memory, _) = &of_memory[0].0;
            let ends = of_memory
                .iter()
                .filter_map(|((_, _, id), until)| Some((*id, (*until)?)));
            let expired: Vec<_> = ends.filter(|(_, until)| until.end() <= now).collect();
            if expired.is_empty() || failing.waits(vault.as_str()) {
                continue;
            }
            let done = unless_refused(pipeline.archive_expired(vault, memory, expired).await);
            if failing.pass_over(vault.as_str(), done).is_err() {
                return;
            }
        }
    }
}
