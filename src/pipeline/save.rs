//! Steps 5 and 6, shared by `/update`, `/operations` and approvals: the items of a run are merged into the current head, without
//! losing changes of other writers, the session record is written into the result, and the version is saved. Also the head snapshot
//! that a run begins with.

use crate::domain::faults::Omitted;
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::domain::memory::{
    AppliedOperation, ChangedDocument, OperationName, RecordChange, View, apply, project, validate,
};
use crate::domain::operation::{Operation, Role};
use crate::domain::window::{SessionRecord, Sizes, record_session};
use crate::domain::{changelog, document};
use crate::fair;
use crate::pipeline::prompts::section_of;
use crate::pipeline::reading::{Accepted, mentioned};
use crate::pipeline::report::{
    DocumentReport, OperationReport, Rejection, UpdateAnswer, UpdateStatus, Warning,
};
use crate::pipeline::review::{Proposal, rewrites_progress};
use crate::pipeline::role::numbered;
use crate::pipeline::run::Running;
use crate::pipeline::{Mode, Pipeline, PipelineError};
use crate::storage::records::StoredRecord;
use crate::storage::updates::{Run, RunKind, RunStatus};
use crate::storage::{AlsoRead, Decision, Head, NewVersion, Preconditions, Source, WindowRows};

/// The result of a run.
pub(super) struct RunResult {
    answer: UpdateAnswer,
    /// Its row, if no version stores it.
    run: Option<Box<Run>>,
}

impl Pipeline {
    /// Takes a head snapshot.
    pub(super) async fn capture(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        preconditions: &Preconditions,
    ) -> Result<Head, PipelineError> {
        let snapshot = self.storage.head_snapshot(vault, memory).await?;
        preconditions.check(snapshot.context_id.as_ref(), Some(snapshot.version))?;
        Ok(snapshot)
    }

    /// Takes another head snapshot for a run under which progress was changed, unless that happened too often.
    pub(super) async fn rebase(&self, running: &mut Running) -> Result<(), PipelineError> {
        if running.rebases == self.config.pipeline.max_rebases {
            let error = PipelineError::Conflict {
                update_id: running.update_id.clone(),
                rebases: running.rebases,
            };
            return self.fail(running, error).await;
        }
        running.rebases += 1;
        let place = (&running.vault, &running.memory);
        let snapshot = self.capture(place, &running.preconditions).await?;
        if running.identity().is_some() && running.identity() != snapshot.identity.as_ref() {
            return Err(PipelineError::Deleted);
        }
        running.rebased_on = Some(snapshot);
        Ok(())
    }

