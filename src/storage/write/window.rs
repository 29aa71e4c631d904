//! The transactions of `RecordTask`, `RecordDecision`, `SetStatus` and `ImportWindow`.

use super::Preconditions;
use super::change::{ChangeError, Decision, Outcome, Wanted};
use super::head::Head;
use super::new_version::NewVersion;
use super::window_rows::WindowRows;
use crate::domain::changelog;
use crate::domain::document::{Record, records};
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::RecordChange;
use crate::domain::window::{
    self, Brought, Counts, Sizes, Status, Task, Told, WindowError, Written, record_decision, record_task,
    set_status,
};
use crate::fair::in_place;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::{Answering, IdempotencyClaim};
use crate::storage::records::StoredRecord;
use crate::storage::{Storage, StorageError};

/// Who changes the window of which memory, and on which conditions.
#[derive(Debug, Clone)]
pub struct Writer {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it is made if it does not exist.
    pub memory: MemoryId,
    /// Who makes the version.
    pub actor: ActorId,
    /// What must hold of the head.
    pub preconditions: Preconditions,
    /// How much stands in the window, and the cap of the document.
    pub sizes: Sizes,
    /// The claim of the idempotency key under which it is written.
    pub idempotency: Option<IdempotencyClaim>,
}

/// A decision to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision {
    /// What was decided.
    pub decision: String,
    /// Why, if it was said.
    pub reason: Option<String>,
    /// The decision whose place it takes.
    pub supersedes: Option<RecordId>,
}

/// What a change came to.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowChange {
    /// The newest version.
    pub metadata: ContextMetadata,
    /// Whether everything stood there already, so that no version was made.
    pub unchanged: bool,
    /// The record it wrote or, if that was there already, that one; a status has none.
    pub record: Option<StoredRecord>,
    /// The records that left the document for it.
    pub archived: Vec<RecordId>,
    /// Goal and blocker as the document has them after it.
    pub status: Status,
}

/// What a taking-over came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOver {
    /// The newest version; `None` if nothing was brought to a memory that does not exist.
    pub metadata: Option<ContextMetadata>,
    /// Whether nothing was new, so that no version was made.
    pub unchanged: bool,
    /// How much was taken.
    pub taken: Counts,
    /// How much was there already.
    pub present: Counts,
    /// The records that left the document for it.
    pub archived: Vec<RecordId>,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum WindowChangeError {
    /// A precondition does not hold.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if the memory does not exist.
        current: Option<ContextId>,
    },
    /// A task of this id says something else.
    #[error("task_id belongs to {0} already, which says something else")]
    OtherTask(RecordId),
    /// The change is not possible.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The database failed; nothing was saved.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<ChangeError<Self>> for WindowChangeError {
    fn from(error: ChangeError<Self>) -> Self {
        match error {
            ChangeError::Refused(refused) => refused,
            ChangeError::Storage(error) => Self::Storage(error),
        }
    }
}

impl Writer {
    fn check(&self, head: &Head) -> Result<(), WindowChangeError> {
        if self
            .preconditions
            .hold(head.context_id.as_ref().map(ContextId::as_str))
        {
            Ok(())
        } else {
            Err(WindowChangeError::PreconditionFailed {
                current: head.context_id.clone(),
            })
        }
    }

    /// The version that a change makes, and the record that it adds.
    fn version(&self, head: &Head, written: Written, source: Source) -> (NewVersion, Option<StoredRecord>) {
        let mut version = NewVersion::of_text(head, written.text, source, self.actor.clone());
        version.counters = version.counters.raised_by(&written.counters);
        version.idempotency.clone_from(&self.idempotency);
        let numbered: Vec<RecordId> = version
            .changes
            .iter()
            .filter_map(|change| match change {
                RecordChange::Added(record) => Some(record.id),
                RecordChange::Changed(_) | RecordChange::Archived(_) => None,
            })
            .filter(|id| {
                written
                    .operations
                    .iter()
                    .all(|operation| operation.id != Some(*id))
            })
            .collect();
        version.log = changelog::of_operations(&written.operations, &numbered);
        version.operations = written.operations;
        let record = written.added.and_then(|id| {
            let added = records(&version.text)
                .into_iter()
                .find(|record| record.id == id)?;
            Some(self.stored(head, added))
        });
        (version, record)
    }

    fn stored(&self, head: &Head, record: Record) -> StoredRecord {
        StoredRecord {
            id: record.id,
            label: record.label,
            reason: record.reason,
            content: record.content,
            created_version: head.version + 1,
            created_at: head.now,
            created_by: self.actor.clone(),
            end: None,
            written_at: record.time,
            told: None,
        }
    }
}

/// What a decision about the head came to, before it is saved.
struct Made {
    record: Option<StoredRecord>,
    archived: Vec<RecordId>,
    status: Status,
}

