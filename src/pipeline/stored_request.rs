//! Requests in the form in which the rows of their runs store them. The form must not change: during a rolling upgrade
//! each release runs what others have queued.

use super::request::{Mode, OnInvalid, OperationsInput, OperationsRequest, UpdateRequest};
use super::steps::Steps;
use crate::domain::dsl::requests::OperationRequest;
use crate::domain::evidence::Strictness;
use crate::domain::ids::{ActorId, KeyId, MemoryId, TaskId, UpdateId, VaultId};
use crate::domain::operation::Role;
use crate::domain::window::{SessionRecord, Task, TaskDetails};
use crate::llm::ConversationMessage;
use crate::storage::Preconditions;
use crate::storage::as_text::AsText;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A request to `/update`. If it is queued, a worker reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredUpdate {
    task: String,
    messages: Vec<StoredMessage>,
    dry_run: bool,
    allow_partial: bool,
    on_invalid: AsText<OnInvalid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<AsText<Strictness>>,
    roles: BTreeSet<AsText<Role>>,
    #[serde(flatten)]
    mode: StoredMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<StoredSessionRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredMessage {
    role: String,
    content: String,
}

/// A request to `/operations`. It is only shown, never read to be run.
#[derive(Debug, Serialize)]
pub(super) struct StoredOperations<'r> {
    text: Option<&'r str>,
    operations: Option<&'r [OperationRequest]>,
    dry_run: bool,
    on_invalid: AsText<OnInvalid>,
    max_additions: Option<usize>,
    update_id: Option<AsText<UpdateId>>,
    #[serde(flatten)]
    mode: StoredMode,
}

/// What to do with the operations. A proposal has both members, everything else has neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredMode {
    Propose {
        mode: Propose,
        key_id: Option<AsText<KeyId>>,
    },
    Apply {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Propose {
    Propose,
}

/// A session record in requests and proposals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSessionRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_id: Option<AsText<TaskId>>,
    intent: String,
    summary: String,
    #[serde(flatten)]
    details: TaskDetails,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocker: Option<String>,
}

impl From<&UpdateRequest> for StoredUpdate {
    fn from(request: &UpdateRequest) -> Self {
        let message = |ConversationMessage { role, content }| StoredMessage { role, content };
        Self {
            task: request.task.clone(),
            messages: request.messages.iter().cloned().map(message).collect(),
            dry_run: request.dry_run,
            allow_partial: request.allow_partial,
            on_invalid: AsText(request.on_invalid),
            evidence: request.evidence.map(AsText),
            roles: request.roles.iter().copied().map(AsText).collect(),
            mode: StoredMode::from(&request.mode),
            record: request.record.as_ref().map(StoredSessionRecord::from),
        }
    }
}

impl StoredUpdate {
    /// Builds the request, with the values of the row's other columns.
    pub(super) fn into_request(
        self,
        (vault, memory): (VaultId, MemoryId),
        actor: ActorId,
        preconditions: Preconditions,
    ) -> UpdateRequest {
        let message = |StoredMessage { role, content }| ConversationMessage { role, content };
        UpdateRequest {
            vault,
            memory,
            actor,
            preconditions,
            task: self.task,
            messages: self.messages.into_iter().map(message).collect(),
            dry_run: self.dry_run,
            allow_partial: self.allow_partial,
            on_invalid: self.on_invalid.0,
            evidence: self.evidence.map(|AsText(evidence)| evidence),
            roles: self.roles.into_iter().map(|AsText(role)| role).collect(),
            mode: self.mode.into(),
            record: self.record.map(SessionRecord::from),
            steps: Steps::default(),
            idempotency: None,
        }
    }
}

impl<'r> From<&'r OperationsRequest> for StoredOperations<'r> {
    fn from(request: &'r OperationsRequest) -> Self {
        let (text, operations) = match &request.input {
            OperationsInput::Text(text) => (Some(text.as_str()), None),
            OperationsInput::List(list) => (None, Some(list.as_slice())),
        };
        Self {
            text,
            operations,
            dry_run: request.dry_run,
            on_invalid: AsText(request.on_invalid),
            max_additions: request.max_additions,
            update_id: request.resolves.clone().map(AsText),
            mode: StoredMode::from(&request.mode),
        }
    }
}

impl From<&Mode> for StoredMode {
    fn from(mode: &Mode) -> Self {
        match mode {
            Mode::Apply => Self::Apply {},
            Mode::Propose { key } => Self::Propose {
                mode: Propose::Propose,
                key_id: key.clone().map(AsText),
            },
        }
    }
}

impl From<StoredMode> for Mode {
    fn from(stored: StoredMode) -> Self {
        match stored {
            StoredMode::Apply {} => Self::Apply,
            StoredMode::Propose {
                mode: Propose::Propose,
                key_id,
            } => Self::Propose {
                key: key_id.map(|AsText(key)| key),
            },
        }
    }
}

impl From<&SessionRecord> for StoredSessionRecord {
    fn from(record: &SessionRecord) -> Self {
        let SessionRecord { task, goal, blocker } = record.clone();
        Self {
            task_id: task.task_id.map(AsText),
            intent: task.intent,
            summary: task.summary,
            details: task.details,
            goal,
            blocker,
        }
    }
}

impl From<StoredSessionRecord> for SessionRecord {
    fn from(stored: StoredSessionRecord) -> Self {
        Self {
            task: Task {
                task_id: stored.task_id.map(|AsText(id)| id),
                intent: stored.intent,
                summary: stored.summary,
                details: stored.details,
            },
            goal: stored.goal,
            blocker: stored.blocker,
        }
    }
}

#[cfg(test)]
mod tests;
