//! Changes that may add a task, depending on whether the memory already has it.

use super::change::{AdditionalRead, ChangeError, Decision, Outcome};
use super::head::Head;
use crate::domain::ids::{MemoryId, RecordId, TaskId, VaultId};
use crate::storage::records::{StoredRecord, find_task};
use crate::storage::{Storage, StorageError};

impl Storage {
    /// The record of the task with this task id; `None` if there is none.
    ///
    /// # Errors
    /// Database errors.
    pub async fn known_task(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        task: &TaskId,
    ) -> Result<Option<StoredRecord>, StorageError> {
        find_task(&mut *self.reader().await?, vault, memory, task).await
    }

    /// As [`Self::change`], with the record of `task`, read while the memory's row is locked.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub async fn change_with_task<T, E>(
        &self,
        of: (&VaultId, &MemoryId),
        mentioned: &[RecordId],
        task: Option<&TaskId>,
        decide: impl Fn(&Head, Option<StoredRecord>) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let read = task.map_or(AdditionalRead::Nothing, AdditionalRead::Task);
        self.change_locked(of, mentioned, &read, &|head, found| decide(head, found.task))
            .await
    }
}
