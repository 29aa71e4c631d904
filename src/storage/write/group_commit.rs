//! Group commit: one transaction saves versions of many memories that were decided optimistically.
//!
//! One batch is in flight at a time; meanwhile further versions are decided. (Two at once were measured to be no
//! faster: each is half as large.) A batch never waits for a row lock, so it cannot be part of a deadlock. A version
//! that it skips is decided again under the lock of its row.

use super::change::Decision;
use super::head::Head;
use super::new_version::Prepared;
use super::save::{is_one_statement, save};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::batcher::{BatchConnection, Batcher, Batchers, Job, cancelled, unanswered};
use crate::storage::contexts::Context;
use crate::storage::head_cache::FillToken;
use crate::storage::{Class, Storage, StorageError, TransactionError, error};
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// A version submitted to a batch. It holds the lock of its memory, even if its request is cancelled.
#[derive(Debug)]
pub(in crate::storage) struct Submitted {
    prepared: Prepared,
    _lock: OwnedMutexGuard<()>,
}

impl Job for Submitted {
    /// Whether the version was saved; if not, it was skipped.
    type Answer = Result<bool, StorageError>;

    const MAX_IN_FLIGHT: usize = 1;

    const MAX_JOBS: usize = 64;

    fn bytes(&self) -> usize {
        self.prepared.new.text.len()
    }

    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>> {
        &batchers.versions
    }

    async fn run(storage: &Storage, kept: &mut BatchConnection, versions: Vec<Self>) -> Vec<Self::Answer> {
        let token = |version: &Self| {
            let metadata = &version.prepared.metadata;
            storage
                .head_cache
                .fill_token(&metadata.vault_id, &metadata.memory_id)
        };
        let tokens: Vec<FillToken> = versions.iter().map(token).collect();
        let (prepared, locks): (Vec<Prepared>, Vec<OwnedMutexGuard<()>>) = versions
            .into_iter()
            .map(|version| (version.prepared, version._lock))
            .unzip();
        let saved = storage.save_batch(kept, &prepared).await;
        if let Err(NotSaved::Refused(error)) = &saved {
            tracing::debug!(%error, versions = prepared.len(), "versions are saved one by one");
        }
        let answer = |(place, (version, token)): (usize, (Prepared, FillToken))| match &saved {
            Ok(saved) if saved.contains(&place) => {
                storage.committed(version, token);
                Ok(true)
            }
            Ok(_) | Err(NotSaved::Refused(_)) => Ok(false),
            Err(NotSaved::Unknown(error)) => Err(unanswered(error)),
        };
        let answers = prepared.into_iter().zip(tokens).enumerate().map(answer).collect();
        drop(locks);
        answers
    }
}

/// Why a batch was not saved.
#[derive(Debug)]
enum NotSaved {
    /// The database rejected it; nothing was saved.
    Refused(StorageError),
    /// The outcome is unknown.
    Unknown(StorageError),
}

impl Storage {
    /// Decides a change with a head that is probably the newest, and saves it in a batch: the snapshot, or without one the
    /// version that is known to this process. The counters of that are unknown, so it suits only changes that assign no
    /// numbers.
    ///
    /// Returns `None` if nothing was saved and the change must be decided under the lock: the head is unknown, `decide`
    /// saves no version (a rejection, or a result without a change, must be based on the certain head), or the version was
    /// skipped.
    pub(super) async fn change_optimistic<T, E: TransactionError>(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        snapshot: Option<&Head>,
        decide: &impl Fn(&Head) -> Result<Decision<T>, E>,
    ) -> Result<Option<T>, E> {
        // A batch has versions of several vaults.
        let Some(locks) = self.memory_locks.as_ref().filter(|_| self.crosses_vaults()) else {
            return Ok(None);
        };
        let lock = locks.lock((vault, memory)).await;
        let (head, counted) = match snapshot {
            None => (self.cached_head(vault, memory).await?, None),
            Some(snapshot) => {
                let head = snapshot.exists().then(|| self.head_now(snapshot));
                let counted = head.as_ref().map(|head| head.counters);
                (head, counted)
            }
        };
        let Some(head) = head else { return Ok(None) };
        let Ok(Decision::Save(new, result)) = decide(&head) else {
            return Ok(None);
        };
        let bytes = new.text.len();
        let prepared = Prepared::new(head, counted, (vault, memory), *new);
        if !prepared.needs_no_lock() {
            return Ok(None);
        }
        // There is a head, so it is not a new memory.
        if !self.is_known_to_fit(vault, false, bytes) {
            self.check_quotas(&mut self.reader().await?, vault, false, bytes)
                .await?;
        }
        let submitted = Submitted {
            prepared,
            _lock: lock,
        };
        let is_saved = self.submit(submitted).await.ok_or_else(cancelled)??;
        Ok(is_saved.then_some(result))
    }

