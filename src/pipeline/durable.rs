//! Updates that are accepted before they are run: as they are kept, and as a worker runs them.

use super::proposal::KeptRecord;
use super::request::{Mode, OnInvalid, UpdateRequest};
use super::steps::Steps;
use super::{Pipeline, PipelineError, measured};
use crate::domain::ids::{KeyId, UpdateId};
use crate::domain::operation::Role;
use crate::domain::window::SessionRecord;
use crate::llm::ConversationMessage;
use crate::storage::updates::queue::{Claimed, EnqueueError, NewUpdate, QueueLimits, is_redacted};
use crate::storage::updates::{Run, RunKind};
use crate::storage::{EntityTags, Preconditions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::report::{Target, UpdateAnswer};

/// The claim under which a run that was queued is run.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) update_id: UpdateId,
    pub(super) attempt: i32,
    /// Whether it is tried again if a model fails that may do better later: then this failure is not its end.
    pub(super) is_tried_again: bool,
}

impl Pipeline {
    /// Keeps an update to be run by a worker, of this instance or another. When this returns, it is stored.
    ///
    /// # Errors
    /// A precondition that does not hold for the head of this moment, a queue that is full, a vault that has spent the
    /// day's tokens, or the database's; nothing is kept then.
    pub async fn accept(&self, request: UpdateRequest) -> Result<Run, PipelineError> {
        self.refuse_over_tokens(&request.vault).await?;
        let update_id = self.new_update_id();
        let target = Target {
            update_id: update_id.clone(),
            vault: request.vault.clone(),
            memory: request.memory.clone(),
        };
        let created_at = self.clock.now();
        let base = self.capture(&target, &request.preconditions).await?;
        let limits = QueueLimits {
            per_memory: i64::from(self.settings.queue.max_per_memory),
            per_vault: i64::from(self.settings.queue.max_per_vault),
        };
        let new = NewUpdate {
            request: kept_request(&request),
            preconditions: kept_preconditions(&request.preconditions),
            vault: request.vault,
            memory: request.memory,
            update_id,
            actor: request.actor,
            created_at,
            base_version: base.version,
            idempotency: request.idempotency,
        };
        self.storage
            .enqueue_update(&new, &limits)
            .await
            .map_err(|error| match error {
                EnqueueError::MemoryFull { limit } => PipelineError::LineFull {
                    of: "memory",
                    limit,
                    limit_name: "pipeline.queue.max_per_memory",
                },
                EnqueueError::VaultFull { limit } => PipelineError::LineFull {
                    of: "vault",
                    limit,
                    limit_name: "pipeline.queue.max_per_vault",
                },
                EnqueueError::Storage(error) => error.into(),
            })
    }

    /// Runs an update that a worker has claimed. What it comes to is stored under the claim, except where this says so.
    ///
    /// # Errors
    /// As [`PipelineError`] says. Not stored are a precondition that does not hold, a model's failure that may pass if
    /// `is_tried_again`, and the database's.
    pub async fn run_claimed(
        &self,
        claimed: &Claimed,
        is_tried_again: bool,
    ) -> Result<UpdateAnswer, PipelineError> {
        let request = self.kept(claimed)?;
        let _turn = self.queue.enter_anyway(&request.vault, &request.memory).await;
        let _place = self.admission.enter(&request.vault).await;
        let claim = Claim {
            id: claimed.claim.clone(),
            update_id: claimed.due.update_id.clone(),
            attempt: claimed.attempts,
            is_tried_again,
        };
        self.refuse_over_tokens(&request.vault).await?;
        let result = Box::pin(self.run_update(&request, Some((claim, claimed.created_at)))).await;
        measured::ended(RunKind::Update, &result);
        result
    }

