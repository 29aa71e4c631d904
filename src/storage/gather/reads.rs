//! Many newest versions in one statement.

use super::super::contexts::Context;
use super::super::{Storage, StorageError};
use super::turns::{Job, Turns};
use super::unanswered;
use crate::domain::ids::{MemoryId, VaultId};
use std::collections::HashSet;

/// A memory whose newest version is wanted, as it is now or later.
#[derive(Debug)]
pub(super) struct Wanted {
    vault: VaultId,
    memory: MemoryId,
}

/// The newest version of a memory; `None` if it has to be read alone.
type Read = Option<Result<Option<Context>, StorageError>>;

impl Job for Wanted {
    type Answer = Read;

    const MOST_TURNS: usize = 2;

    /// Not more: each text may be as large as a document may be.
    const MOST_JOBS: usize = 16;

    fn turns(storage: &Storage) -> &Turns<Self> {
        &storage.gathering.reads
    }

    fn bytes(&self) -> usize {
        0
    }

    async fn together(storage: &Storage, jobs: Vec<Self>) -> Vec<Read> {
        if let [one] = &*jobs {
            return vec![Some(storage.latest_alone(&one.vault, &one.memory).await)];
        }
        let keys: HashSet<_> = jobs.iter().map(Self::key).collect();
        match storage.latest_together(&keys).await {
            Ok(read) => handed_out(&jobs, read),
            Err(error @ StorageError::Unavailable(_)) => {
                jobs.iter().map(|_| Some(Err(unanswered(&error)))).collect()
            }
            Err(error) => {
                tracing::debug!(%error, reads = jobs.len(), "newest versions are read alone");
                jobs.iter().map(|_| None).collect()
            }
        }
    }
}

impl Wanted {
    fn key(&self) -> (&VaultId, &MemoryId) {
        (&self.vault, &self.memory)
    }
}

/// Several may want one memory; the last of them gets what was read, the others copies.
fn handed_out(jobs: &[Wanted], mut read: Vec<Context>) -> Vec<Read> {
    let newest = |(index, job): (usize, &Wanted)| {
        let is_it =
            |context: &Context| (&context.metadata.vault_id, &context.metadata.memory_id) == job.key();
        let place = read.iter().position(is_it)?;
        let again = jobs[index + 1..].iter().any(|later| later.key() == job.key());
        Some(if again {
            read[place].clone()
        } else {
            read.swap_remove(place)
        })
    };
    jobs.iter()
        .enumerate()
        .map(newest)
        .map(|newest| Some(Ok(newest)))
        .collect()
}

impl Storage {
    /// The newest version of a memory, read alone or in company, but not before it is asked for.
    pub(in crate::storage) async fn latest_gathered(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<Context>, StorageError> {
        if self.crosses_vaults().await? {
            let wanted = Wanted {
                vault: vault.clone(),
                memory: memory.clone(),
            };
            if let Some(Some(read)) = self.in_turn(wanted).await {
                return read;
            }
        }
        self.latest_alone(vault, memory).await
    }
}
