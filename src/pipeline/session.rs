//! The session record of an update: written once into the document that the roles' operations produced.

use super::report::{DocumentReport, UpdateAnswer, UpdateStatus, Warning};
use super::run::Running;
use super::{Pipeline, PipelineError};
use crate::domain::ids::ContextId;
use crate::domain::memory::{Applied, OperationName};
use crate::domain::window::{SessionRecord, Sizes, record_session};
use crate::storage::records::StoredRecord;
use crate::storage::{Head, WindowRows};

/// Whether the memory already contains the task of this record.
///
/// # Errors
/// Its id belongs to a task with different content.
pub(super) fn is_recorded(
    running: &Running,
    record: &SessionRecord,
    known: Option<&StoredRecord>,
) -> Result<bool, PipelineError> {
    match known {
        None => Ok(false),
        // A redacted task has no content that could differ.
        Some(known)
            if known
                .reported
                .as_ref()
                .is_some_and(|reported| *reported != record.task) =>
        {
            Err(PipelineError::OtherTask {
                update_id: running.target.update_id.clone(),
                record: known.record.id,
            })
        }
        Some(_) => Ok(true),
    }
}

/// Writes the record into a document after operations were applied to it; `before` is the document before them.
pub(super) fn write(
    running: &Running,
    applied: &mut Applied,
    head: &Head,
    record: &SessionRecord,
    sizes: &Sizes,
) -> Result<WindowRows, PipelineError> {
    let written = record_session(&applied.text, applied.counters, head.now, record, sizes)
        .map_err(|error| PipelineError::of_edit(error, &running.target.update_id, head.text.len()))?;
    let added = written.added();
    applied.text = written.text;
    applied.counters = written.counters;
    for operation in written.operations {
        let is_rewrite = |op: OperationName| op == OperationName::RewriteProgress;
        match applied
            .operations
            .first_mut()
            .filter(|first| is_rewrite(first.op))
        {
            // The rewrite of a role, with the bullet moved.
            Some(first) if is_rewrite(operation.op) => *first = operation,
            _ => applied.operations.push(operation),
        }
    }
    let tasks = added.map(|id| (id, record.task.clone()));
    Ok(WindowRows {
        tasks: tasks.into_iter().collect(),
        ..WindowRows::default()
    })
}

impl Pipeline {
    /// The maximum sizes of the windows of the run's vault.
    pub(super) fn sizes(&self, running: &Running) -> Sizes {
        let (tasks, decisions) = self.window.of_vault(running.target.vault.as_str());
        Sizes {
            tasks,
            decisions,
            context_bytes: running.limits.context_bytes,
        }
    }

    /// The response to an update whose task is already recorded. An earlier call did the work, so no model is called.
    pub(super) async fn repeated(&self, running: &Running) -> Result<Option<UpdateAnswer>, PipelineError> {
        let Some(record) = &running.record else {
            return Ok(None);
        };
        let Some(task_id) = &record.task.task_id else {
            return Ok(None);
        };
        let (vault, memory) = (&running.target.vault, &running.target.memory);
        let known = self.storage.known_task(vault, memory, task_id).await?;
        match is_recorded(running, record, known.as_ref()) {
            Ok(false) => Ok(None),
            Err(refused) => Err(self.refuse(running, refused).await?),
            Ok(true) => {
                let base = &running.base;
                let head = (base.version, base.context_id.as_ref(), &*base.text);
                let answer = repeat(running, known.as_ref(), head);
                let run = self.run_of_answer(running, answer.status.of_run(), &answer, None);
                let kept = running.answer_to_keep(&answer);
                self.storage.save_run(&run, None, kept.as_ref()).await?;
                Ok(Some(answer))
            }
        }
    }
}

/// The response to a repeated call, about a head: its version, id and text.
pub(super) fn repeat(
    running: &Running,
    known: Option<&StoredRecord>,
    (version, context_id, text): (i64, Option<&ContextId>, &str),
) -> UpdateAnswer {
    let done = known.map_or_else(
        || "nothing was done".to_owned(),
        |known| {
            format!(
                "the task was recorded already, as {} in version {}; nothing was done",
                known.record.id, known.born.version
            )
        },
    );
    let mut warnings = running.warnings.clone();
    warnings.push(Warning {
        section: None,
        kind: "already_recorded".to_owned(),
        detail: done.clone(),
        index: None,
    });
    UpdateAnswer {
        update_id: running.target.update_id.to_string(),
        vault_id: running.target.vault.to_string(),
        memory_id: running.target.memory.to_string(),
        status: if running.dry_run {
            UpdateStatus::DryRun
        } else {
            UpdateStatus::Unchanged
        },
        base_version: version,
        version,
        context_id: context_id.map(ToString::to_string),
        rebased: false,
        operations: Vec::new(),
        rejected: Vec::new(),
        more_rejected: 0,
        more_warnings: running.omitted.warnings(),
        warnings,
        diff: String::new(),
        log: format!("{}\n{done}", running.title),
        models: running.models.clone(),
        document: DocumentReport::of(text, running.limits.context_bytes),
    }
}
