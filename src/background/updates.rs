//! Workers that run queued updates: any number of instances may do so at once.
//!
//! A worker looks for work when it is notified, when one of its updates has ended (the next of that memory may
//! run then), and at an interval: for updates of an instance that died, and for those that wait for another attempt.

use crate::clock::Clock;
use crate::config::pipeline::QueueConfig;
use crate::domain::ids::{MemoryId, VaultId};
use crate::fair::{FairSemaphore, Party, Permit, ShareLimits};
use crate::pipeline::{Pipeline, PipelineError};
use crate::storage::database::notification::Notification;
use crate::storage::updates::RunStatus;
use crate::storage::updates::queue::{Claimed, LONGEST_WAIT};
use crate::storage::{FailingVaults, Storage, StorageError};
use crate::telemetry::{self, traces};
use chrono::TimeDelta;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The pause after a database failure.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// How often the metrics of the queue are read.
const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// The part of a shutdown's time that is reserved for returning updates to the queue.
const HANDING_BACK: Duration = Duration::from_secs(1);

/// The workers of one instance.
#[derive(Debug)]
pub struct Workers {
    tasks: TaskTracker,
}

impl Workers {
    /// Starts the workers. When `stopping` is cancelled they start nothing more; updates that have not ended within
    /// `grace` are returned to the queue.
    #[must_use]
    pub fn start(
        storage: &Storage,
        pipeline: &Pipeline,
        clock: &Arc<dyn Clock>,
        settings: &crate::config::pipeline::PipelineConfig,
        stopping: CancellationToken,
        grace: Duration,
    ) -> Self {
        let tasks = TaskTracker::new();
        let shared = Arc::new(Shared {
            storage: storage.clone(),
            pipeline: pipeline.clone(),
            clock: clock.clone(),
            settings: settings.queue.clone(),
            workers: FairSemaphore::new(shares_of(settings)),
            ended: Notify::new(),
            tasks: tasks.clone(),
            hand_back: CancellationToken::new(),
        });
        let measuring = measure(storage.clone(), clock.clone());
        let until = stopping.clone();
        tasks.spawn(async move {
            let _ = until.run_until_cancelled(measuring).await;
        });
        if settings.queue.workers > 0 {
            tasks.spawn(shared.clone().dispatch(stopping.clone()));
            let time_is_up = shared.hand_back.clone();
            tokio::spawn(async move {
                stopping.cancelled().await;
                tokio::time::sleep(grace.saturating_sub(HANDING_BACK)).await;
                time_is_up.cancel();
            });
        }
        Self { tasks }
    }