    /// The newest version known to this process; `None` if the memory does not exist.
    async fn cached_head(&self, vault: &VaultId, memory: &MemoryId) -> Result<Option<Head>, StorageError> {
        let newest = self.recent_head(vault, memory).await?;
        Ok(newest.map(|newest| {
            let Context { metadata, text } = &*newest.context;
            Head {
                version: metadata.version,
                context_id: Some(metadata.context_id.clone()),
                metadata: Some(metadata.clone()),
                text: text.clone(),
                origins: newest.origins.as_deref().cloned(),
                ..self.empty_head(metadata.creation_time)
            }
        }))
    }

    async fn save_batch(
        &self,
        kept: &mut BatchConnection,
        prepared: &[Prepared],
    ) -> Result<Vec<usize>, NotSaved> {
        let taken = kept.take(self, Class::Write).await;
        let (mut connection, since) = taken.map_err(NotSaved::Refused)?;
        if !is_one_statement(prepared) {
            let begun = connection.begin().await;
            begun.map_err(|error| NotSaved::Refused(error.into()))?;
        }
        let saved = save(&mut connection, prepared).await.map_err(|error| {
            // An error of the statement rolls it back. Any other may have occurred after the commit of a single statement.
            match connection.is_in_transaction() || error::is_of_a_statement(&error) {
                true => NotSaved::Refused(error),
                false => NotSaved::Unknown(error),
            }
        })?;
        let committed = connection.commit().await;
        let connection = committed.map_err(|error| NotSaved::Unknown(error.into()))?;
        kept.keep(self, connection, since);
        Ok(saved)
    }

    /// Whether a batch of versions is being committed.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.batchers.versions.is_busy()
    }

    /// The number of decided versions that wait for the next batch, for tests.
    #[must_use]
    pub fn changes_waiting(&self) -> usize {
        self.batchers.versions.waiting()
    }
}

/// Locks of memories, so that optimistic writes of one memory are decided one after another: of two on the same head one
/// would be skipped. A lock that is evicted while it is held costs no more than that.
#[derive(Debug, Clone)]
pub(in crate::storage) struct MemoryLocks(Arc<Locks>);

type Locks = Cache<(VaultId, MemoryId), Arc<Mutex<()>>>;

/// Maximum number of locks: many more than writes at a time.
const LOCKS: usize = 4_096;

impl Default for MemoryLocks {
    fn default() -> Self {
        Self(Arc::new(Cache::new(LOCKS)))
    }
}

impl MemoryLocks {
    /// Locks a memory; in order of arrival.
    async fn lock(&self, (vault, memory): (&VaultId, &MemoryId)) -> OwnedMutexGuard<()> {
        let memory = (vault.clone(), memory.clone());
        let Ok(mutex) = self
            .0
            .get_or_insert_with(&memory, || Ok::<_, Infallible>(Arc::default()));
        mutex.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn is_ready<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_memory_waits_for_itself_and_no_other() {
        let locks = MemoryLocks::default();
        let vault: VaultId = "acme".parse().unwrap();
        let memories: Vec<MemoryId> = (0..100)
            .map(|number| format!("m{number}").parse().unwrap())
            .collect();
        let take = |memory| locks.lock((&vault, memory));
        let held: Vec<OwnedMutexGuard<()>> = memories
            .iter()
            .map(|memory| is_ready(pin!(take(memory))).expect("nobody has it"))
            .collect();

        let mut second = pin!(take(&memories[0]));
        assert!(is_ready(second.as_mut()).is_none());
        drop(held);
        let second = is_ready(second).expect("it has the lock");
        assert!(is_ready(pin!(take(&memories[0]))).is_none());
        drop(second);
    }
}
