//! Changes a memory: a decision about its head, and the version that results from it.

use super::head::Head;
use super::head::HeadSnapshot;
use super::new_version::NewVersion;
use super::new_version::Prepared;
use super::save::save;
use crate::domain::ids::{MemoryId, RecordId, TaskId, VaultId};
use crate::domain::window::KnownEntries;
use crate::storage::contexts::{Context, ContextMetadata, ContextRef, find_context};
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::TransactionError;
use crate::storage::records::{StoredRecord, find_task};
use crate::storage::{Storage, StorageError, window};
use std::slice::from_ref;

/// What else of the memory a decision needs, read while its row is locked.
#[derive(Debug)]
pub(super) enum AdditionalRead<'a> {
    /// Nothing.
    Nothing,
    /// A version.
    Version(&'a ContextRef),
    /// The task with this id, if it exists.
    Task(&'a TaskId),
    /// All tasks and decisions.
    KnownEntries,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct AdditionalData {
    pub(super) version: Option<Context>,
    pub(super) task: Option<StoredRecord>,
    pub(super) known: KnownEntries,
}

/// The decision about a head.
#[derive(Debug)]
pub enum Decision<T> {
    /// Do not change it.
    Keep(T),
    /// Save a new version.
    Save(Box<NewVersion>, T),
}

/// The result of a change.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The saved version, if any.
    pub saved: Option<ContextMetadata>,
    /// If nothing was saved: the newest version, on which the decision was based; `None` if the memory does not exist.
    pub head: Option<ContextMetadata>,
    /// The result of the decision.
    pub result: T,
}

/// Why a change failed.
#[derive(Debug)]
pub enum ChangeError<E> {
    /// The decision rejected it.
    Refused(E),
    /// The database failed; nothing was saved.
    Storage(StorageError),
}

impl<E> TransactionError for ChangeError<E> {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::Refused(_) => None,
        }
    }
}

impl<E, S: Into<StorageError>> From<S> for ChangeError<E> {
    fn from(error: S) -> Self {
        Self::Storage(error.into())
    }
}

/// A head that is probably still the newest one, with which a change can be decided before anything is locked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likely<'a> {
    /// The newest version known to this process. Its counters are unknown, so it suits only changes that assign no
    /// numbers.
    Cached,
    /// The one that a model was called with.
    Snapshot(&'a HeadSnapshot),
}

impl Storage {
    /// Changes a memory: passes its head to `decide` and saves the resulting version, in one transaction; creates the
    /// memory if it does not exist. `mentioned` are the ids whose archived state `decide` needs in [`Head::archived`].
    ///
    /// `decide` may be called again with a newer head if the transaction lost a race, so it must not have effects.
    ///
    /// # Errors
    /// The rejection of `decide`, or database errors; in both cases nothing was saved.
    pub async fn change<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        decide: impl Fn(&Head) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let decide = |head: &Head, _: AdditionalData| decide(head);
        self.change_locked(
            (vault, memory),
            mentioned,
            &AdditionalRead::Nothing,
            None,
            &decide,
        )
        .await
    }

    /// As [`Self::change`], of what began with a `snapshot`, and with the record of `task`. If `is_likely` the snapshot is
    /// probably still the newest version: then the change is decided before anything is locked, without a task, and saved
    /// in a batch with others. If it is not, or if `decide` does not save a version, it is decided again under the lock.
    ///
    /// # Errors
    /// As [`Self::change`]. [`StorageError::MemoryDeleted`] if the memory did not exist then and was deleted since.
    pub async fn change_snapshot<T, E>(
        &self,
        of: (&VaultId, &MemoryId),
        (snapshot, is_likely): (&HeadSnapshot, bool),
        mentioned: &[RecordId],
        task: Option<&TaskId>,
        decide: impl Fn(&Head, Option<StoredRecord>) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        if is_likely {
            let decide = |head: &Head| decide(head, None);
            let likely = Likely::Snapshot(snapshot);
            if let Some(outcome) = self.change_optimistic(of, likely, &decide).await? {
                return Ok(outcome);
            }
        }
        let decide = |head: &Head, found: AdditionalData| decide(head, found.task);
        let read = task.map_or(AdditionalRead::Nothing, AdditionalRead::Task);
        self.change_locked(of, mentioned, &read, Some(snapshot), &decide)
            .await
    }

    /// As [`Self::change`], and reads what `read` specifies while the memory's row is locked.
    pub(super) async fn change_with_read<T, E>(
        &self,
        of: (&VaultId, &MemoryId),
        read: &AdditionalRead<'_>,
        decide: impl Fn(&Head, AdditionalData) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        self.change_locked(of, &[], read, None, &decide).await
    }

    #[tracing::instrument(name = "db.memories.change", skip_all)]
    pub(super) async fn change_locked<T, E>(
        &self,
        of: (&VaultId, &MemoryId),
        mentioned: &[RecordId],
        read: &AdditionalRead<'_>,
        began: Option<&HeadSnapshot>,
        decide: &impl Fn(&Head, AdditionalData) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let (vault, memory) = of;
        self.know_room(vault).await?;
        let (saved, head, result) = self
            .transaction("db.memories.change", |mut transaction| async move {
                let token = self.head_cache.fill_token(vault, memory);
                let head = self.lock_head(&mut transaction, vault, memory, mentioned).await?;
                if let Some(began) = began {
                    began.must_not_have_been_deleted(&mut transaction, of).await?;
                }
                let found = find(&mut transaction, of, read).await?;
                let (new, result) = match decide(&head, found).map_err(ChangeError::Refused)? {
                    Decision::Save(new, result) => (*new, result),
                    Decision::Keep(result) => {
                        // Under the lock: another writer's version was not compared.
                        let head = match head.context_id.map(ContextRef::Id) {
                            Some(id) => find_context(&mut transaction, vault, memory, &id).await?,
                            None => None,
                        };
                        let head = head.map(|head| head.metadata);
                        // At most the row of a memory that is not created was written.
                        return Ok(transaction.roll_back_with((None, head, result)));
                    }
                };
                let room = self.take_room(vault, !head.exists(), new.text.len())?;
                let counted = head.counters;
                let prepared = Prepared::new(head, Some(counted), of, new);
                save_locked(&mut transaction, &prepared).await?;
                let saved = Some((Box::new(prepared), token, room));
                Ok::<_, ChangeError<E>>(transaction.commit_with((saved, None, result)))
            })
            .await?;
        let saved = saved.map(|(prepared, token, room)| {
            room.keep();
            self.committed(*prepared, token)
        });
        Ok(Outcome { saved, head, result })
    }
}

/// Reads what a decision needs besides the head.
async fn find(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    read: &AdditionalRead<'_>,
) -> Result<AdditionalData, StorageError> {
    let mut found = AdditionalData::default();
    match read {
        AdditionalRead::Nothing => {}
        AdditionalRead::Version(reference) => {
            found.version = find_context(connection, vault, memory, reference).await?;
        }
        AdditionalRead::Task(id) => found.task = find_task(connection, vault, memory, id).await?,
        AdditionalRead::KnownEntries => found.known = window::known(connection, vault, memory).await?,
    }
    Ok(found)
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
