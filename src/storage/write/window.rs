//! The transactions of `RecordTask`, `RecordDecision`, `SetStatus` and `ImportWindow`.

use super::Preconditions;
use super::change::{AdditionalRead, Decision, Outcome};
use super::error::WriteError;
use super::head::Head;
use super::new_version::NewVersion;
use crate::domain::changelog;
use crate::domain::history::VersionMark;
use crate::domain::ids::{ActorId, MemoryId, RecordId, TaskId, VaultId};
use crate::domain::memory::{ChangedDocument, RecordChange};
use crate::domain::window::{
    self, FieldUpdate, HistoricRecord, ImportCounts, Sizes, Status, Task, WindowImport, record_decision,
    record_task, set_status,
};
use crate::fair::run_blocking;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::Answering;
use crate::storage::records::{StoredRecord, find_task};
use crate::storage::{Storage, StorageError};

/// The actor, memory and conditions of a change of the window.
#[derive(Debug, Clone)]
pub struct Writer {
    /// The vault.
    pub vault: VaultId,
    /// The memory; created if it does not exist.
    pub memory: MemoryId,
    /// The actor.
    pub actor: ActorId,
    /// Conditions on the head.
    pub preconditions: Preconditions,
    /// The size of the window, and the limit of the document.
    pub sizes: Sizes,
}