    /// Steps 5 and 6: merges the items into the head under its lock, and saves the version. `None` if another writer has
    /// changed progress, which must be asked for again.
    pub(super) async fn save(&self, running: &Running) -> Result<Option<UpdateAnswer>, PipelineError> {
        let accepted = &running.results.accepted;
        let ids: Vec<RecordId> = mentioned(&numbered(accepted), &[]);
        let place = (&running.vault, &running.memory);
        let written = |item: &Accepted| item.written.text.len();
        let bytes = running.base.text.len() + accepted.iter().map(written).sum::<usize>();
        let decide = |head: &Head| {
            let known = head.task.as_ref().or(running.known.as_ref());
            fair::run_blocking_if_long(bytes, || match &running.review {
                Some(review) => self.decide_approval(running, review, head, known),
                None => {
                    let merged = merge(head, running)?;
                    match (&running.record, known) {
                        (Some(record), Some(known)) => self.repeat(running, head, record, known),
                        (record, _) => self.decide(running, head, merged, record.as_ref()),
                    }
                }
            })
        };
        let began = (&running.base, running.is_likely());
        let also = AlsoRead {
            mentioned: &ids,
            task: running.task_id(),
            ..AlsoRead::default()
        };
        let changed = self.storage.change_snapshot(place, began, also, decide).await;
        let RunResult { answer, run } = match changed {
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
    pub(super) fn decide(
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
            ..
        } = merged;
        let window = match record {
            Some(record) => write_record(running, &mut applied, head, record, &self.sizes(running))?,
            None => WindowRows::default(),
        };
        let changes = project(&head.text, &applied.text);
        let status = match (applied.text != head.text, running.dry_run, &running.mode) {
            (_, true, _) => UpdateStatus::DryRun,
            (false, false, _) => UpdateStatus::Unchanged,
            (true, false, Mode::Apply) => UpdateStatus::Applied,
            (true, false, Mode::Propose { .. }) => UpdateStatus::Proposed,
        };
        let proposal = match &running.mode {
            Mode::Propose { key } if status == UpdateStatus::Proposed => {
                let before = section_of(&head.text, Role::Progress).trim_end();
                Some(Proposal::new(&items, before, record, key.as_ref()))
            }
            _ => None,
        };
        let mut rejected = running.results.rejected.clone();
        rejected.extend(merged.rejected);
        let mut omitted = running.results.omitted;
        omitted.merge(merged.omitted);
        let (version, context_id) = match status {
            UpdateStatus::Applied => (head.version + 1, Some(head.next_context_id.clone())),
            _ => (head.version, head.context_id.clone()),
        };
        let operations = applied.operations.iter();
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
                .map(|(operation, number)| OperationReport {
                    number: number.filter(|_| proposal.is_some()),
                    ..OperationReport::from(operation)
                })
                .collect(),
            log: log(
                running,
                &applied.operations,
                &changes,
                (&rejected, omitted.rejections),
            ),
            rejected,
            more_rejected: omitted.rejections,
            warnings: warnings(running, &applied),
            more_warnings: omitted.warnings,
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
            return Ok(Decision::Keep(RunResult { answer, run }));
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
            actor: running.actor.clone(),
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
        Ok(Decision::Save(Box::new(version), RunResult { answer, run: None }))
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
        known: &StoredRecord,
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
        Ok(Decision::Keep(RunResult { answer, run }))
    }
}

/// Whether a task that the memory has says what this record says. A redacted one has no content that could differ.
pub(super) fn says_the_same(known: &StoredRecord, record: &SessionRecord) -> bool {
    let reported = known.reported.as_ref();
    reported.is_none_or(|reported| *reported == record.task)
}

/// The answer of a run that changes nothing.
fn unchanged(running: &Running, head: &Head) -> UpdateAnswer {
    UpdateAnswer {
        update_id: running.update_id.clone(),
        vault_id: running.vault.clone(),
        memory_id: running.memory.clone(),
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
        more_warnings: running.results.omitted.warnings,
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

/// The memory with the items applied.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) applied: ChangedDocument,
    /// Items that no longer fit the head, for example because a record was archived or added meanwhile.
    pub(super) rejected: Vec<Rejection>,
    /// How many more there are.
    pub(super) omitted: Omitted,
    /// Whether the head differs from the head snapshot.
    pub(super) rebased: bool,
    /// The items that were applied, in the order of their changes.
    pub(super) items: Vec<Accepted>,
    /// For each change the index of its item.
    pub(super) numbers: Vec<Option<usize>>,
}

/// Applies the items of a run, which were validated against its snapshots, to the head.
///
/// # Errors
/// Why nothing may be saved; a conflict if another writer changed progress, which must be asked for again on this head.
pub(super) fn merge(head: &Head, running: &Running) -> Result<Merged, PipelineError> {
    let (accepted, progress_base) = (&running.results.accepted, running.progress_base());
    head.meets(&running.preconditions)?;
    let identity = running.identity();
    // A memory that exists now under its name is another one.
    if identity.is_some() && identity != head.identity.as_ref() {
        return Err(PipelineError::Deleted);
    }
    let rewrites = accepted.iter().any(rewrites_progress);
    // Trailing blank lines do not belong to the section: they depend on the section that follows.
    let progress_of = |text| section_of(text, Role::Progress).trim_end();
    let moved = head.context_id != progress_base.context_id
        && progress_of(&head.text) != progress_of(&progress_base.text);
    if rewrites && moved {
        return Err(PipelineError::Conflict {
            update_id: running.update_id.clone(),
            rebases: 0,
        });
    }
    let rebased = head.context_id != running.base.context_id;
    merge_onto(head, accepted, rebased, running)
}

/// Applies those items that are valid on the head.
pub(super) fn merge_onto(
    head: &Head,
    accepted: &[Accepted],
    rebased: bool,
    running: &Running,
) -> Result<Merged, PipelineError> {
    let limits = &running.limits;
    let view = View {
        document: &head.text,
        ended: &head.archived,
        now: head.now,
    };
    let validated = validate(numbered(accepted), Vec::new(), &view, &[], limits);
    let rejected = validated
        .faults
        .iter()
        .map(|fault| Rejection::of_fault(fault, &accepted[fault.range.start].written))
        .collect();
    let valid = validated.items.into_iter();
    let (items, operations): (Vec<&Accepted>, Vec<Operation>) = valid
        .map(|item| (&accepted[item.range.start], item.operation))
        .unzip();
    let mut applied = apply(&head.text, head.counters, &operations, head.now, limits)
        .map_err(|error| PipelineError::of_edit(error, &running.update_id, head.text.len()))?;
    // The items that were applied, in the order of their changes, and the number of each of them there.
    let mut ordered: Vec<Accepted> = Vec::new();
    let mut numbers = vec![None; items.len()];
    for change in &mut applied.operations {
        let Some(cause) = change.cause else { continue };
        let item = items[cause];
        let is_implied = change.op == OperationName::Archive && item.operation.archives().is_none();
        // The evidence of an addition is not that of the archivings that it implies.
        if !is_implied {
            change.evidence.clone_from(&item.evidence);
            numbers[cause] = Some(ordered.len());
            ordered.push(item.clone());
        }
    }
    let changes = applied.operations.iter();
    let numbers = changes.map(|change| numbers[change.cause?]).collect();
    Ok(Merged {
        applied,
        rejected,
        omitted: validated.omitted,
        rebased,
        items: ordered,
        numbers,
    })
}

/// Writes the record into a document after operations were applied to it; `before` is the document before them.
fn write_record(
    running: &Running,
    applied: &mut ChangedDocument,
    head: &Head,
    record: &SessionRecord,
    sizes: &Sizes,
) -> Result<WindowRows, PipelineError> {
    let written = record_session(&applied.text, applied.counters, head.now, record, sizes)
        .map_err(|error| PipelineError::of_edit(error, &running.update_id, head.text.len()))?;
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
        let (tasks, decisions) = self.config.window.of_vault(running.vault.as_str());
        Sizes {
            tasks,
            decisions,
            context_bytes: running.limits.context_bytes,
        }
    }
}
