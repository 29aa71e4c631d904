//! How a run stores and reports its approval.

use crate::domain::ids::ActorId;
use crate::storage::updates::RunStatus;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

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
    /// The proposal as it was stored.
    pub(super) proposal: Value,
}

impl Review {
    /// Adds the approval to the stored outcome of the run.
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

    /// The details of its event: no texts.
    pub(super) fn details(&self) -> Value {
        json!({ "operations": self.numbers })
    }
}
