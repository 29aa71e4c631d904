//! Changes a memory: a decision about its head, and the version that results from it.

use super::head::Head;
use super::new_version::NewVersion;
use super::new_version::Prepared;
use super::save::save;
use crate::domain::ids::{MemoryId, RecordId, TaskId, VaultId};
use crate::domain::memory_files::FilePath;
use crate::storage::contexts::{ContextRef, find_context};
use crate::storage::database::connection::Connection;
use crate::storage::memories::paths::{FileTree, find, hold_root};
use crate::storage::records::{archived, find_task, some};
use crate::storage::{Storage, StorageError, TransactionError, window};
use std::slice::from_ref;

/// What of the memory a decision needs besides its newest version, read into the [`Head`] while its row is locked.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlsoRead<'a> {
    /// Which of these records are archived.
    pub mentioned: &'a [RecordId],
    /// This version.
    pub version: Option<&'a ContextRef>,
    /// The record of the task with this id.
    pub task: Option<&'a TaskId>,
    /// All tasks and decisions.
    pub entries: bool,
    /// What is at this path of a tree of files, which stays as it is until the change is saved.
    pub path: Option<(&'a FileTree, &'a FilePath)>,
}

/// The decision about a head, with the result of the change.
#[derive(Debug)]
pub enum Decision<T> {
    /// Do not change it.
    Keep(T),
    /// Save a new version.
    Save(Box<NewVersion>, T),
}

impl Storage {
    /// Changes a memory: passes its head to `decide` and saves the resulting version, in one transaction; creates the
    /// memory if it does not exist.
    ///
    /// `decide` may be called again with a newer head if the transaction lost a race, so it must not have effects.
    ///
    /// # Errors
    /// The rejection of `decide`, or database errors; in both cases nothing was saved.
    pub async fn change<T, E: TransactionError>(
        &self,
        of: (&VaultId, &MemoryId),
        also: AlsoRead<'_>,
        decide: impl Fn(&Head) -> Result<Decision<T>, E>,
    ) -> Result<T, E> {
        self.change_locked(of, also, None, &decide).await
    }

    /// As [`Self::change`], of what began with a `snapshot`. If `is_likely` the snapshot is probably still the newest
    /// version: then the change is decided before anything is locked, without what is `also` read, and saved in a batch with
    /// others. If it is not, or if `decide` does not save a version, it is decided again under the lock.
    ///
    /// # Errors
    /// As [`Self::change`]. [`StorageError::MemoryDeleted`] if the memory did not exist then and was deleted since.
    pub async fn change_snapshot<T, E: TransactionError>(
        &self,
        of: (&VaultId, &MemoryId),
        (snapshot, is_likely): (&Head, bool),
        also: AlsoRead<'_>,
        decide: impl Fn(&Head) -> Result<Decision<T>, E>,
    ) -> Result<T, E> {
        if is_likely && let Some(result) = self.change_optimistic(of, Some(snapshot), &decide).await? {
            return Ok(result);
        }
        self.change_locked(of, also, Some(snapshot), &decide).await
    }

    async fn change_locked<T, E: TransactionError>(
        &self,
        of: (&VaultId, &MemoryId),
        also: AlsoRead<'_>,
        began: Option<&Head>,
        decide: &impl Fn(&Head) -> Result<Decision<T>, E>,
    ) -> Result<T, E> {
        let (vault, memory) = of;
        let (saved, result) = self
            .transaction("db.memories.change", |mut transaction| async move {
                let token = self.head_cache.fill_token(vault, memory);
                let mut head = self.lock_head(&mut transaction, of).await?;
                if let Some(began) = began {
                    began.must_not_have_been_deleted(&mut transaction, of).await?;
                }
                head.also_read(&mut transaction, of, also).await?;
                let (new, result) = match decide(&head)? {
                    Decision::Save(new, result) => (*new, result),
                    // At most the row of a memory that is not created was written.
                    Decision::Keep(result) => return Ok((transaction.rollback().await?, (None, result))),
                };
                self.check_quotas(&mut transaction, vault, !head.exists(), new.text.len())
                    .await?;
                let counted = head.counters;
                let prepared = Prepared::new(head, Some(counted), of, new);
                save_locked(&mut transaction, &prepared).await?;
                let saved = Some((Box::new(prepared), token));
                Ok::<_, E>((transaction, (saved, result)))
            })
            .await?;
        if let Some((prepared, token)) = saved {
            self.committed(*prepared, token);
        }
        Ok(result)
    }
}

impl Head {
    /// Reads what a decision needs besides the newest version.
    async fn also_read(
        &mut self,
        connection: &mut Connection,
        (vault, memory): (&VaultId, &MemoryId),
        also: AlsoRead<'_>,
    ) -> Result<(), StorageError> {
        if !also.mentioned.is_empty() {
            self.archived = archived(some(connection, vault, memory, also.mentioned).await?);
        }
        if let Some(reference) = also.version {
            self.named = find_context(connection, vault, memory, reference).await?;
        }
        if let Some(id) = also.task {
            self.task = find_task(connection, vault, memory, id).await?;
        }
        if also.entries {
            self.entries = window::known(connection, vault, memory).await?;
        }
        if let Some((tree, path)) = also.path {
            hold_root(connection, tree).await?;
            self.at_path = Some(find(connection, tree, path).await?);
        }
        Ok(())
    }
}

/// Saves a version that was decided under the lock held by this transaction, so it cannot be skipped.
pub(in crate::storage) async fn save_locked(
    connection: &mut Connection,
    prepared: &Prepared,
) -> Result<(), StorageError> {
    let saved = save(connection, from_ref(prepared)).await?;
    match saved.len() {
        1 => Ok(()),
        _ => Err(StorageError::WrongRowCount("db.memory_contexts.save")),
    }
}
