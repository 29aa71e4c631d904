//! The transactions of `RecordTask`, `RecordDecision`, `SetStatus` and `ImportWindow`.

use super::Preconditions;
use super::change::{AlsoRead, Decision};
use super::error::WriteError;
use super::head::Head;
use super::new_version::NewVersion;
use crate::domain::changelog;
use crate::domain::history::{RecordLife, VersionMark};
use crate::domain::ids::{ActorId, MemoryId, RecordId, TaskId, VaultId};
use crate::domain::memory::{ChangedDocument, EditError, RecordChange};
use crate::domain::window::{self, Change, ImportCounts, Sizes, Status, Task, WindowImport};
use crate::fair::run_blocking;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::Answering;
use crate::storage::records::find_task;
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

/// The result of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowChange {
    /// The newest version.
    pub metadata: ContextMetadata,
    /// Whether everything existed already, so that no version was created.
    pub unchanged: bool,
    /// The added record or, if it existed, that one; `None` for a status.
    pub record: Option<RecordLife>,
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
    fn change<'h>(&self, head: &'h Head) -> Change<'h> {
        Change::begin(&head.text, head.counters, head.now, self.sizes)
    }

    /// The version that a change creates, and the record that it adds.
    fn version(
        &self,
        head: &Head,
        written: ChangedDocument,
        source: Source,
    ) -> (NewVersion, Option<RecordLife>) {
        let added = written.added();
        let mut version = NewVersion::of_text(head, written.text, source, self.actor.clone());
        version.counters = version.counters.raised_by(&written.counters);
        version.log = changelog::of_operations(&written.operations, &version.changes);
        version.operations = written.operations;
        let record = version.changes.iter().find_map(|change| match change {
            RecordChange::Added(record) if Some(record.id) == added => Some(RecordLife {
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
    ) -> Decision<WindowChange> {
        let (archived, status) = (written.archived(), Status::of(&written.text));
        let (mut version, mut record) = self.version(head, written, source);
        if let (Some(record), Some(task)) = (&mut record, reported) {
            record.reported = Some(task.clone());
            version.window.tasks.push((record.record.id, task.clone()));
        }
        let done = WindowChange {
            metadata: version.metadata(&self.vault, &self.memory, head),
            unchanged: false,
            record,
            archived,
            status,
        };
        version.answer_under(under, &done);
        Decision::Save(Box::new(version), done)
    }
}

/// The decision to keep the newest version, because nothing is new; with the record that was there already, if any.
fn keep(head: &Head, record: Option<RecordLife>) -> Result<Decision<WindowChange>, WriteError> {
    let metadata = head.metadata.clone();
    Ok(Decision::Keep(WindowChange {
        metadata: metadata.ok_or(StorageError::WrongRowCount("db.memory_contexts.get"))?,
        unchanged: true,
        record,
        archived: Vec::new(),
        status: Status::of(&head.text),
    }))
}

impl Storage {
    /// Changes the window by `edit`, which may run again on a newer head. With the task that it adds: if its `task_id`
    /// exists with the same content, nothing changes.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn edit_window(
        &self,
        writer: &Writer,
        (source, reported): (Source, Option<&Task>),
        edit: impl Fn(&mut Change<'_>) -> Result<(), EditError>,
        under: Option<&Answering<'_, WindowChange>>,
    ) -> Result<WindowChange, WriteError> {
        let also = AlsoRead {
            task: reported.and_then(|task| task.task_id.as_ref()),
            ..AlsoRead::default()
        };
        self.change((&writer.vault, &writer.memory), also, |head| {
            head.meets(&writer.preconditions)?;
            if let Some(known) = &head.task {
                // A redacted task has no facts that could differ.
                return match known
                    .reported
                    .as_ref()
                    .is_some_and(|known| Some(known) != reported)
                {
                    true => Err(WriteError::OtherTask(known.record.id)),
                    false => keep(head, Some(known.clone())),
                };
            }
            let mut change = writer.change(head);
            edit(&mut change)?;
            let written = change.finish()?;
            match written.operations.is_empty() {
                true => keep(head, None),
                false => Ok(writer.save(head, written, source, reported, under)),
            }
        })
        .await
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
        let also = AlsoRead {
            entries: true,
            ..AlsoRead::default()
        };
        self.change((&writer.vault, &writer.memory), also, |head| {
            head.meets(&writer.preconditions)?;
            // Thousands of entries take a while.
            let result = run_blocking(|| {
                let (import, known) = (import.clone(), head.entries.clone());
                window::import_window(writer.change(head), import, known)
            })?;
            let mut done = WindowImported {
                metadata: head.metadata.clone(),
                unchanged: result.imported == ImportCounts::default(),
                imported: result.imported,
                present: result.present,
                archived: result.written.archived(),
            };
            if done.unchanged {
                return Ok(Decision::Keep(done));
            }
            let (mut version, _) = writer.version(head, result.written, Source::Import);
            version.window = result.rows;
            let history = version.window.historic.len();
            if history > 0 {
                version.log = format!(
                    "{history} older records taken over into the archive\n{}",
                    version.log
                );
            }
            done.metadata = Some(version.metadata(&writer.vault, &writer.memory, head));
            version.answer_under(under, &done);
            Ok(Decision::Save(Box::new(version), done))
        })
        .await
    }
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
    ) -> Result<Option<RecordLife>, StorageError> {
        find_task(&mut self.reader().await?, vault, memory, task).await
    }
}
