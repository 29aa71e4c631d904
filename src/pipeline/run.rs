//! The state of a run in progress, and what its models used: token usage is recorded, and updates of a vault that has reached
//! its daily limit are rejected.

use crate::domain::ids::{ActorId, ContextId, UpdateId, VaultId};
use crate::domain::memory::{EditError, Limits};
use crate::domain::operation::{FaultKind, Item};
use crate::domain::text::masked;
use crate::domain::window::SessionRecord;
use crate::fair;
use crate::pipeline::ask::storable;
use crate::pipeline::report::{ModelReport, Rejection, UpdateAnswer, UpdateStatus, Warning, is_zero};
use crate::pipeline::review::Proposal;
use crate::pipeline::steps::Steps;
use crate::pipeline::{Mode, Pipeline, PipelineError, Target, UpdateInput};
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{Answering, ClaimedAnswer};
use crate::storage::updates::{Run, RunKind, RunStatus};
use crate::storage::usage::{RoleSpent, Spender, Spent};
use crate::storage::{Head, StorageError};
use chrono::{DateTime, Days, NaiveTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The state of a run in progress: its request and its results so far.
pub(super) struct Running {
    pub(super) update_id: UpdateId,
    pub(super) to: Target,
    pub(super) kind: RunKind,
    pub(super) created_at: DateTime<Utc>,
    /// The request in its stored form, without credentials.
    pub(super) request: Value,
    pub(super) dry_run: bool,
    pub(super) resolves: Option<UpdateId>,
    pub(super) limits: Limits,
    /// The first line of the log entry.
    pub(super) title: String,
    /// The head snapshot of the start.
    pub(super) base: Head,
    /// The head snapshot that progress was written for, once the role was asked again.
    pub(super) rebased_on: Option<Head>,
    pub(super) results: Results,
    /// The id of the claim under which it runs, if it was queued, and the number of the attempt.
    pub(super) claim: Option<(String, i32)>,
    /// The answer to store under the claim of the request's idempotency key.
    pub(super) idempotency: Option<Answering<'static, UpdateAnswer>>,
    pub(super) steps: Steps,
    /// Whether the operations are applied or proposed.
    pub(super) mode: Mode,
    /// The session record.
    pub(super) record: Option<SessionRecord>,
    /// How often another writer has changed progress meanwhile.
    pub(super) rebases: u32,
    /// The decision, if the run applies an approved proposal.
    pub(super) review: Option<Review>,
}

/// What a run has been answered, by models, rules or its request. Serialized as the outcome of a run that failed.
#[derive(Default, Serialize)]
pub(super) struct Results {
    /// The items to save.
    #[serde(skip)]
    pub(super) accepted: Vec<Item>,
    pub(super) rejected: Vec<Rejection>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) more_rejected: usize,
    pub(super) warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) more_warnings: usize,
    pub(super) models: BTreeMap<String, ModelReport>,
    /// The calls of models in their stored form, without credentials.
    #[serde(skip)]
    pub(super) exchanges: Vec<Value>,
}

impl Running {
    /// A run of a head snapshot that applies what it is given; the caller sets what its request says besides.
    pub(super) fn begin(
        (update_id, created_at): (UpdateId, DateTime<Utc>),
        (kind, to): (RunKind, Target),
        (limits, title): (Limits, String),
        base: Head,
    ) -> Self {
        Self {
            update_id,
            to,
            kind,
            created_at,
            request: Value::Null,
            dry_run: false,
            resolves: None,
            limits,
            title,
            rebased_on: None,
            base,
            results: Results::default(),
            claim: None,
            idempotency: None,
            steps: Steps::default(),
            mode: Mode::Apply,
            record: None,
            rebases: 0,
            review: None,
        }
    }

    /// The head snapshot that progress was written for.
    pub(super) fn progress_base(&self) -> &Head {
        self.rebased_on.as_ref().unwrap_or(&self.base)
    }

    /// Whether the result is computed on the head snapshot before the head is locked (optimistic write). Not for runs that
    /// save no version, that end a queued run or a proposal, resolve another one or record a session, or whose snapshot was
    /// taken again.
    pub(super) fn is_likely(&self) -> bool {
        let ends_another = self.claim.is_some() || self.review.is_some() || self.resolves.is_some();
        let makes_one = !self.dry_run && self.mode == Mode::Apply;
        makes_one && !ends_another && self.record.is_none() && self.rebased_on.is_none()
    }

    /// The identity of the memory that it began with; `None` if there was none.
    pub(super) fn identity(&self) -> Option<&String> {
        let later = self.progress_base().identity.as_ref();
        later.or(self.base.identity.as_ref())
    }

