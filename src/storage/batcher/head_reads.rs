//! Reads the newest versions of several memories in one statement.

use super::{Batcher, Batchers, Job, Slots, unanswered};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::contexts;
use crate::storage::database::connection::Connection;
use crate::storage::head_cache::CachedHead;
use crate::storage::{Class, Storage, StorageError};
use std::sync::Arc;

/// A request for the newest version of a memory, as of now or later.
#[derive(Debug)]
pub(super) struct HeadRead {
    vault: VaultId,
    memory: MemoryId,
}

/// The newest version of a memory; `None` if it must be read on its own.
type Read = Option<Result<Option<CachedHead>, StorageError>>;

impl Job for HeadRead {
    type Answer = Read;

    const MAX_IN_FLIGHT: usize = 2;

    /// A low limit, because each text may have the maximum size of a document.
    const MAX_JOBS: usize = 16;

    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>> {
        &batchers.heads
    }

    fn vault(&self) -> &VaultId {
        &self.vault
    }

    async fn run(storage: &Storage, connections: &Slots, jobs: Vec<Self>) -> Vec<Read> {
        match (read(storage, connections, &jobs).await, &*jobs) {
            (Ok(read), _) => handed_out(&jobs, &read),
            (Err(error), [_]) => vec![Some(Err(error))],
            (Err(error @ StorageError::Unavailable(_)), _) => {
                jobs.iter().map(|_| Some(Err(unanswered(&error)))).collect()
            }
            (Err(error), _) => {
                tracing::debug!(%error, reads = jobs.len(), "newest versions are read alone");
                jobs.iter().map(|_| None).collect()
            }
        }
    }
}

async fn read(storage: &Storage, slots: &Slots, jobs: &[HeadRead]) -> Result<Vec<CachedHead>, StorageError> {
    let mut connection = slots.take(storage).await?;
    let read = newest(&mut connection, jobs).await?;
    slots.put_back(storage, connection);
    Ok(read)
}

async fn newest(connection: &mut Connection, jobs: &[HeadRead]) -> Result<Vec<CachedHead>, StorageError> {
    if let [HeadRead { vault, memory }] = jobs {
        let newest = contexts::latest(connection, vault, memory).await?;
        return Ok(newest.map(CachedHead::new).into_iter().collect());
    }
    contexts::latest_of(connection, &jobs.iter().map(HeadRead::key).collect()).await
}

impl HeadRead {
    fn key(&self) -> (&VaultId, &MemoryId) {
        (&self.vault, &self.memory)
    }
}

/// Assigns the results to the jobs.
fn handed_out(jobs: &[HeadRead], read: &[CachedHead]) -> Vec<Read> {
    let newest = |job: &HeadRead| {
        let is_it = |head: &&CachedHead| {
            let metadata = &head.context.metadata;
            (&metadata.vault_id, &metadata.memory_id) == job.key()
        };
        Some(Ok(read.iter().find(is_it).cloned()))
    };
    jobs.iter().map(newest).collect()
}

impl Storage {
    /// The newest version of a memory, read from the database alone or in a batch, but not before the call. It replaces an
    /// older one in the head cache.
    pub(in crate::storage) async fn latest_head(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<CachedHead>, StorageError> {
        let token = self.head_cache.fill_token(vault, memory);
        let wanted = HeadRead {
            vault: vault.clone(),
            memory: memory.clone(),
        };
        let batched = match self.crosses_vaults() {
            true => self.submit(wanted).await.flatten(),
            false => None,
        };
        let head = match batched {
            Some(read) => read?,
            None => {
                // The head cache is filled with the result, so it is read from the primary.
                let mut reader = self.primary_reader(Class::Read).await?;
                let newest = contexts::latest(&mut reader, vault, memory).await?;
                newest.map(CachedHead::new)
            }
        };
        if let Some(head) = &head {
            self.head_cache.fill(token, head.clone());
        }
        Ok(head)
    }
}
