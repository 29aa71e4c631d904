//! Submits jobs and runs batches.

use super::job::Job;
use super::queue::{Batcher, Waiting};
use super::slots::Slots;
use crate::storage::{Distribution, Storage, StorageError};
use std::sync::Arc;

/// A job that is run against the database.
pub(in crate::storage) trait RunBatch: Job {
    /// Runs a batch on one of the connections of its kind. Returns one answer for each job, in the same order.
    fn run(
        storage: &Storage,
        connections: &Slots,
        jobs: Vec<Self>,
    ) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// A batch in flight. When it is dropped, the jobs submitted meanwhile are run.
struct Batch<J: RunBatch> {
    storage: Storage,
    of: Arc<Batcher<J>>,
}

impl<J: RunBatch> Drop for Batch<J> {
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
    pub(in crate::storage) async fn submit<J: RunBatch>(&self, job: J) -> Option<J::Answer> {
        let batcher = self.batchers.of::<J>();
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
async fn go_on<J: RunBatch>(batch: Batch<J>) {
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