    /// Waits until all have ended, which they do only when they are stopping.
    pub async fn stopped(self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

struct Shared {
    storage: Storage,
    pipeline: Pipeline,
    clock: Arc<dyn Clock>,
    settings: QueueConfig,
    /// A vault holds half of them at most, so that others need not wait for its updates to end.
    workers: FairSemaphore,
    ended: Notify,
    tasks: TaskTracker,
    hand_back: CancellationToken,
}

impl Shared {
    async fn dispatch(self: Arc<Self>, stopping: CancellationToken) {
        let mut notifications = self.storage.notifications();
        // Vaults whose updates cannot be claimed for now.
        let mut failing = FailingVaults::new("updates");
        let mut named = None;
        while !stopping.is_cancelled() {
            if let Err(error) = self.begin_all_due(None, &mut failing, &stopping).await {
                tracing::warn!(%error, "queued updates could not be queried, trying again");
                // If the statement over all vaults fails, one over the notified vault may not.
                if let Some(vault) = named.take()
                    && let Err(error) = self.begin_all_due(Some(&vault), &mut failing, &stopping).await
                {
                    tracing::debug!(%error, "nor those of the notified vault");
                }
                tokio::time::sleep(AFTER_FAILURE).await;
            }
            let poll = Duration::from_secs(self.settings.poll_seconds.into());
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.ended.notified() => {}
                vault = queue_changes(&mut notifications, None) => named = vault,
                // Jitter: instances that start together should not poll together.
                () = tokio::time::sleep(poll.mul_f64(0.75 + 0.5 * fastrand::f64())) => {}
            }
        }
    }

    /// Starts updates that are due, of one vault or of all; vaults whose updates cannot be claimed are skipped.
    async fn begin_all_due(
        self: &Arc<Self>,
        vault: Option<&VaultId>,
        failing: &mut FailingVaults,
        stopping: &CancellationToken,
    ) -> Result<(), StorageError> {
        // Of those that were read, some were claimed by other instances or are beyond the limit of their vault: others may
        // be due for the workers that are still free.
        while self.begin_due(vault, failing, stopping).await? > 0 {}
        Ok(())
    }

    /// Starts some of the updates that are due, and returns how many.
    async fn begin_due(
        self: &Arc<Self>,
        vault: Option<&VaultId>,
        failing: &mut FailingVaults,
        stopping: &CancellationToken,
    ) -> Result<usize, StorageError> {
        let free = self.workers.shares().total.saturating_sub(self.workers.in_use());
        if free == 0 || stopping.is_cancelled() {
            return Ok(0);
        }
        // Vaults that have reached their limit of running updates here, and those whose updates cannot be claimed.
        let not_now = [failing.waiting(), self.workers.vaults_at_limit()].concat();
        let free = i64::try_from(free).unwrap_or(1);
        let due = self.storage.due_updates(vault, &not_now, self.lease(), free);
        let mut begun = 0;
        for due in due.await? {
            if failing.waits(due.vault.as_str()) {
                continue;
            }
            let party = Party::new(Some(due.vault.as_str()), None);
            let Some(permit) = self.workers.try_acquire(&party, 1) else {
                continue;
            };
            let claim = self.clock.new_id().to_string();
            let claimed = self.storage.claim_update(&due, &claim, self.lease()).await;
            if let Some(claimed) = failing.pass_over(due.vault.as_str(), claimed)?.flatten() {
                metrics::counter!(telemetry::UPDATE_CLAIMS).increment(1);
                begun += 1;
                self.tasks.spawn(self.clone().run(claimed, permit));
            }
        }
        Ok(begun)
    }

    fn lease(&self) -> TimeDelta {
        TimeDelta::seconds(self.settings.lease_seconds.into())
    }

    async fn run(self: Arc<Self>, claimed: Claimed, permit: Permit) {
        let before = claimed.attempts - 1;
        let ended = if !self.pipeline.is_tried_again(before) {
            let problem =
                format!("it was started {before} times, and the service process ended during each attempt");
            self.storage
                .give_up_update(&claimed, RunStatus::Failed, &problem)
                .await
        } else {
            // Boxed: the future is large, and this path is rare.
            let work = Box::pin(self.run_to_its_end(&claimed));
            traces::queued_update(claimed.due.update_id.as_str(), claimed.attempts, work).await
        };
        match ended {
            Ok(true) => {}
            Ok(false) => tracing::debug!("an update was cancelled or taken over"),
            Err(error) => {
                tracing::warn!(%error, "the result of an update could not be saved; its claim will expire")
            }
        }
        drop(permit);
        self.ended.notify_one();
    }

    /// Runs an update and saves its result, unless the pipeline already has. `false` if the claim was lost: cancelled, taken over
    /// or deleted.
    async fn run_to_its_end(&self, claimed: &Claimed) -> Result<bool, StorageError> {
        // Dropped at an await point; a version that was being saved is saved or not, under its claim.
        let run = AssertUnwindSafe(self.pipeline.run_claimed(claimed)).catch_unwind();
        tokio::select! {
            biased;
            () = self.hand_back.cancelled() => {
                self.storage.hand_back_update(claimed, TimeDelta::zero(), false, None).await
            }
            () = self.keep_claim(claimed) => Ok(false),
            result = run => match result {
                Ok(result) => self.end(claimed, result.map(drop)).await,
                Err(_) => self.try_again(claimed, "a fault of the service").await,
            },
        }
    }

    /// Returns when the claim is lost.
    async fn keep_claim(&self, claimed: &Claimed) {
        let every = Duration::from_secs(self.settings.lease_seconds.into()) / 3;
        let mut notifications = self.storage.notifications();
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                _ = queue_changes(&mut notifications, Some((&claimed.due.vault, &claimed.due.memory))) => {}
            }
            match self.storage.renew_update(claimed, self.lease()).await {
                Ok(true) => {}
                Ok(false) => return self.count_lost(claimed).await,
                Err(error) => tracing::warn!(%error, "the claim of an update could not be renewed"),
            }
        }
    }

    /// Counts a claim that another instance took over; a cancelled or deleted one is not counted.
    async fn count_lost(&self, claimed: &Claimed) {
        let due = &claimed.due;
        match self.storage.run(&due.vault, &due.memory, &due.update_id).await {
            Ok(run) if run.as_ref().is_none_or(|run| run.status == RunStatus::Cancelled) => {}
            Ok(_) | Err(_) => metrics::counter!(telemetry::UPDATE_LEASE_LOSSES).increment(1),
        }
    }

    async fn end(&self, claimed: &Claimed, result: Result<(), PipelineError>) -> Result<bool, StorageError> {
        let error = match result {
            Ok(()) => return Ok(true),
            Err(PipelineError::Storage(StorageError::ClaimLost(_))) => {
                self.count_lost(claimed).await;
                return Ok(false);
            }
            Err(PipelineError::Storage(error)) if error.is_failure() => {
                tracing::warn!(%error, "an update was stopped by its database");
                return self.try_again(claimed, "the database failed").await;
            }
            Err(error) => error,
        };
        let problem = error.to_string();
        let status = match error {
            PipelineError::TokensSpent { retry_after, .. } => {
                let wait = TimeDelta::seconds(i64::try_from(retry_after).unwrap_or(i64::MAX / 1_000));
                let problem = Some("the vault has used the day's tokens");
                return self.storage.hand_back_update(claimed, wait, false, problem).await;
            }
            error if error.may_pass() => return self.try_again(claimed, &problem).await,
            PipelineError::PreconditionFailed(_) | PipelineError::Deleted => RunStatus::Conflict,
            PipelineError::Unreadable { .. } | PipelineError::Storage(_) => RunStatus::Failed,
            // Its run is saved already.
            _ => return Ok(true),
        };
        self.storage.give_up_update(claimed, status, &problem).await
    }

    /// Returns the update to the queue, or ends it after the last attempt; a run that is saved already has no claim.
    async fn try_again(&self, claimed: &Claimed, problem: &str) -> Result<bool, StorageError> {
        if !self.pipeline.is_tried_again(claimed.attempts) {
            return self
                .storage
                .give_up_update(claimed, RunStatus::Failed, problem)
                .await;
        }
        metrics::counter!(telemetry::UPDATE_RETRIES).increment(1);
        let wait = TimeDelta::from_std(self.backoff(claimed.attempts)).unwrap_or(LONGEST_WAIT);
        self.storage
            .hand_back_update(claimed, wait, true, Some(problem))
            .await
    }

    fn backoff(&self, attempts: i32) -> Duration {
        let first = Duration::from_secs(self.settings.backoff_seconds.into());
        let doubled = first.saturating_mul(1 << attempts.saturating_sub(1).clamp(0, 16));
        // Jitter: updates that failed together should not be retried together.
        let longest = LONGEST_WAIT.to_std().unwrap_or_default();
        doubled.min(longest).mul_f64(0.8 + 0.2 * fastrand::f64())
    }
}