    fn kept(&self, claimed: &Claimed) -> Result<UpdateRequest, PipelineError> {
        let unreadable = |problem: String| PipelineError::Unreadable {
            update_id: claimed.due.update_id.clone(),
            problem,
        };
        if is_redacted(&claimed.request) {
            return Err(unreadable(
                "what was asked for quoted a version that was redacted meanwhile".to_owned(),
            ));
        }
        let kept = Kept::deserialize(&claimed.request).map_err(|error| unreadable(error.to_string()))?;
        let record = kept.record.map(SessionRecord::try_from).transpose();
        Ok(UpdateRequest {
            vault: claimed.due.vault.clone(),
            memory: claimed.due.memory.clone(),
            actor: claimed.actor.clone(),
            preconditions: preconditions_of(&claimed.preconditions),
            task: kept.task,
            messages: kept
                .messages
                .into_iter()
                .map(|KeptMessage { role, content }| ConversationMessage { role, content })
                .collect(),
            dry_run: kept.dry_run,
            allow_partial: kept.allow_partial,
            on_invalid: if kept.on_invalid == OnInvalid::Fail.name() {
                OnInvalid::Fail
            } else {
                OnInvalid::Drop
            },
            roles: Role::ALL
                .into_iter()
                .filter(|role| kept.roles.iter().any(|name| name == role.name()))
                .collect(),
            mode: if kept.mode.as_deref() == Some(PROPOSE) {
                Mode::Propose {
                    key: kept.key_id.and_then(|key| key.parse().ok()),
                }
            } else {
                Mode::Apply
            },
            record: record.map_err(unreadable)?,
            steps: Steps::default(),
            idempotency: None,
        })
    }
}

#[derive(Deserialize)]
struct Kept {
    task: String,
    messages: Vec<KeptMessage>,
    dry_run: bool,
    allow_partial: bool,
    on_invalid: String,
    roles: Vec<String>,
    mode: Option<String>,
    key_id: Option<String>,
    record: Option<KeptRecord>,
}

/// The mode of a request that is not applied at once.
const PROPOSE: &str = "propose";

#[derive(Deserialize)]
struct KeptMessage {
    role: String,
    content: String,
}

/// A request as its run keeps and shows it.
pub(super) fn kept_request(request: &UpdateRequest) -> Value {
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| json!({ "role": message.role, "content": message.content }))
        .collect();
    let mut kept = json!({
        "task": request.task,
        "messages": messages,
        "dry_run": request.dry_run,
        "allow_partial": request.allow_partial,
        "on_invalid": request.on_invalid.name(),
        "roles": request.roles.iter().map(|role| role.name()).collect::<Vec<_>>(),
    });
    keep_mode(&mut kept, &request.mode);
    if let Some(record) = &request.record {
        kept["record"] = json!(KeptRecord::from(record));
    }
    kept
}

/// Adds to a kept request that it is a proposal.
pub(super) fn keep_mode(kept: &mut Value, mode: &Mode) {
    if let Mode::Propose { key } = mode {
        kept["mode"] = json!(PROPOSE);
        kept["key_id"] = json!(key.as_ref().map(KeyId::as_str));
    }
}

fn kept_preconditions(preconditions: &Preconditions) -> Value {
    let tags = |tags: &Option<EntityTags>| match tags {
        None => Value::Null,
        Some(EntityTags::Any) => json!("*"),
        Some(EntityTags::List(tags)) => json!(tags),
    };
    json!({
        "if_match": tags(&preconditions.if_match),
        "if_none_match": tags(&preconditions.if_none_match),
    })
}

fn preconditions_of(kept: &Value) -> Preconditions {
    let tags = |value: &Value| match value {
        Value::String(_) => Some(EntityTags::Any),
        Value::Array(tags) => {
            let tags = tags.iter().filter_map(Value::as_str).map(str::to_owned);
            Some(EntityTags::List(tags.collect()))
        }
        _ => None,
    };
    Preconditions {
        if_match: tags(&kept["if_match"]),
        if_none_match: tags(&kept["if_none_match"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preconditions_are_kept_as_they_are() {
        let list = |tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned());
            Some(EntityTags::List(tags.collect()))
        };
        for if_match in [None, Some(EntityTags::Any), list(&[]), list(&["a", "b"])] {
            for if_none_match in [None, Some(EntityTags::Any), list(&["c"])] {
                let preconditions = Preconditions {
                    if_match: if_match.clone(),
                    if_none_match,
                };
                assert_eq!(
                    preconditions_of(&kept_preconditions(&preconditions)),
                    preconditions
                );
            }
        }
    }
}
