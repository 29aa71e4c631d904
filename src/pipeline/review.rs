//! Decides proposals: how a run stores one, and how it is applied later. Approval applies those operations that are still valid on
//! the current head. A proposal is decided only once.

use crate::domain::ids::{KeyId, RecordId, UpdateId};
use crate::domain::memory::Limits;
use crate::domain::operation::{Item, Operation, Role};
use crate::domain::text::one_line;
use crate::domain::window::{SessionRecord, Status};
use crate::pipeline::merge::{RecordTexts, texts_of};
use crate::pipeline::prompts::section_of;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::request::read_stored;
use crate::pipeline::run::{Results, Review, Running};
use crate::pipeline::{Pipeline, PipelineError, Target};
use crate::storage::StorageError;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::Answering;
use crate::storage::updates::queue::is_redacted;
use crate::storage::updates::{Run, RunKind, RunStatus};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The approval of a proposal.
#[derive(Debug, Clone)]
pub struct Approval {
    /// The memory.
    pub to: Target,
    /// The run.
    pub update_id: UpdateId,
    /// The key of the request; `None` if the service requires no keys.
    pub key: Option<KeyId>,
    /// The numbers of the operations that are approved; all of them if `None`.
    pub operations: Option<Vec<usize>>,
    /// A comment of the reviewer.
    pub comment: Option<String>,
    /// The answer to store under the claim of the request's idempotency key.
    pub idempotency: Option<Answering<'static, UpdateAnswer>>,
}

/// Who decided about a proposal, and when.
fn reviewed(run: &Run) -> Option<(String, DateTime<Utc>)> {
    let review = &run.outcome["review"];
    let at = DateTime::parse_from_rfc3339(review["at"].as_str()?).ok()?;
    Some((review["by"].as_str()?.to_owned(), at.with_timezone(&Utc)))
}

impl Pipeline {
    /// Applies the approved operations that are still valid on the current head, as one version by the proposal's
    /// actor. The others are in the response's `rejected`.
    ///
    /// # Errors
    /// See [`PipelineError`]; nothing was saved, and the proposal is still pending.
    pub async fn approve(&self, approval: Approval) -> Result<UpdateAnswer, PipelineError> {
        let (to, update_id) = (&approval.to, approval.update_id.clone());
        let (run, proposal) = self.waiting(to, &update_id).await?;
        if proposal.key_id.is_some() && proposal.key_id == approval.key {
            return Err(PipelineError::OwnProposal { update_id });
        }
        let numbers = numbers_of(&approval, &proposal)?;
        let running = self.begin_approval(&approval, run, proposal, numbers).await?;
        match self.save(&running).await {
            // Progress that has moved is left as it is.
            Ok(saved) => saved.ok_or(running.conflict()),
            Err(error) => Err(self.what_became_of_it(error, to, &update_id).await),
        }
    }

    /// Ends a proposal without applying any of it.
    ///
    /// # Errors
    /// See [`PipelineError`]; the proposal is still pending.
    pub async fn reject(
        &self,
        to: &Target,
        update_id: &UpdateId,
        reason: &str,
        under: Option<&Answering<'_, Run>>,
    ) -> Result<Run, PipelineError> {
        let (mut run, _) = self.waiting(to, update_id).await?;
        self.capture(to).await?;
        let now = self.clock.now();
        (run.status, run.finished_at) = (RunStatus::Rejected, Some(now));
        (run.version, run.context_id) = (None, None);
        run.outcome["review"] = json!({
            "decision": RunStatus::Rejected.name(),
            "by": to.actor,
            "at": now,
            "reason": reason,
        });
        run.events = vec![NewEvent {
            update_id: Some(update_id.clone()),
            actor: Some(to.actor.clone()),
            ..self.storage.event(&run.memory_id, EventKind::Rejected)
        }];
        let kept = under.map(|under| under.to(&run));
        match self.storage.save_run(&run, None, kept.as_ref()).await {
            Ok(_) => Ok(run),
            Err(error) => Err(self.what_became_of_it(error.into(), to, update_id).await),
        }
    }

