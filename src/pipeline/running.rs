//! The state of a run in progress.

use super::durable::Claim;
use super::reading::Accepted;
use super::report::{ModelReport, Rejection, Target, UpdateAnswer, Warning};
use super::row::Review;
use super::{Mode, Step, Steps};
use crate::domain::faults::Omitted;
use crate::domain::ids::{ActorId, ContextId, TaskId, UpdateId};
use crate::domain::memory::Limits;
use crate::domain::operation::FaultKind;
use crate::domain::window::SessionRecord;
use crate::storage::events::NewEvent;
use crate::storage::idempotency::{Answering, ClaimedAnswer};
use crate::storage::updates::{RunKind, RunStatus};
use crate::storage::usage::RoleSpent;
use crate::storage::{Head, HeadSnapshot, Preconditions};
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::BTreeMap;

/// The state of a run in progress: its request and its results so far.
pub(super) struct Running {
    pub(super) target: Target,
    pub(super) kind: RunKind,
    pub(super) actor: ActorId,
    pub(super) created_at: DateTime<Utc>,
    /// The request in its stored form.
    pub(super) request: Value,
    pub(super) preconditions: Preconditions,
    pub(super) dry_run: bool,
    pub(super) resolves: Option<UpdateId>,
    pub(super) limits: Limits,
    /// The first line of the log entry.
    pub(super) title: String,
    /// The head snapshot of the start.
    pub(super) base: HeadSnapshot,
    /// The head snapshot that progress was written for; equals `base` until the role is asked again.
    pub(super) progress_base: HeadSnapshot,
    pub(super) accepted: Vec<Accepted>,
    pub(super) rejected: Vec<Rejection>,
    pub(super) warnings: Vec<Warning>,
    /// How many more rejections and warnings there are.
    pub(super) omitted: Omitted,
    pub(super) models: BTreeMap<String, ModelReport>,
    pub(super) exchanges: Vec<Value>,
    /// Model usage that is not recorded yet.
    pub(super) spent: Vec<RoleSpent>,
    /// The claim under which it runs, if it was queued.
    pub(super) claim: Option<Claim>,
    /// The answer to store under the claim of the request's idempotency key.
    pub(super) idempotency: Option<Answering<'static, UpdateAnswer>>,
    /// Receives the steps.
    pub(super) steps: Option<Steps>,
    /// Whether the operations are applied or proposed.
    pub(super) mode: Mode,
    /// The session record.
    pub(super) record: Option<SessionRecord>,
    /// The decision, if the run applies an approved proposal.
    pub(super) review: Option<Review>,
}

impl Running {
    /// A run of a head snapshot that applies what it is given; the caller sets what its request says besides.
    pub(super) fn begin(
        target: Target,
        kind: RunKind,
        (actor, created_at): (ActorId, DateTime<Utc>),
        (limits, title): (Limits, String),
        base: HeadSnapshot,
    ) -> Self {
        Self {
            target,
            kind,
            actor,
            created_at,
            request: Value::Null,
            preconditions: Preconditions::default(),
            dry_run: false,
            resolves: None,
            limits,
            title,
            progress_base: base.clone(),
            base,
            accepted: Vec::new(),
            rejected: Vec::new(),
            warnings: Vec::new(),
            omitted: Omitted::default(),
            models: BTreeMap::new(),
            exchanges: Vec::new(),
            spent: Vec::new(),
            claim: None,
            idempotency: None,
            steps: None,
            mode: Mode::Apply,
            record: None,
            review: None,
        }
    }

    /// Whether the result is computed on the head snapshot before the head is locked (optimistic write). Not for runs that
    /// save no version, that end a queued run, resolve another one or record a session, or whose snapshot was taken again.
    pub(super) fn is_likely(&self) -> bool {
        let makes_one =
            !self.dry_run && self.claim.is_none() && self.resolves.is_none() && self.mode == Mode::Apply;
        makes_one && self.record.is_none() && self.base.context_id == self.progress_base.context_id
    }

    /// The id of the task that it records.
    pub(super) fn task_id(&self) -> Option<&TaskId> {
        self.record
            .as_ref()
            .and_then(|record| record.task.task_id.as_ref())
    }

    /// The identity of the memory that it began with; `None` if there was none.
    pub(super) fn identity(&self) -> Option<&String> {
        let later = self.progress_base.identity.as_ref();
        later.or(self.base.identity.as_ref())
    }

    /// The version that the run began with; for an approval the one that was proposed for.
    pub(super) fn base_version(&self) -> i64 {
        let review = self.review.as_ref();
        review.map_or(self.base.version, |review| review.base_version)
    }

    /// The head snapshot in the form that responses are built from.
    pub(super) fn base_head(&self) -> ReportedHead<'_> {
        ReportedHead {
            version: self.base.version,
            context_id: self.base.context_id.as_ref(),
            text: &self.base.text,
        }
    }

    /// The answer in the form in which it is stored for a repeated request, if the request has an idempotency key.
    pub(super) fn answer_to_keep(&self, answer: &UpdateAnswer) -> Option<ClaimedAnswer> {
        self.idempotency.as_ref().map(|under| under.to(answer))
    }

    pub(super) fn send(&self, step: Step) {
        if let Some(steps) = &self.steps {
            steps.send(step);
        }
    }

    pub(super) fn has_no_section(&self) -> bool {
        let kind = FaultKind::NoSection.name();
        self.warnings.iter().any(|warning| warning.kind == kind)
    }

    /// The events to store with the run: its steps so far and its end.
    pub(super) fn events(&self, status: RunStatus) -> Vec<NewEvent> {
        let Some(steps) = &self.steps else {
            return Vec::new();
        };
        let mut events = steps.events(&self.target, &self.actor);
        events.extend(steps.finished(&self.target, &self.actor, status.name()));
        events
    }
}

/// The head that a response reports.
pub(super) struct ReportedHead<'h> {
    pub(super) version: i64,
    pub(super) context_id: Option<&'h ContextId>,
    pub(super) text: &'h str,
}

impl<'h> From<&'h Head> for ReportedHead<'h> {
    fn from(head: &'h Head) -> Self {
        Self {
            version: head.version,
            context_id: head.context_id.as_ref(),
            text: &head.text,
        }
    }
}
