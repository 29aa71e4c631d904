//! Step 6, shared by `/update`, `/operations` and approvals: the session record is written into the result of the merge, and the
//! version is saved with the run.

use crate::domain::history::RecordLife;
use crate::domain::ids::RecordId;
use crate::domain::memory::{AppliedOperation, ChangedDocument, OperationName, RecordChange, project};
use crate::domain::operation::{Item, Role};
use crate::domain::window::{SessionRecord, Sizes, WindowRows};
use crate::domain::{changelog, document};
use crate::fair;
use crate::pipeline::check::mentioned;
use crate::pipeline::merge::{Merged, is_status_moved, merge, write_record};
use crate::pipeline::report::{DocumentReport, Rejection, UpdateAnswer, UpdateStatus, Warning};
use crate::pipeline::review::Proposal;
use crate::pipeline::run::Running;
use crate::pipeline::{Mode, Pipeline, PipelineError};
use crate::storage::updates::{Run, RunKind, RunStatus};
use crate::storage::{AlsoRead, Decision, Head, NewVersion, Source};
use std::borrow::Cow;

/// The answer to a run, and its row, if no version stores it.
type RunResult = (UpdateAnswer, Option<Box<Run>>);

impl Pipeline {
    /// Steps 5 and 6: merges the items into the head under its lock, and saves the version. `None` if another writer has
    /// changed progress, which must be asked for again.
    pub(super) async fn save(&self, running: &Running) -> Result<Option<UpdateAnswer>, PipelineError> {
        let accepted = &running.results.accepted;
        let ids = mentioned(accepted.iter().map(|item| &item.operation));
        let ids: Vec<RecordId> = ids.into_iter().collect();
        let written = |item: &Item| item.written.text.len();
        let bytes = running.base.text.len() + accepted.iter().map(written).sum::<usize>();
        let decide = |head: &Head| {
            fair::run_blocking_if_long(bytes, || {
                let mut merged = merge(head, running)?;
                match (&running.record, &head.task) {
                    (Some(record), Some(known)) if running.review.is_none() => {
                        self.repeat(running, head, record, known)
                    }
                    (Some(record), Some(known)) => {
                        // The operations are approved nevertheless.
                        merged.rejected.push(not_recorded(record, known));
                        self.decide(running, head, merged, None)
                    }
                    (record, _) => self.decide(running, head, merged, record.as_ref()),
                }
            })
        };
        let began = (&running.base, running.is_likely());
        let record = running.record.as_ref();
        let also = AlsoRead {
            mentioned: &ids,
            task: record.and_then(|record| record.task.task_id.as_ref()),
            ..AlsoRead::default()
        };
        let place = running.to.place();
        let changed = self.storage.change_snapshot(place, began, also, decide).await;
        let (answer, run) = match changed {
            Ok(result) => result,
            Err(PipelineError::Conflict { .. }) => return Ok(None),
            Err(error @ PipelineError::Storage(_)) => return Err(error),
            Err(refused) => return self.fail(running, refused).await,
        };
        for step in answer.ending() {
            running.steps.send(step);
        }
        if let Some(run) = run {
            let kept = running.answer_to_keep(&answer);
            let resolves = running.resolves.as_ref().filter(|_| !running.dry_run);
            self.storage.save_run(&run, resolves, kept.as_ref()).await?;
        }
        Ok(Some(answer))
    }

