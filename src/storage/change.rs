//! The one way a memory changes: a transaction that locks its row, asks a pure function what to do with
//! the head, and stores the new version with everything derived from it.

use super::contexts::{Context, ContextMetadata, ContextRef, find_context};
use super::events;
use super::head::Head;
use super::new_version::{NewVersion, resolve, save_version, version_event};
use super::records::{StoredRecord, find_task};
use super::updates::{Run, insert_run, lives_on};
use super::window;
use super::{Storage, StorageError, error};
use crate::domain::ids::{MemoryId, RecordId, TaskId, UpdateId, VaultId};
use crate::domain::window::Known;
use crate::telemetry::meters;

/// How often a transaction that lost a race (40001, 40P01) is run again.
const MAX_REPEATS: u32 = 5;

/// What else of the memory a decision needs.
#[derive(Debug)]
pub(super) enum Wanted<'a> {
    /// Nothing.
    Nothing,
    /// A version.
    Version(&'a ContextRef),
    /// The task that has this id already.
    Task(&'a TaskId),
    /// What there is of tasks and decisions.
    Known,
}

/// What was found of it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) version: Option<Context>,
    pub(super) task: Option<StoredRecord>,
    pub(super) known: Known,
}

/// What to do with a head.
#[derive(Debug)]
pub enum Decision<T> {
    /// Leave it as it is.
    Keep(T),
    /// Save a new version.
    Save(Box<NewVersion>, T),
}

/// What a change came to.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The version that was saved, if any.
    pub saved: Option<ContextMetadata>,
    /// What the caller's function returned.
    pub result: T,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum ChangeError<E> {
    /// The caller's function refused.
    Refused(E),
    /// The database failed; nothing was saved.
    Storage(StorageError),
}

impl<E, S: Into<StorageError>> From<S> for ChangeError<E> {
    fn from(error: S) -> Self {
        Self::Storage(error.into())
    }
}

impl Storage {
    /// Changes a memory: locks its row (making it if the memory is new), hands the head to `decide`, and
    /// saves what that says, all in one transaction. `mentioned` are the ids whose archived state
    /// `decide` needs in [`Head::archived`].
    ///
    /// `decide` may be called again on a newer head when the transaction lost a race, so it must not
    /// have effects.
    ///
    /// # Errors
    /// What `decide` refuses with, or the database's; in both cases nothing was saved.
    #[tracing::instrument(name = "db.memories.change", skip_all)]
    pub async fn change<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        mut decide: impl FnMut(&Head) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        self.change_from(vault, memory, mentioned, None, |head, _| decide(head))
            .await
    }

    /// As [`Self::change`], with what `wanted` names of the tasks of the memory as they stand while its row is
    /// locked.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(super) async fn change_window<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        wanted: &Wanted<'_>,
        mut decide: impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        self.change_reading(vault, memory, &[], wanted, &mut decide).await
    }

    /// As [`Self::change`], with the version of `reference` as it stands while the memory's row is locked;
    /// `None` if there is no such version.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(super) async fn change_from<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        reference: Option<&ContextRef>,
        mut decide: impl FnMut(&Head, Option<Context>) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let wanted = reference.map_or(Wanted::Nothing, Wanted::Version);
        let mut decide = |head: &Head, found: Found| decide(head, found.version);
        self.change_reading(vault, memory, mentioned, &wanted, &mut decide)
            .await
    }

    async fn change_reading<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        wanted: &Wanted<'_>,
        decide: &mut impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let mut repeats = 0;
        loop {
            match self.try_change(vault, memory, mentioned, wanted, decide).await {
                Err(ChangeError::Storage(error)) if error::may_repeat(&error) && repeats < MAX_REPEATS => {
                    repeats += 1;
                    tracing::debug!(repeats, error = %error, "transaction lost a race, running it again");
                }
                other => return other,
            }
        }
    }

    async fn try_change<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        wanted: &Wanted<'_>,
        decide: &mut impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let mut transaction = self.begin().await?;
        let head = self.lock_head(&mut transaction, vault, memory, mentioned).await?;
        let mut found = Found::default();
        match wanted {
            Wanted::Nothing => {}
            Wanted::Version(reference) => {
                found.version = find_context(&mut transaction, vault, memory, reference).await?;
            }
            Wanted::Task(id) => found.task = find_task(&mut transaction, vault, memory, id).await?,
            Wanted::Known => found.known = window::known(&mut transaction, vault, memory).await?,
        }
        let (version, result) = match decide(&head, found).map_err(ChangeError::Refused)? {
            Decision::Keep(result) => {
                // Nothing was written but perhaps the row of a memory that does not come to be.
                transaction.rollback().await?;
                return Ok(Outcome { saved: None, result });
            }
            Decision::Save(version, result) => (*version, result),
        };
        let mut events = version
            .run
            .as_ref()
            .map_or_else(Vec::new, |run| run.events.clone());
        let saved = save_version(&mut transaction, vault, memory, &head, &version).await?;
        events.push(version_event(head.next_event_id, &saved));
        events::append(&mut transaction, vault, &events).await?;
        transaction.commit().await?;
        self.written.notify_one();
        meters::version_made(saved.source.name());
        self.appended(vault, &events);
        Ok(Outcome {
            saved: Some(saved),
            result,
        })
    }

    /// Marks an invalid run as resolved by a run that changed nothing, and keeps that run; nothing of a memory
    /// that was deleted meanwhile.
    ///
    /// # Errors
    /// [`StorageError::AlreadyResolved`], or the database's.
    pub async fn save_resolving_run(&self, run: &Run, resolves: &UpdateId) -> Result<(), StorageError> {
        let mut transaction = self.begin().await?;
        if !lives_on(&mut transaction, run).await? {
            return Ok(());
        }
        insert_run(&mut transaction, run).await?;
        resolve(&mut transaction, run, resolves).await?;
        events::append(&mut transaction, &run.vault_id, &run.events).await?;
        transaction.commit().await?;
        self.appended(&run.vault_id, &run.events);
        Ok(())
    }
}