/// A decision to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision {
    /// The decision.
    pub decision: String,
    /// The reason, if given.
    pub reason: Option<String>,
    /// The decision that it replaces.
    pub supersedes: Option<RecordId>,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowChange {
    /// The newest version.
    pub metadata: ContextMetadata,
    /// Whether everything existed already, so that no version was created.
    pub unchanged: bool,
    /// The added record or, if it existed, that one; `None` for a status.
    pub record: Option<StoredRecord>,
    /// The records that were archived to make space.
    pub archived: Vec<RecordId>,
    /// Goal and blocker after the change.
    pub status: Status,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowImported {
    /// The newest version; `None` if nothing was imported to a memory that does not exist.
    pub metadata: Option<ContextMetadata>,
    /// Whether nothing was new, so that no version was created.
    pub unchanged: bool,
    /// Number of imported entries.
    pub imported: ImportCounts,
    /// Number of entries that existed already.
    pub present: ImportCounts,
    /// The records that were archived to make space.
    pub archived: Vec<RecordId>,
}

impl Writer {
    /// The version that a change creates, and the record that it adds.
    fn version(
        &self,
        head: &Head,
        written: ChangedDocument,
        source: Source,
    ) -> (NewVersion, Option<StoredRecord>) {
        let added = written.added();
        let mut version = NewVersion::of_text(head, written.text, source, self.actor.clone());
        version.counters = version.counters.raised_by(&written.counters);
        version.log = changelog::of_operations(&written.operations, &version.changes);
        version.operations = written.operations;
        let record = version.changes.iter().find_map(|change| match change {
            RecordChange::Added(record) if Some(record.id) == added => Some(StoredRecord {
                record: record.clone(),
                born: VersionMark {
                    version: head.version + 1,
                    at: head.now,
                    by: self.actor.clone(),
                },
                end: None,
                reported: None,
            }),
            _ => None,
        });
        (version, record)
    }

    /// The decision to save what was written, with the answer to the request. `reported` is the task that it adds.
    fn save(
        &self,
        head: &Head,
        written: ChangedDocument,
        source: Source,
        reported: Option<&Task>,
        under: Option<&Answering<'_, WindowChange>>,
    ) -> Decision<Made> {
        let (archived, status) = (written.archived(), Status::of(&written.text));
        let (mut version, mut record) = self.version(head, written, source);
        if let (Some(record), Some(task)) = (&mut record, reported) {
            record.reported = Some(task.clone());
            version.window.tasks.push((record.record.id, task.clone()));
        }
        let made = Made {
            record,
            archived,
            status,
        };
        if under.is_some() {
            let metadata = version.metadata(&self.vault, &self.memory, head);
            version.answer_under(under, &made.clone().into_change(metadata, false));
        }
        Decision::Save(Box::new(version), made)
    }
}

/// The result of a decision, before it is saved.
#[derive(Clone)]
struct Made {
    record: Option<StoredRecord>,
    archived: Vec<RecordId>,
    status: Status,
}

impl Made {
    /// The answer when the version is saved or, if there is none, was there already.
    fn into_change(self, metadata: ContextMetadata, unchanged: bool) -> WindowChange {
        WindowChange {
            metadata,
            unchanged,
            record: self.record,
            archived: self.archived,
            status: self.status,
        }
    }
}

impl Storage {
    /// Adds a completed task to the window. If its `task_id` exists with the same content, nothing changes.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn record_task(
        &self,
        writer: &Writer,
        task: &Task,
        under: Option<&Answering<'_, WindowChange>>,
    ) -> Result<WindowChange, WriteError> {
        let read = task
            .task_id
            .as_ref()
            .map_or(AdditionalRead::Nothing, AdditionalRead::Task);
        let outcome = self
            .change_with_read((&writer.vault, &writer.memory), &read, |head, found| {
                head.meets(&writer.preconditions)?;
                if let Some(known) = found.task {
                    // A redacted task has no facts that could differ.
                    if known.reported.as_ref().is_some_and(|reported| reported != task) {
                        return Err(WriteError::OtherTask(known.record.id));
                    }
                    return Ok(Decision::Keep(Made {
                        record: Some(known),
                        archived: Vec::new(),
                        status: Status::of(&head.text),
                    }));
                }
                let written = record_task(&head.text, head.counters, head.now, task, &writer.sizes)?;
                Ok(writer.save(head, written, Source::Task, Some(task), under))
            })
            .await?;
        outcome.try_into()
    }

    /// Adds a decision to the window.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn record_decision(
        &self,
        writer: &Writer,
        decision: &NewDecision,
        under: Option<&Answering<'_, WindowChange>>,
    ) -> Result<WindowChange, WriteError> {
        let outcome = self
            .change(&writer.vault, &writer.memory, &[], |head| {
                head.meets(&writer.preconditions)?;
                let words = (decision.decision.as_str(), decision.reason.as_deref());
                let (now, supersedes) = (head.now, decision.supersedes);
                let written =
                    record_decision(&head.text, head.counters, now, words, supersedes, &writer.sizes)?;
                Ok::<_, WriteError>(writer.save(head, written, Source::Decision, None, under))
            })
            .await?;
        outcome.try_into()
    }

    /// Sets goal and blocker; see [`set_status`].
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn set_status(
        &self,
        writer: &Writer,
        goal: FieldUpdate<'_>,
        blocker: FieldUpdate<'_>,
        under: Option<&Answering<'_, WindowChange>>,
    ) -> Result<WindowChange, WriteError> {
        let outcome = self
            .change(&writer.vault, &writer.memory, &[], |head| {
                head.meets(&writer.preconditions)?;
                let written = set_status(&head.text, head.counters, head.now, goal, blocker, &writer.sizes)?;
                if written.operations.is_empty() {
                    return Ok(Decision::Keep(Made {
                        record: None,
                        archived: Vec::new(),
                        status: Status::of(&written.text),
                    }));
                }
                Ok::<_, WriteError>(writer.save(head, written, Source::Status, None, under))
            })
            .await?;
        outcome.try_into()
    }

    /// Imports tasks and decisions; see [`window::import_window`]. Reads all tasks and decisions of the memory.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn import_window(
        &self,
        writer: &Writer,
        import: &WindowImport,
        under: Option<&Answering<'_, WindowImported>>,
    ) -> Result<WindowImported, WriteError> {
        let outcome = self
            .change_with_read(
                (&writer.vault, &writer.memory),
                &AdditionalRead::KnownEntries,
                |head, found| {
                    head.meets(&writer.preconditions)?;
                    // Thousands of entries take a while.
                    let import_result = run_blocking(|| {
                        let (text, import) = (&head.text, import.clone());
                        window::import_window(
                            text,
                            head.counters,
                            head.now,
                            import,
                            found.known,
                            &writer.sizes,
                        )
                    })?;
                    let result = (
                        import_result.imported,
                        import_result.present,
                        import_result.written.archived(),
                    );
                    if import_result.imported == ImportCounts::default() {
                        return Ok::<_, WriteError>(Decision::Keep(result));
                    }
                    let (mut version, _) = writer.version(head, import_result.written, Source::Import);
                    version.window = WindowRows {
                        tasks: import_result.tasks,
                        historic: import_result.historic,
                    };
                    let history = version.window.historic.len();
                    if history > 0 {
                        version.log = format!(
                            "{history} older records taken over into the archive\n{}",
                            version.log
                        );
                    }
                    let (imported, present, archived) = result.clone();
                    let done = WindowImported {
                        metadata: Some(version.metadata(&writer.vault, &writer.memory, head)),
                        unchanged: false,
                        imported,
                        present,
                        archived,
                    };
                    version.answer_under(under, &done);
                    Ok(Decision::Save(Box::new(version), result))
                },
            )
            .await?;
        let (imported, present, archived) = outcome.result;
        let unchanged = outcome.saved.is_none();
        let metadata = outcome.saved.or(outcome.head);
        Ok(WindowImported {
            metadata,
            unchanged,
            imported,
            present,
            archived,
        })
    }
}

impl TryFrom<Outcome<Made>> for WindowChange {
    type Error = WriteError;

    /// Converts to the answer. If nothing was saved, it contains the version on which the decision was based.
    fn try_from(outcome: Outcome<Made>) -> Result<Self, WriteError> {
        let unchanged = outcome.saved.is_none();
        let metadata = outcome
            .saved
            .or(outcome.head)
            .ok_or(StorageError::WrongRowCount("db.memory_contexts.get"))?;
        Ok(outcome.result.into_change(metadata, unchanged))
    }
}

/// Facts of tasks and decisions that no document contains.
#[derive(Debug, Clone, Default)]
pub struct WindowRows {
    /// The reported facts of tasks that it adds.
    pub tasks: Vec<(RecordId, Task)>,
    /// Records that are added directly to the archive.
    pub historic: Vec<HistoricRecord>,
}

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
        find_task(&mut self.reader().await?, vault, memory, task).await
    }
}
