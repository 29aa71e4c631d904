//! Request batching without linger: jobs submitted while a batch of their kind is in flight go with the next batch.
//!
//! A statement costs a round trip, and a commit a disk flush: one for many jobs costs little more than one for a single
//! job. A job that finds no batch in flight is sent at once and alone.
//!
//! | job | what is sent for it |
//! |---|---|
//! | `Submitted` | versions of memories, a group commit ([`crate::storage::write`]) |
//! | `HeadRead` | reads of newest versions, in one statement that begins after all of them were submitted ([`head_reads`]) |
//! | `Appended` | events of updates, in one transaction ([`crate::storage::events`]): transactions that notify commit one after another |
//!
//! - Each job is answered after its own work was committed. It is as durable as if it had been sent alone.
//! - An error of one job fails only that job. If the statement for all of them fails, each is sent alone.
//! - Each kind of job reserves connections for its batches ([`connections`]).
//! - If many jobs wait, vaults are served in rotation: a batch takes one job of each vault before a second of any.
//! - A batch contains jobs of several vaults. In a distributed database these are on several nodes, so there each job
//!   is sent alone.

mod connections;
mod head_reads;
mod queue;
pub(super) use connections::Slots;

use crate::domain::ids::VaultId;
use crate::storage::events::Appended;
use crate::storage::write::Submitted;
use crate::storage::{Distribution, Storage, StorageError};
use head_reads::HeadRead;
pub(super) use queue::Batcher;
use queue::Waiting;
use std::fmt::Display;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A job that costs hardly more for many than for one.
pub(in crate::storage) trait Job: Sized + Send + 'static {
    /// The result.
    type Answer: Send + 'static;

    /// Maximum number of batches in flight.
    const MAX_IN_FLIGHT: usize;

    /// Maximum number of jobs in a batch.
    const MAX_JOBS: usize;

    /// The batcher of this kind of job.
    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>>;

    /// Its size in bytes, if that can be large.
    fn bytes(&self) -> usize {
        0
    }

    /// The vault under which it is scheduled if jobs of many vaults wait.
    fn vault(&self) -> &VaultId;

    /// Runs a batch on one of the connections of its kind. Returns one answer for each job, in the same order.
    fn run(
        storage: &Storage,
        connections: &Slots,
        jobs: Vec<Self>,
    ) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// A batch in flight. When it is dropped, the jobs submitted meanwhile are run.
struct Batch<J: Job> {
    storage: Storage,
    of: Arc<Batcher<J>>,
}

impl<J: Job> Drop for Batch<J> {
    fn drop(&mut self) {
        if self.of.end_if_empty() {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            // The caller's request was cancelled while its batch was in flight: the other jobs still have to run.
            Ok(runtime) => drop(runtime.spawn(go_on(Self {
                storage: self.storage.clone(),
                of: self.of.clone(),
            }))),
            // The program is shutting down.
            Err(_) => self.of.abandon(),
        }
    }
}

impl Storage {
    /// Runs a job, alone or in a batch. `None` if its batch was cancelled: the outcome is unknown.
    pub(in crate::storage) async fn submit<J: Job>(&self, job: J) -> Option<J::Answer> {
        let batcher = J::batcher(&self.batchers).clone();
        match batcher.begin_or_wait(job) {
            Ok(job) => {
                let batch = Batch {
                    storage: self.clone(),
                    of: batcher,
                };
                J::run(self, &batch.of.connections, vec![job]).await.pop()
            }
            Err(answered) => answered.await.ok(),
        }
    }

    /// Whether one transaction may write to several vaults: not in a distributed database.
    pub(in crate::storage) async fn crosses_vaults(&self) -> Result<bool, StorageError> {
        let crosses = self.batchers.crosses_vaults.get_or_try_init(|| async {
            Ok::<_, StorageError>(self.distribution().await? == Distribution::Local)
        });
        crosses.await.copied()
    }
}

/// Runs batches until no job waits.
async fn go_on<J: Job>(batch: Batch<J>) {
    loop {
        let next = batch.of.next();
        if next.is_empty() {
            return;
        }
        let (jobs, senders): (Vec<_>, Vec<_>) = next
            .into_iter()
            .map(|Waiting { job, answer, .. }| (job, answer))
            .unzip();
        let answers = J::run(&batch.storage, &batch.of.connections, jobs).await;
        for (sender, answer) in senders.into_iter().zip(answers) {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
        }
    }
}

/// The batchers of a service.
#[derive(Default)]
pub(in crate::storage) struct Batchers {
    pub(super) versions: Arc<Batcher<Submitted>>,
    pub(super) events: Arc<Batcher<Appended>>,
    heads: Arc<Batcher<HeadRead>>,
    /// Whether one transaction may write to several vaults.
    crosses_vaults: OnceCell<bool>,
}

impl Batchers {
    fn connections(&self) -> [&Slots; 3] {
        [
            &self.versions.connections,
            &self.events.connections,
            &self.heads.connections,
        ]
    }

    /// The number of idle connections in the slots.
    pub(in crate::storage) fn idle_connections(&self) -> usize {
        self.connections().iter().map(|slots| slots.len()).sum()
    }

    /// Returns the idle connections to the pool, which is being closed.
    pub(in crate::storage) fn clear(&self) {
        for slots in self.connections() {
            slots.clear();
        }
    }
}

/// The error of a job whose batch was cancelled.
pub(in crate::storage) fn cancelled() -> StorageError {
    unanswered(&"its batch was cancelled")
}

/// The error of each job of a batch whose outcome is unknown.
pub(in crate::storage) fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("a batch of requests: {cause}")))
}