    /// Loads a pending proposal.
    async fn waiting(&self, to: &Target, id: &UpdateId) -> Result<(Run, Proposal), PipelineError> {
        let (vault, memory) = to.place();
        let not_pending = |why| PipelineError::ProposalGone {
            update_id: id.clone(),
            why,
        };
        let Some(run) = self.storage.run(vault, memory, id).await? else {
            return Err(if self.storage.was_proposed(vault, memory, id).await? {
                not_pending("it was deleted with its memory, or after its end (retention.runs_max_age)")
            } else {
                PipelineError::UnknownRun(id.clone())
            });
        };
        match run.status {
            RunStatus::Proposed => {}
            RunStatus::Expired => return Err(not_pending(EXPIRED)),
            status => {
                return Err(PipelineError::NotProposed {
                    update_id: id.clone(),
                    status: status.name(),
                    review: reviewed(&run),
                });
            }
        }
        if is_redacted(&run.request) || is_redacted(&run.outcome) {
            return Err(not_pending("it quoted a version that was redacted"));
        }
        let waits_since = run.finished_at.unwrap_or(run.created_at);
        if waits_since + self.config.review.expire_after <= self.clock.now() {
            return Err(not_pending(EXPIRED));
        }
        let proposal =
            Proposal::read(&run.outcome["proposal"]).map_err(|problem| unreadable(id, &problem))?;
        Ok((run, proposal))
    }

    async fn begin_approval(
        &self,
        approval: &Approval,
        run: Run,
        proposal: Proposal,
        numbers: Vec<usize>,
    ) -> Result<Running, PipelineError> {
        let Some(log) = run.outcome["log"].as_str() else {
            return Err(unreadable(&run.update_id, "log: it is missing"));
        };
        let base = self.capture(&approval.to).await?;
        let proposed = log.lines().next().unwrap_or_default();
        let mut title = format!("{proposed}\napproved by {}", approval.to.actor);
        let comment = approval.comment.as_deref().map(one_line).unwrap_or_default();
        if !comment.is_empty() {
            title.push_str(&format!(": {comment}"));
        }
        // The operations were within the limits when they were proposed.
        let limits = Limits {
            // What a model proposed does not take what was pinned since.
            pins_hold: run.kind != RunKind::Operations,
            ..self.config.limits.of_operations(usize::MAX)
        };
        // It applies what the proposal's actor proposed.
        let to = Target {
            actor: run.actor_id,
            ..approval.to.clone()
        };
        Ok(Running {
            request: run.request,
            idempotency: approval.idempotency.clone(),
            results: Results {
                accepted: proposal.chosen(&numbers),
                models: serde_json::from_value(run.outcome["models"].clone()).unwrap_or_default(),
                ..Results::default()
            },
            record: proposal.record.clone(),
            review: Some(Review {
                by: approval.to.actor.clone(),
                at: self.clock.now(),
                comment: approval.comment.clone(),
                numbers,
                base_version: run.base_version,
                proposal,
            }),
            ..Running::begin(
                (run.update_id, run.created_at),
                (run.kind, to),
                (limits, title),
                base,
            )
        })
    }

    /// Maps a decision that came too late to an error that names the proposal's current state.
    async fn what_became_of_it(&self, error: PipelineError, to: &Target, id: &UpdateId) -> PipelineError {
        if let PipelineError::Storage(StorageError::AlreadyDecided(_)) = error {
            return self.waiting(to, id).await.err().unwrap_or(error);
        }
        error
    }
}

/// The reason when nobody decided a proposal in time.
const EXPIRED: &str =
    "it has expired: it waited for too long (review.expire_after), or what it quotes was redacted";