    /// Builds the result of the items that are valid on a head, with the session record if there is one.
    fn decide(
        &self,
        running: &Running,
        head: &Head,
        merged: Merged,
        record: Option<&SessionRecord>,
    ) -> Result<Decision<RunResult>, PipelineError> {
        let Merged {
            mut applied,
            items,
            numbers,
            rebased,
            rejected: mut since,
            more_rejected,
        } = merged;
        let mut window = WindowRows::default();
        let record = record.map(
            |record| match record.sets_status() && is_status_moved(running, head) {
                true => Cow::Owned(without_status(record, &mut since)),
                false => Cow::Borrowed(record),
            },
        );
        let record = record.as_deref();
        if let Some(record) = record {
            let (tasks, decisions) = self.config.window.of_vault(running.to.vault.as_str());
            let sizes = Sizes {
                tasks,
                decisions,
                context_bytes: running.limits.context_bytes,
            };
            window = write_record(running, &mut applied, head.now, record, sizes)?;
        }
        let changes = project(&head.text, &applied.text);
        let status = match (applied.text != head.text, running.dry_run, &running.mode) {
            (_, true, _) => UpdateStatus::DryRun,
            (false, false, _) => UpdateStatus::Unchanged,
            (true, false, Mode::Apply) => UpdateStatus::Applied,
            (true, false, Mode::Propose { .. }) => UpdateStatus::Proposed,
        };
        let proposal = match &running.mode {
            Mode::Propose { key } if status == UpdateStatus::Proposed => Some(Proposal::new(
                &items,
                running.kind,
                &head.text,
                record,
                key.as_ref(),
            )),
            _ => None,
        };
        let mut rejected = running.results.rejected.clone();
        rejected.extend(since);
        let more_rejected = running.results.more_rejected + more_rejected;
        let (version, context_id) = match status {
            UpdateStatus::Applied => (head.version + 1, Some(head.next_context_id.clone())),
            _ => (head.version, head.context_id.clone()),
        };
        let operations = applied.operations.iter().cloned();
        let answer = UpdateAnswer {
            status,
            // A dry run or a proposal is computed on the current head, which is then its base.
            base_version: match running.dry_run || proposal.is_some() {
                true => head.version,
                false => running.base_version(),
            },
            version,
            context_id,
            rebased,
            operations: operations
                .zip(numbers.into_iter().chain(std::iter::repeat(None)))
                .map(|(operation, number)| AppliedOperation {
                    number: number.filter(|_| proposal.is_some()),
                    ..operation
                })
                .collect(),
            log: log(running, &applied.operations, &changes, (&rejected, more_rejected)),
            rejected,
            more_rejected,
            warnings: warnings(running, &applied),
            diff: document::unified_diff(
                &head.text,
                &applied.text,
                &format!("version {}", head.version),
                &format!("version {}", head.version + 1),
            ),
            document: DocumentReport::of(&applied.text, running.limits.context_bytes),
            ..unchanged(running, head)
        };
        let mut run = self.run_of_answer(running, &answer, proposal.as_ref(), head.identity.as_ref());
        if status != UpdateStatus::Applied {
            let run = Some(Box::new(run));
            return Ok(Decision::Keep((answer, run)));
        }
        let source = match running.kind {
            RunKind::Update => Source::Update,
            RunKind::Operations | RunKind::Consolidation => Source::Operations,
        };
        if run.status == RunStatus::Applied {
            run.leave_to_its_version();
        }
        if let Some(end) = run.events.last_mut() {
            // Not earlier than the version it saved.
            end.created_at = end.created_at.max(head.now);
        }
        let version = NewVersion {
            counters: applied.counters,
            source,
            actor: running.to.actor.clone(),
            operations: applied.operations,
            changes,
            log: answer.log.clone(),
            run: Some(Box::new(run)),
            resolves: running.resolves.clone(),
            window,
            path: None,
            answer: running.answer_to_keep(&answer),
            text: applied.text,
        };
        Ok(Decision::Save(Box::new(version), (answer, None)))
    }

    /// Keeps a memory that has the task already: an earlier call did the work.
    ///
    /// # Errors
    /// The id of the task belongs to one with different content.
    fn repeat(
        &self,
        running: &Running,
        head: &Head,
        record: &SessionRecord,
        known: &RecordLife,
    ) -> Result<Decision<RunResult>, PipelineError> {
        if !says_the_same(known, record) {
            return Err(PipelineError::OtherTask {
                update_id: running.update_id.clone(),
                record: known.record.id,
            });
        }
        let done = format!(
            "the task was recorded already, as {} in version {}; nothing was done",
            known.record.id, known.born.version
        );
        let mut answer = unchanged(running, head);
        answer.log = format!("{}\n{done}", running.title);
        answer.warnings.push(Warning::new(None, "already_recorded", done));
        let run = self.run_of_answer(running, &answer, None, head.identity.as_ref());
        let run = Some(Box::new(run));
        Ok(Decision::Keep((answer, run)))
    }
}

