//! What a run keeps and tells of its approval.

use super::Pipeline;
use super::run::Running;
use crate::domain::ids::ActorId;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::RunStatus;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

/// An approval as its run keeps it.
#[derive(Debug, Clone)]
pub(super) struct Review {
    /// Who approved.
    pub(super) by: ActorId,
    pub(super) at: DateTime<Utc>,
    pub(super) comment: Option<String>,
    pub(super) numbers: Vec<usize>,
    /// The proposal as it was kept.
    pub(super) proposal: Value,
}

impl Review {
    /// Adds itself to what is kept of the run.
    pub(super) fn write(&self, outcome: &mut Value) {
        outcome["proposal"] = self.proposal.clone();
        outcome["review"] = json!({
            "decision": RunStatus::Approved.name(),
            "by": self.by.as_str(),
            "at": self.at,
            "operations": self.numbers,
            "comment": self.comment,
        });
    }

    /// What is told of it: no texts.
    pub(super) fn details(&self) -> Value {
        json!({ "operations": self.numbers })
    }
}

impl Pipeline {
    /// What is told of a run when it is kept: its steps so far, its end, and that it waits to be approved or was.
    pub(super) fn events(&self, running: &Running, status: RunStatus) -> Vec<NewEvent> {
        let (target, mut events) = (&running.target, running.events(status));
        let event = |kind| NewEvent {
            update_id: Some(target.update_id.clone()),
            actor: Some(running.actor.clone()),
            ..self.storage.event(&target.memory, kind)
        };
        match (status, &running.review) {
            (RunStatus::Proposed, _) => events.push(event(EventKind::Proposed)),
            (_, Some(review)) => events.push(NewEvent {
                actor: Some(review.by.clone()),
                details: Some(review.details()),
                ..event(EventKind::Approved)
            }),
            _ => {}
        }
        events
    }
}