fn unreadable(id: &UpdateId, problem: &str) -> PipelineError {
    PipelineError::Unreadable {
        update_id: id.clone(),
        problem: format!("proposal {id} cannot be read: {problem}"),
    }
}

/// The approved numbers, sorted and without duplicates.
fn numbers_of(approval: &Approval, proposal: &Proposal) -> Result<Vec<usize>, PipelineError> {
    let count = proposal.operations.len();
    let wrong = |problem: String| PipelineError::UnknownOperations {
        update_id: approval.update_id.clone(),
        problem,
        count,
    };
    let Some(chosen) = &approval.operations else {
        return Ok((0..count).collect());
    };
    if let Some(unknown) = chosen.iter().find(|number| **number >= count) {
        let problem = format!("the proposal has no operation {unknown}: it has {count}, numbered from 0");
        return Err(wrong(problem));
    }
    if chosen.is_empty() && proposal.record.is_none() {
        let problem = "operations names none: name those that are approved, or reject the proposal";
        return Err(wrong(problem.to_owned()));
    }
    let chosen: BTreeSet<usize> = chosen.iter().copied().collect();
    Ok(chosen.into_iter().collect())
}

/// The version of the form.
const FORM: u32 = 1;

/// A proposal as its run stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    form: u32,
    /// The operations, addressed by their index.
    pub(super) operations: Vec<Item>,
    /// The progress at the time of the proposal, if an operation rewrites it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress_before: Option<String>,
    /// What the records that operations name said at that time.
    #[serde(default, skip_serializing_if = "RecordTexts::is_empty")]
    pub(super) records_before: RecordTexts,
    /// Goal and blocker at that time, if the record writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status_before: Option<Status>,
    /// The record of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<SessionRecord>,
    /// The key that made the proposal; `None` if the service requires no keys.
    pub(super) key_id: Option<KeyId>,
}

impl Proposal {
    /// Creates a proposal on a document, from operations in the order in which they are applied.
    pub(super) fn new(
        operations: &[Item],
        kind: RunKind,
        document: &str,
        record: Option<&SessionRecord>,
        key: Option<&KeyId>,
    ) -> Self {
        let rewrites = operations.iter().any(rewrites_progress);
        Self {
            form: FORM,
            operations: operations.to_vec(),
            progress_before: rewrites.then(|| {
                let progress = section_of(document, Role::Progress);
                progress.trim_end().to_owned()
            }),
            records_before: texts_of(document, operations, kind),
            status_before: record
                .filter(|record| record.sets_status())
                .map(|_| Status::of(document)),
            record: record.cloned(),
            key_id: key.cloned(),
        }
    }

    /// Reads a stored proposal.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    pub(super) fn read(kept: &Value) -> Result<Self, String> {
        let proposal: Self = read_stored(kept)?;
        if proposal.form == FORM {
            Ok(proposal)
        } else {
            Err(format!("it has the form {}, not {FORM}", proposal.form))
        }
    }

    /// The operations with these numbers, which must exist and be sorted. An addition does not supersede a record whose
    /// archive operation is not chosen too.
    pub(super) fn chosen(&self, numbers: &[usize]) -> Vec<Item> {
        let all = self.operations.iter().enumerate();
        let left: BTreeSet<RecordId> = all
            .filter(|(number, _)| numbers.binary_search(number).is_err())
            .filter_map(|(_, item)| item.operation.archives())
            .collect();
        let items = numbers.iter().filter_map(|number| self.operations.get(*number));
        items
            .cloned()
            .map(|mut item| {
                if item.operation.replaces().is_some_and(|id| left.contains(&id)) {
                    item.operation.set_replaced(None);
                }
                item
            })
            .collect()
    }
}

/// Whether it replaces the body of `Current Progress`.
pub(super) fn rewrites_progress(item: &Item) -> bool {
    matches!(item.operation, Operation::RewriteProgress(_))
}

#[cfg(test)]
mod tests;