/// The shares of the workers.
fn shares_of(settings: &crate::config::pipeline::PipelineConfig) -> ShareLimits {
    let shares = ShareLimits::of(settings.queue.workers);
    ShareLimits {
        of_vault: shares.of_vault.min(settings.concurrent_updates_per_vault()),
        ..shares
    }
}

/// Returns when a queue may have changed, of any memory or of the given one, with its vault; also after missed notifications.
async fn queue_changes(
    notifications: &mut Receiver<Notification>,
    of: Option<(&VaultId, &MemoryId)>,
) -> Option<VaultId> {
    loop {
        match notifications.recv().await {
            Ok(notification) => {
                let wanted = of.is_none_or(|of| of == (&notification.vault, &notification.memory));
                if wanted && (notification.queue || notification.forget) {
                    return Some(notification.vault);
                }
            }
            Err(RecvError::Lagged(_)) => return None,
            // The storage, which holds the sender, lives as long as its workers.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Updates the metrics of the queue while it is polled.
async fn measure(storage: Storage, clock: Arc<dyn Clock>) {
    loop {
        if let Ok(state) = storage.queue_state().await {
            let age = state
                .oldest
                .and_then(|oldest| (clock.now() - oldest).to_std().ok());
            #[expect(clippy::cast_precision_loss, reason = "nobody queues 2^53 updates")]
            for (name, count) in [
                (telemetry::UPDATES_QUEUED, state.queued),
                (telemetry::UPDATES_RUNNING, state.running),
            ] {
                metrics::gauge!(name).set(count as f64);
            }
            metrics::gauge!(telemetry::UPDATE_QUEUE_AGE).set(age.unwrap_or_default().as_secs_f64());
        }
        tokio::time::sleep(MEASURE_EVERY).await;
    }
}
