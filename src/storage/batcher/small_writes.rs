//! Small writes of several requests, combined in one statement or one transaction.

use super::Job;
use super::RunBatch;
use super::connections::Slots;
use super::{cancelled, unanswered};
use crate::storage::database::connection::Connection;
use crate::storage::{Storage, StorageError, error};
use std::slice::from_ref;

/// A small write that can be combined with others.
pub(in crate::storage) trait SmallWrite: Sized + Send + Sync + 'static {
    /// Whether it is a single statement, which needs no transaction.
    const IS_ONE_STATEMENT: bool = true;

    /// Writes all of them, or none if the surrounding transaction is rolled back.
    fn write(
        connection: &mut Connection,
        all: &[Self],
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Called after they are committed, before the submitters are answered.
    fn written(_storage: &Storage, _all: &[Self]) {}
}

impl<W: SmallWrite> Job for W {
    type Answer = Result<(), StorageError>;

    const MAX_IN_FLIGHT: usize = 1;

    const MAX_JOBS: usize = 64;

    fn bytes(&self) -> usize {
        0
    }
}

impl<W: SmallWrite> RunBatch for W {
    async fn run(storage: &Storage, connections: &Slots, jobs: Vec<Self>) -> Vec<Self::Answer> {
        let all = storage.write_batch(connections, &jobs).await;
        if let [_] = &*jobs {
            return vec![all];
        }
        match all {
            Ok(()) => jobs.iter().map(|_| Ok(())).collect(),
            // An error of one write fails only that write.
            Err(error) if error::is_of_a_statement(&error) => {
                let mut written = Vec::with_capacity(jobs.len());
                for job in &jobs {
                    written.push(storage.write_batch(connections, from_ref(job)).await);
                }
                written
            }
            Err(error) => jobs.iter().map(|_| Err(unanswered(&error))).collect(),
        }
    }
}

impl Storage {
    /// Writes `W`, batched with others of its kind that are submitted meanwhile.
    pub(in crate::storage) async fn write_batched<W: SmallWrite>(
        &self,
        write: W,
    ) -> Result<(), StorageError> {
        if !self.crosses_vaults().await? {
            let batcher = self.batchers.of::<W>();
            return self.write_batch(&batcher.connections, &[write]).await;
        }
        self.submit(write).await.ok_or_else(cancelled)?
    }

    async fn write_batch<W: SmallWrite>(&self, slots: &Slots, all: &[W]) -> Result<(), StorageError> {
        let mut connection = slots.take(self).await?;
        if !W::IS_ONE_STATEMENT {
            connection.begin().await?;
        }
        W::write(&mut connection, all).await?;
        slots.put_back(self, connection.commit_and_keep().await?);
        W::written(self, all);
        Ok(())
    }
}