    /// The version that the run began with; for an approval the one that was proposed for.
    pub(super) fn base_version(&self) -> i64 {
        let review = self.review.as_ref();
        review.map_or(self.base.version, |review| review.base_version)
    }

    /// The answer in the form in which it is stored for a repeated request, if the request has an idempotency key.
    pub(super) fn answer_to_keep(&self, answer: &UpdateAnswer) -> Option<ClaimedAnswer> {
        self.idempotency.as_ref().map(|under| under.to(answer))
    }

    /// Another writer has changed progress.
    pub(super) fn conflict(&self) -> PipelineError {
        PipelineError::Conflict {
            update_id: self.update_id.clone(),
            rebases: self.rebases,
        }
    }

    /// Why it cannot change the document.
    pub(super) fn cannot_edit(&self, error: EditError) -> PipelineError {
        PipelineError::Edit {
            update_id: self.update_id.clone(),
            error,
        }
    }

    pub(super) fn has_no_section(&self) -> bool {
        let kind = FaultKind::NoSection.name();
        self.results.warnings.iter().any(|warning| warning.kind == kind)
    }
}

impl Pipeline {
    /// Ends a run with an error. The run is stored, so that a person can inspect it; not where it quotes a memory that was
    /// deleted, or where a precondition failed. A proposal is still pending.
    pub(super) async fn fail<T>(&self, running: &Running, error: PipelineError) -> Result<T, PipelineError> {
        let is_kept = !matches!(
            error,
            PipelineError::PreconditionFailed(_) | PipelineError::Deleted
        );
        if let Some(status) = error.status().filter(|_| is_kept && running.review.is_none()) {
            let mut outcome = json!(running.results);
            outcome["problem"] = json!(error.to_string());
            let run = self.run(running, status, None, running.base_version(), outcome);
            if self.storage.save_run(&run, None, None).await? {
                return Err(PipelineError::Redacted);
            }
        }
        Err(error)
    }

    /// The row of a run that ended with a response, on a memory with this identity.
    pub(super) fn run_of_answer(
        &self,
        running: &Running,
        answer: &UpdateAnswer,
        proposal: Option<&Proposal>,
        identity: Option<&String>,
    ) -> Run {
        let (status, has_version) = match (&running.review, answer.status) {
            (Some(_), status) => (RunStatus::Approved, status == UpdateStatus::Applied),
            // It must not appear as the run that led to the newest version.
            (None, UpdateStatus::Proposed) => (RunStatus::Proposed, false),
            (None, status) => (status.of_run(), true),
        };
        let version = answer.context_id.clone().filter(|_| has_version);
        let mut outcome = json!(answer);
        if let Some(members) = outcome.as_object_mut() {
            members.retain(|name, _| !IN_COLUMNS.contains(&name.as_str()));
        }
        if let Some(proposal) = proposal {
            outcome["proposal"] = json!(proposal);
        }
        if let Some(review) = &running.review {
            outcome["proposal"] = json!(review.proposal);
            outcome["review"] = json!({
                "decision": RunStatus::Approved.name(),
                "by": review.by,
                "at": review.at,
                "operations": review.numbers,
                "comment": review.comment,
            });
        }
        let version = version.map(|id| (answer.version, id));
        Run {
            // A decision ends a run that is deleted with its memory.
            identity: identity.filter(|_| running.review.is_none()).cloned(),
            ..self.run(running, status, version, answer.base_version, outcome)
        }
    }

    fn run(
        &self,
        running: &Running,
        status: RunStatus,
        version: Option<(i64, ContextId)>,
        base_version: i64,
        outcome: Value,
    ) -> Run {
        let (version, context_id) = version.unzip();
        Run {
            vault_id: running.to.vault.clone(),
            memory_id: running.to.memory.clone(),
            update_id: running.update_id.clone(),
            kind: running.kind,
            status,
            actor_id: running.to.actor.clone(),
            created_at: running.created_at,
            finished_at: Some(self.clock.now().max(running.created_at)),
            attempts: running.claim.as_ref().map_or(1, |(_, attempt)| *attempt),
            base_version,
            version,
            context_id,
            resolved_by: None,
            request: running.request.clone(),
            exchanges: running.results.exchanges.clone().into(),
            shown: running
                .base
                .exists()
                .then(|| (running.base.version, running.base.text.clone())),
            outcome,
            claim: running.claim.as_ref().map(|(id, _)| id.clone()),
            identity: running.identity().cloned(),
            events: self.events(running, status),
        }
    }

