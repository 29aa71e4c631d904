//! Small writes of several requests, in one statement or one transaction.

use super::job::Job;
use super::slots::Slots;
use super::submit::RunBatch;
use super::unanswered::{cancelled, unanswered};
use crate::storage::database::connection::Connection;
use crate::storage::{Storage, StorageError, error};
use std::slice::from_ref;

/// Something that is written for many at once.
pub(in crate::storage) trait SmallWrite: Sized + Send + Sync + 'static {
    /// Whether it takes one statement, which needs no transaction around it.
    const IS_ONE_STATEMENT: bool = true;

    /// Writes all of them, or none of them if the transaction around it is rolled back.
    fn write(
        connection: &mut Connection,
        all: &[Self],
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Called when they are written, before their senders are answered.
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
            // What one of them does wrong is its own failure.
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
    /// Writes something, in a batch with others of its kind if some are submitted meanwhile.
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
        if let Some(mut connection) = slots.lease(self).await? {
            if W::IS_ONE_STATEMENT {
                W::write(&mut connection, all).await?;
            } else {
                let mut transaction = connection.begin().await?;
                W::write(&mut transaction, all).await?;
                connection = transaction.commit().await?;
            }
            connection.release(self, slots);
        } else {
            let mut transaction = self.begin().await?;
            W::write(&mut transaction, all).await?;
            transaction.commit().await?;
        }
        W::written(self, all);
        Ok(())
    }
}
