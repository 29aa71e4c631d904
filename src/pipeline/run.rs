//! One run from its captured base to its answer, shared by `/update` and `/operations`.

use super::durable::Claim;
use super::merge::{self, Merged, Refused};
use super::report::{
    DocumentReport, ModelReport, OperationReport, Rejection, Target, UpdateAnswer, UpdateStatus, Warning,
};
use super::role::{Accepted, mentioned, numbered};
use super::{Pipeline, PipelineError, Step, Steps};
use crate::domain::ids::{ActorId, ContextId, RecordId, UpdateId};
use crate::domain::memory::{Applied, AppliedOperation, Limits, OperationName, RecordChange, project};
use crate::domain::operation::{FaultKind, Role};
use crate::domain::{changelog, document};
use crate::storage::events::NewEvent;
use crate::storage::idempotency::IdempotencyClaim;
use crate::storage::updates::{Run, RunKind, RunStatus};
use crate::storage::usage::RoleSpent;
use crate::storage::{
    ChangeError, Decision, Head, HeadSnapshot, NewVersion, Preconditions, Source, StorageError, WindowRows,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A run under way: what was asked for and what came of it so far.
pub(super) struct Running {
    pub(super) target: Target,
    pub(super) kind: RunKind,
    pub(super) actor: ActorId,
    pub(super) created_at: DateTime<Utc>,
    /// The request as it is kept.
    pub(super) request: Value,
    pub(super) preconditions: Preconditions,
    pub(super) dry_run: bool,
    pub(super) resolves: Option<UpdateId>,
    pub(super) limits: Limits,
    /// The first line of the log entry.
    pub(super) title: String,
    /// The head when the run began.
    pub(super) base: HeadSnapshot,
    /// The head that progress was written for; `base` until it is asked again.
    pub(super) progress_base: HeadSnapshot,
    pub(super) accepted: Vec<Accepted>,
    pub(super) rejected: Vec<Rejection>,
    pub(super) warnings: Vec<Warning>,
    pub(super) models: BTreeMap<String, ModelReport>,
    pub(super) exchanges: Vec<Value>,
    /// What its models cost and is not written down yet.
    pub(super) spent: Vec<RoleSpent>,
    /// The claim under which it runs, if it was queued.
    pub(super) claim: Option<Claim>,
    /// The claim of the idempotency key under which it is saved.
    pub(super) idempotency: Option<IdempotencyClaim>,
    /// Who is told of its steps.
    pub(super) steps: Option<Steps>,
}

/// What saving came to.
pub(super) enum Saved {
    /// The answer for the caller.
    Answer(Box<UpdateAnswer>),
    /// Progress has to be asked again.
    ProgressMoved,
}

impl Pipeline {
    /// The head as it is now.
    pub(super) async fn capture(
        &self,
        target: &Target,
        preconditions: &Preconditions,
    ) -> Result<HeadSnapshot, PipelineError> {
        let captured = self.storage.head_snapshot(&target.vault, &target.memory).await?;
        if preconditions.hold(captured.context_id.as_ref().map(ContextId::as_str)) {
            Ok(captured)
        } else {
            Err(PipelineError::PreconditionFailed {
                current: captured.context_id,
            })
        }
    }

    /// Steps 5 and 6: merges onto the head under its lock, and saves.
    pub(super) async fn save(&self, running: &Running) -> Result<Saved, PipelineError> {
        let ids: Vec<RecordId> = mentioned(&numbered(&running.accepted), &[]);
        let (vault, memory) = (&running.target.vault, &running.target.memory);
        let outcome = self
            .storage
            .change_snapshot((vault, memory), running.likely_head(), &ids, |head| {
                let merged = merge::merge(
                    head,
                    &running.base,
                    &running.progress_base,
                    &running.accepted,
                    &running.preconditions,
                    &running.limits,
                )?;
                Ok(self.decide(running, head, merged))
            })
            .await;
        match outcome {
            Ok(outcome) => {
                running.tell(Step::Merged {
                    rebased: outcome.result.rebased,
                });
                if let Some(saved) = &outcome.saved {
                    running.tell(Step::Saved {
                        version: saved.version,
                        context_id: saved.context_id.to_string(),
                    });
                }
                // A version carries its run; without one the run is kept by itself.
                if outcome.saved.is_none() {
                    let status = match outcome.result.status {
                        UpdateStatus::DryRun => RunStatus::DryRun,
                        _ => RunStatus::Unchanged,
                    };
                    let run = self.run_of_answer(running, status, &outcome.result);
                    match &running.resolves {
                        Some(resolves) if !running.dry_run => {
                            self.storage
                                .save_resolving_run(&run, resolves, running.idempotency.as_ref())
                                .await?;
                        }
                        _ => self.storage.save_run(&run, running.idempotency.as_ref()).await?,
                    }
                }
                Ok(Saved::Answer(Box::new(outcome.result)))
            }
            Err(ChangeError::Refused(Refused::ProgressMoved)) => Ok(Saved::ProgressMoved),
            Err(ChangeError::Refused(refused)) => Err(self.refuse(running, refused).await?),
            Err(ChangeError::Storage(error)) => Err(error.into()),
        }
    }

    fn decide(&self, running: &Running, head: &Head, merged: Merged) -> Decision<UpdateAnswer> {
        let text = &merged.applied.text;
        let changed = *text != head.text;
        let changes = project(&head.text, text);
        let status = match (changed, running.dry_run) {
            (_, true) => UpdateStatus::DryRun,
            (true, false) => UpdateStatus::Applied,
            (false, false) => UpdateStatus::Unchanged,
        };
        let saves = status == UpdateStatus::Applied;
        let mut rejected = running.rejected.clone();
        rejected.extend(merged.rejected);
        let context_id = if saves {
            Some(&head.next_context_id)
        } else {
            head.context_id.as_ref()
        };
        let shown_version = if saves { head.version + 1 } else { head.version };
        let answer = UpdateAnswer {
            update_id: running.target.update_id.to_string(),
            vault_id: running.target.vault.to_string(),
            memory_id: running.target.memory.to_string(),
            status,
            // A dry run is tried on the head of this moment: that is then its base.
            base_version: if running.dry_run {
                head.version
            } else {
                running.base.version
            },
            version: shown_version,
            context_id: context_id.map(ToString::to_string),
            rebased: merged.rebased,
            operations: merged
                .applied
                .operations
                .iter()
                .map(OperationReport::from)
                .collect(),
            log: log(running, &merged.applied.operations, &changes, &rejected),
            rejected,
            warnings: warnings(running, &merged.applied),
            diff: document::unified_diff(
                &head.text,
                text,
                &format!("version {}", head.version),
                &format!("version {}", head.version + 1),
            ),
            models: running.models.clone(),
            document: DocumentReport::of(text, running.limits.context_bytes),
        };
        if !saves {
            return Decision::Keep(answer);
        }
        let source = match running.kind {
            RunKind::Update => Source::Update,
            RunKind::Operations => Source::Operations,
        };
        let mut run = self.run_of_answer(running, RunStatus::Applied, &answer);
        if let Some(end) = run.events.last_mut() {
            // Not before the version it made.
            end.created_at = end.created_at.max(head.now);
        }
        let version = NewVersion {
            counters: merged.applied.counters,
            source,
            actor: running.actor.clone(),
            operations: merged.applied.operations,
            changes,
            log: answer.log.clone(),
            run: Some(Box::new(run)),
            resolves: running.resolves.clone(),
            window: WindowRows::default(),
            left_out: None,
            idempotency: running.idempotency.clone(),
            text: merged.applied.text,
        };
        Decision::Save(Box::new(version), answer)
    }

    async fn refuse(&self, running: &Running, refused: Refused) -> Result<PipelineError, PipelineError> {
        let update_id = running.target.update_id.clone();
        let error = match refused {
            Refused::PreconditionFailed { current } => {
                return Ok(PipelineError::PreconditionFailed { current });
            }
            // Its run is not kept either: it quotes what was deleted.
            Refused::Deleted => return Ok(PipelineError::Deleted),
            Refused::ProgressMoved => PipelineError::Conflict {
                update_id,
                rebases: self.settings.max_rebases,
            },
            Refused::TooLarge { before, bytes, limit } => PipelineError::TooLarge {
                update_id,
                before,
                bytes,
                limit,
            },
            Refused::IdsExhausted { kind } => PipelineError::IdsExhausted { update_id, kind },
            Refused::NotActive(id) => PipelineError::Storage(StorageError::Corrupt {
                table: "records",
                column: "status",
                row: id.to_string(),
                problem: "accepted for archiving, but not in the document".to_owned(),
            }),
        };
        self.keep_failed_run(running, RunStatus::Failed, &error.to_string())
            .await?;
        Ok(error)
    }

    /// Keeps a run that made no version, for a person to look at.
    pub(super) async fn keep_failed_run(
        &self,
        running: &Running,
        status: RunStatus,
        problem: &str,
    ) -> Result<(), PipelineError> {
        let outcome = json!({
            "problem": problem,
            "rejected": running.rejected,
            "warnings": running.warnings,
            "models": running.models,
        });
        self.storage
            .save_run(
                &self.run(running, status, None, running.base.version, outcome),
                None,
            )
            .await?;
        Ok(())
    }

    fn run_of_answer(&self, running: &Running, status: RunStatus, answer: &UpdateAnswer) -> Run {
        let version = answer.context_id().map(|id| (answer.version, id));
        let outcome = json!({
            "rebased": answer.rebased,
            "operations": answer.operations,
            "rejected": answer.rejected,
            "warnings": answer.warnings,
            "diff": answer.diff,
            "log": answer.log,
            "models": answer.models,
            "document": answer.document,
        });
        self.run(running, status, version, answer.base_version, outcome)
    }

    fn run(
        &self,
        running: &Running,
        status: RunStatus,
        version: Option<(i64, ContextId)>,
        base_version: i64,
        outcome: Value,
    ) -> Run {
        Run {
            vault_id: running.target.vault.clone(),
            memory_id: running.target.memory.clone(),
            update_id: running.target.update_id.clone(),
            kind: running.kind,
            status,
            actor_id: running.actor.clone(),
            created_at: running.created_at,
            finished_at: Some(self.clock.now().max(running.created_at)),
            attempts: running.claim.as_ref().map_or(1, |claim| claim.attempt),
            base_version,
            version,
            resolved_by: None,
            request: running.request.clone(),
            exchanges: Value::Array(running.exchanges.clone()),
            outcome,
            claim: running.claim.as_ref().map(|claim| claim.id.clone()),
            events: running.events(status),
        }
    }
}

impl Running {
    /// The head that it is likely to be saved on; `None` if nothing can be decided before that is locked: where it makes
    /// no version, ends what is queued or finishes another run, or was captured anew.
    fn likely_head(&self) -> Option<&HeadSnapshot> {
        let makes_one = !self.dry_run && self.claim.is_none() && self.resolves.is_none();
        (makes_one && self.base.context_id == self.progress_base.context_id).then_some(&self.base)
    }

    fn tell(&self, step: Step) {
        if let Some(steps) = &self.steps {
            steps.tell(step);
        }
    }

    fn has_no_section(&self) -> bool {
        let kind = FaultKind::NoSection.name();
        self.warnings.iter().any(|warning| warning.kind == kind)
    }

    /// What is told of it when it is kept: its steps so far and its end.
    fn events(&self, status: RunStatus) -> Vec<NewEvent> {
        let Some(steps) = &self.steps else {
            return Vec::new();
        };
        let mut events = steps.events(&self.target, &self.actor);
        events.extend(steps.finished(&self.target, &self.actor, status.name()));
        events
    }
}

/// What is worth knowing of a run, and of the document that it leaves.
fn warnings(running: &Running, applied: &Applied) -> Vec<Warning> {
    let mut warnings = running.warnings.clone();
    let rewrites = |operation: &AppliedOperation| operation.op == OperationName::RewriteProgress;
    if applied.operations.iter().any(rewrites) && document::has_free_progress(&applied.text) {
        let detail = "the document also has a section of its own titled `Progress`, which no update changes: what it \
            says stays in every prompt beside `Current Progress`; put the document without it";
        warnings.push(Warning::of_role(
            Role::Progress,
            "second_progress_section",
            detail,
        ));
    }
    warnings
}

/// Told of a text in which no header was found.
const WHAT_A_HEADER_IS: &str = "! no section header was found: a text of operations begins with a line such as \
`KEY_LEARNINGS:`, below it `ADD:`, and below that `- because <reason>: <insight>`";

/// The change in words: title, changes, then what was not applied.
fn log(
    running: &Running,
    operations: &[AppliedOperation],
    changes: &[RecordChange],
    rejected: &[Rejection],
) -> String {
    let named: Vec<RecordId> = operations.iter().filter_map(|operation| operation.id).collect();
    let numbered: Vec<RecordId> = changes
        .iter()
        .filter_map(|change| match change {
            RecordChange::Added(record) if !named.contains(&record.id) => Some(record.id),
            _ => None,
        })
        .collect();
    let words = changelog::of_operations(operations, &numbered);
    let mut lines = match (running.kind, words.is_empty()) {
        (RunKind::Operations, true) => vec!["nothing was applied".to_owned()],
        (RunKind::Update, true) => vec![running.title.clone(), "nothing changed".to_owned()],
        (_, false) => vec![running.title.clone(), words],
    };
    if running.kind == RunKind::Operations && running.has_no_section() {
        lines.push(WHAT_A_HEADER_IS.to_owned());
    }
    for rejection in rejected {
        let section = rejection
            .section
            .as_deref()
            .map(|section| format!("{section}: "))
            .unwrap_or_default();
        lines.push(format!("! {section}{}: {}", rejection.kind, rejection.detail));
    }
    lines.join("\n")
}