    /// The events to store with a run: its steps so far, its end, and the start or the approval of its proposal.
    fn events(&self, running: &Running, status: RunStatus) -> Vec<NewEvent> {
        let mut events = running.steps.events();
        events.extend(running.steps.finished(status));
        let event = |kind| NewEvent {
            update_id: Some(running.update_id.clone()),
            actor: Some(running.to.actor.clone()),
            ..self.storage.event(&running.to.memory, kind)
        };
        match (status, &running.review) {
            (RunStatus::Proposed, _) => events.push(event(EventKind::Proposed)),
            (_, Some(review)) => events.push(NewEvent {
                actor: Some(review.by.clone()),
                details: Some(json!({ "operations": review.numbers })),
                ..event(EventKind::Approved)
            }),
            _ => {}
        }
        events
    }
}

/// Members of an answer that the row of its run has as columns.
const IN_COLUMNS: [&str; 7] = [
    "update_id",
    "vault_id",
    "memory_id",
    "status",
    "base_version",
    "version",
    "context_id",
];

/// An approval as its run stores it.
#[derive(Debug, Clone)]
pub(super) struct Review {
    /// Who approved.
    pub(super) by: ActorId,
    pub(super) at: DateTime<Utc>,
    pub(super) comment: Option<String>,
    pub(super) numbers: Vec<usize>,
    /// The version that the proposal was made for; the run's snapshot is the head of the approval.
    pub(super) base_version: i64,
    pub(super) proposal: Proposal,
}

/// A request in the form in which its run stores it, without credentials. `bytes` are those of its texts.
pub(super) async fn stored(request: &impl Serialize, bytes: usize) -> Value {
    let mut stored = json!(request);
    fair::on_cpu(bytes, || mask(&mut stored)).await;
    stored
}

/// Masks every credential in the texts of a value, which is then stored, and replaces NUL, which PostgreSQL cannot contain. All
/// other texts stay where they are: a request may have megabytes.
pub(super) fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = masked(text) {
                *text = masked;
            }
            *text = storable(std::mem::take(text));
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::Object(members) => members.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Pipeline {
    /// Rejects an update of a vault that has used its daily tokens, unless its task is recorded: then it asks no model.
    pub(super) async fn refuse_update(&self, to: &Target, input: &UpdateInput) -> Result<(), PipelineError> {
        match self.refuse_over_tokens(&to.vault).await {
            Err(PipelineError::TokensSpent { .. }) if self.is_recorded(to, input).await? => Ok(()),
            result => result,
        }
    }

    /// Whether an earlier call has recorded the task of an update.
    pub(super) async fn is_recorded(&self, to: &Target, input: &UpdateInput) -> Result<bool, StorageError> {
        let record = input.record.as_ref();
        let Some(task_id) = record.and_then(|record| record.task.task_id.as_ref()) else {
            return Ok(false);
        };
        let known = self.storage.known_task(&to.vault, &to.memory, task_id).await?;
        Ok(known.is_some())
    }

    /// Rejects a vault that has used its daily tokens. The usage of an update is known only at its end, so the last
    /// update of a day may exceed the limit.
    pub(super) async fn refuse_over_tokens(&self, vault: &VaultId) -> Result<(), PipelineError> {
        let Some((limit, setting)) = self.config.limits.tokens_per_day(vault) else {
            return Ok(());
        };
        let now = self.clock.now();
        let day = now.date_naive();
        let spent = self.storage.tokens_of_day(vault, day).await?;
        if spent < limit {
            return Ok(());
        }
        let next = day.checked_add_days(Days::new(1)).unwrap_or(day);
        let opens_at = next.and_time(NaiveTime::MIN).and_utc();
        // Rounded up, so that a client that waits this long is admitted.
        let seconds = (opens_at - now).num_milliseconds().saturating_add(999) / 1_000;
        Err(PipelineError::TokensSpent {
            spent,
            limit,
            setting,
            opens_at,
            retry_after: u64::try_from(seconds).unwrap_or(1).max(1),
        })
    }
}

/// What a call costs as usage of its vault. Of several calls of one run one `is_run`.
pub(super) fn spent_on(call: &ModelReport, role: Spender, is_run: bool, failed: bool) -> RoleSpent {
    RoleSpent {
        role,
        model: call.model.clone(),
        spent: Spent {
            runs: is_run.into(),
            calls: call.attempts.into(),
            failures: failed.into(),
            input_tokens: call.input_tokens.unwrap_or(0),
            cached_tokens: call.cached_tokens.unwrap_or(0),
            cache_write_tokens: call.cache_write_tokens.unwrap_or(0),
            output_tokens: call.output_tokens.unwrap_or(0),
            millis: call.millis,
            cost: None,
        },
    }
}