impl Storage {
    /// Writes a completed task into the window. One whose `task_id` is known is that one, if it says the same.
    ///
    /// # Errors
    /// As [`WindowChangeError`] says.
    pub async fn record_task(&self, writer: &Writer, task: &Task) -> Result<WindowChange, WindowChangeError> {
        let wanted = task.task_id.as_ref().map_or(Wanted::Nothing, Wanted::Task);
        let outcome = self
            .change_wanting((&writer.vault, &writer.memory), &wanted, |head, found| {
                writer.check(head)?;
                if let Some(known) = found.task {
                    // One whose words were redacted says nothing that could differ.
                    if known.told.as_ref().is_some_and(|told| told != task) {
                        return Err(WindowChangeError::OtherTask(known.id));
                    }
                    return Ok(Decision::Keep(Made {
                        record: Some(known),
                        archived: Vec::new(),
                        status: Status::of(&head.text),
                    }));
                }
                let written = record_task(&head.text, head.counters, head.now, task, &writer.sizes)?;
                let (archived, status) = (written.archived.clone(), Status::of(&written.text));
                let (mut version, mut record) = writer.version(head, written, Source::Task);
                if let Some(record) = &mut record {
                    record.told = Some(task.clone());
                    version.window.tasks.push((record.id, task.clone()));
                }
                Ok(Decision::Save(
                    Box::new(version),
                    Made {
                        record,
                        archived,
                        status,
                    },
                ))
            })
            .await?;
        outcome.try_into()
    }

    /// Writes a decision into the window.
    ///
    /// # Errors
    /// As [`WindowChangeError`] says.
    pub async fn record_decision(
        &self,
        writer: &Writer,
        decision: &NewDecision,
    ) -> Result<WindowChange, WindowChangeError> {
        let outcome = self
            .change_wanting((&writer.vault, &writer.memory), &Wanted::Nothing, |head, _| {
                writer.check(head)?;
                let words = (decision.decision.as_str(), decision.reason.as_deref());
                let written = record_decision(
                    &head.text,
                    head.counters,
                    head.now,
                    words,
                    decision.supersedes,
                    &writer.sizes,
                )?;
                let (archived, status) = (written.archived.clone(), Status::of(&written.text));
                let (version, record) = writer.version(head, written, Source::Decision);
                Ok(Decision::Save(
                    Box::new(version),
                    Made {
                        record,
                        archived,
                        status,
                    },
                ))
            })
            .await?;
        outcome.try_into()
    }

    /// Writes goal and blocker; see [`set_status`].
    ///
    /// # Errors
    /// As [`WindowChangeError`] says.
    pub async fn set_status(
        &self,
        writer: &Writer,
        goal: Told<'_>,
        blocker: Told<'_>,
    ) -> Result<WindowChange, WindowChangeError> {
        let outcome = self
            .change_wanting((&writer.vault, &writer.memory), &Wanted::Nothing, |head, _| {
                writer.check(head)?;
                let written = set_status(&head.text, head.counters, head.now, goal, blocker, &writer.sizes)?;
                let made = Made {
                    record: None,
                    archived: Vec::new(),
                    status: Status::of(&written.text),
                };
                if written.operations.is_empty() {
                    return Ok::<_, WindowChangeError>(Decision::Keep(made));
                }
                let (version, _) = writer.version(head, written, Source::Status);
                Ok(Decision::Save(Box::new(version), made))
            })
            .await?;
        outcome.try_into()
    }

    /// Takes over what was kept elsewhere; see [`window::take_over`]. Reads all tasks and decisions of the memory.
    ///
    /// # Errors
    /// As [`WindowChangeError`] says.
    pub async fn take_over_window(
        &self,
        writer: &Writer,
        brought: &Brought,
        under: Option<&Answering<'_, TakenOver>>,
    ) -> Result<TakenOver, WindowChangeError> {
        let outcome = self
            .change_wanting((&writer.vault, &writer.memory), &Wanted::Known, |head, found| {
                writer.check(head)?;
                // Thousands of entries take a while.
                let taken = in_place(|| {
                    let (text, brought) = (&head.text, brought.clone());
                    window::take_over(text, head.counters, head.now, brought, found.known, &writer.sizes)
                })?;
                let result = (taken.taken, taken.present, taken.written.archived.clone());
                if taken.taken == Counts::default() {
                    return Ok::<_, WindowChangeError>(Decision::Keep(result));
                }
                let (mut version, _) = writer.version(head, taken.written, Source::Import);
                version.window = WindowRows {
                    tasks: taken.tasks,
                    historic: taken.historic,
                };
                let history = version.window.historic.len();
                if history > 0 {
                    version.log = format!(
                        "{history} older records taken over into the archive\n{}",
                        version.log
                    );
                }
                let (taken, present, archived) = result.clone();
                let done = TakenOver {
                    metadata: Some(version.metadata(&writer.vault, &writer.memory, head)),
                    unchanged: false,
                    taken,
                    present,
                    archived,
                };
                version.answer_under(under, &done);
                Ok(Decision::Save(Box::new(version), result))
            })
            .await?;
        let (taken, present, archived) = outcome.result;
        let unchanged = outcome.saved.is_none();
        let metadata = outcome.saved.or(outcome.head);
        Ok(TakenOver {
            metadata,
            unchanged,
            taken,
            present,
            archived,
        })
    }
}

impl TryFrom<Outcome<Made>> for WindowChange {
    type Error = WindowChangeError;

    /// The change as it is answered: of one that made nothing the version is told by which that was decided.
    fn try_from(outcome: Outcome<Made>) -> Result<Self, WindowChangeError> {
        let unchanged = outcome.saved.is_none();
        let metadata = outcome
            .saved
            .or(outcome.head)
            .ok_or(StorageError::WrongRowCount {
                statement: "db.memory_contexts.get",
                expected: 1,
                actual: 0,
            })?;
        let made = outcome.result;
        Ok(Self {
            metadata,
            unchanged,
            record: made.record,
            archived: made.archived,
            status: made.status,
        })
    }
}