/// Whether a task that the memory has says what this record says. A redacted one has no content that could differ.
fn says_the_same(known: &RecordLife, record: &SessionRecord) -> bool {
    let reported = known.reported.as_ref();
    reported.is_none_or(|reported| *reported == record.task)
}

/// A record without goal and blocker, which another writer has changed meanwhile.
fn without_status(record: &SessionRecord, rejected: &mut Vec<Rejection>) -> SessionRecord {
    let said = record.goal.as_deref().or(record.blocker.as_deref());
    let detail = "Goal and blocker were changed meanwhile; they stay as they are now.";
    rejected.push(Rejection::new(
        None,
        "status_moved",
        detail,
        said.unwrap_or_default(),
    ));
    SessionRecord {
        goal: None,
        blocker: None,
        ..record.clone()
    }
}

/// Why the record of an approved proposal is not written.
fn not_recorded(record: &SessionRecord, known: &RecordLife) -> Rejection {
    let kind = match says_the_same(known, record) {
        true => "already_recorded",
        false => "other_task",
    };
    let detail = format!("Its task_id belongs to {} already.", known.record.id);
    Rejection::new(None, kind, detail, &record.task.intent)
}

/// The answer of a run that changes nothing.
fn unchanged(running: &Running, head: &Head) -> UpdateAnswer {
    UpdateAnswer {
        update_id: running.update_id.clone(),
        vault_id: running.to.vault.clone(),
        memory_id: running.to.memory.clone(),
        status: match running.dry_run {
            true => UpdateStatus::DryRun,
            false => UpdateStatus::Unchanged,
        },
        base_version: head.version,
        version: head.version,
        context_id: head.context_id.clone(),
        rebased: false,
        operations: Vec::new(),
        rejected: Vec::new(),
        more_rejected: 0,
        warnings: running.results.warnings.clone(),
        more_warnings: running.results.more_warnings,
        diff: String::new(),
        log: String::new(),
        models: running.results.models.clone(),
        document: DocumentReport::of(&head.text, running.limits.context_bytes),
    }
}

/// The warnings about a run and about the resulting document.
fn warnings(running: &Running, applied: &ChangedDocument) -> Vec<Warning> {
    let mut warnings = running.results.warnings.clone();
    let rewrites = |operation: &AppliedOperation| operation.op == OperationName::RewriteProgress;
    if applied.operations.iter().any(rewrites) && document::has_free_progress(&applied.text) {
        let detail = "the document also has a section of its own titled `Progress`, which no update changes: what it \
            says stays in every prompt beside `Current Progress`; put the document without it";
        warnings.push(Warning::new(
            Some(Role::Progress),
            "second_progress_section",
            detail,
        ));
    }
    warnings
}

/// Logged for a text without a section header.
const WHAT_A_HEADER_IS: &str = "! no section header was found: a text of operations begins with a line such as \
`KEY_LEARNINGS:`, below it `ADD:`, and below that `- because <reason>: <insight>`";

/// Builds the log: the title, the changes, then what was not applied, of which `more` items are not listed.
fn log(
    running: &Running,
    operations: &[AppliedOperation],
    changes: &[RecordChange],
    (rejected, more): (&[Rejection], usize),
) -> String {
    let words = changelog::of_operations(operations, changes);
    let title = running.title.clone();
    let mut lines = match (running.kind, words.is_empty()) {
        (RunKind::Operations | RunKind::Consolidation, true) => vec!["nothing was applied".to_owned()],
        (RunKind::Update, true) => vec![title, "nothing changed".to_owned()],
        (_, false) => vec![title, words],
    };
    for rejection in rejected {
        let section = rejection.section.map(|section| format!("{section}: "));
        let section = section.unwrap_or_default();
        lines.push(format!("! {section}{}: {}", rejection.kind, rejection.detail));
    }
    if more > 0 {
        lines.push(format!("! and {more} more items were not applied"));
    }
    if running.kind == RunKind::Operations && running.has_no_section() {
        lines.push(WHAT_A_HEADER_IS.to_owned());
    }
    lines.join("\n")
}
