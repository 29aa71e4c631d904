//! A run under way.

use super::durable::Claim;
use super::reading::Accepted;
use super::report::{ModelReport, Rejection, Target, Warning};
use super::reviewed::Review;
use super::standing::Standing;
use super::{Mode, Step, Steps};
use crate::domain::faults::Omitted;
use crate::domain::ids::{ActorId, UpdateId};
use crate::domain::memory::Limits;
use crate::domain::operation::FaultKind;
use crate::domain::window::SessionRecord;
use crate::storage::events::NewEvent;
use crate::storage::idempotency::IdempotencyClaim;
use crate::storage::updates::{RunKind, RunStatus};
use crate::storage::usage::RoleSpent;
use crate::storage::{HeadSnapshot, Preconditions};
use chrono::{DateTime, Utc};
use serde_json::Value;
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
    /// How many more there are of both.
    pub(super) omitted: Omitted,
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
    /// Whether it is saved or proposed.
    pub(super) mode: Mode,
    /// What the session ends with.
    pub(super) record: Option<SessionRecord>,
    /// What was decided about it, if it is a proposal that is applied now.
    pub(super) review: Option<Review>,
}

impl Running {
    /// The head that it is likely to be saved on; `None` if nothing can be decided before that is locked: where it makes
    /// no version, ends what is queued or finishes another run, or was captured anew.
    pub(super) fn likely_head(&self) -> Option<&HeadSnapshot> {
        let makes_one =
            !self.dry_run && self.claim.is_none() && self.resolves.is_none() && self.mode == Mode::Apply;
        (makes_one && self.base.context_id == self.progress_base.context_id).then_some(&self.base)
    }

    /// The captured head.
    pub(super) fn base_standing(&self) -> Standing<'_> {
        Standing {
            version: self.base.version,
            context_id: self.base.context_id.as_ref(),
            text: &self.base.text,
        }
    }

    pub(super) fn tell(&self, step: Step) {
        if let Some(steps) = &self.steps {
            steps.tell(step);
        }
    }

    pub(super) fn has_no_section(&self) -> bool {
        let kind = FaultKind::NoSection.name();
        self.warnings.iter().any(|warning| warning.kind == kind)
    }

    /// What is told of it when it is kept: its steps so far and its end.
    pub(super) fn events(&self, status: RunStatus) -> Vec<NewEvent> {
        let Some(steps) = &self.steps else {
            return Vec::new();
        };
        let mut events = steps.events(&self.target, &self.actor);
        events.extend(steps.finished(&self.target, &self.actor, status.name()));
        events
    }
}
