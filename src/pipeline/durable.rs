//! Asynchronous updates: how they are queued, and how a worker runs them.

use super::request;
use super::request::{Mode, UpdateInput, UpdateRequest};
use super::{Pipeline, PipelineError, Steps, measured};
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::fair::Party;
use crate::storage::Preconditions;
use crate::storage::idempotency::Answering;
use crate::storage::updates::Run;
use crate::storage::updates::queue::{Claimed, EnqueueError, NewUpdate, QueueLimits, is_redacted};
use serde_json::json;

use super::report::{Target, UpdateAnswer};

/// Records that are new since the last consolidation before a full memory is consolidated again by itself.
const NEW_RECORDS_WHEN_FULL: i64 = 10;

/// The claim under which a worker runs a queued update.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) update_id: UpdateId,
    pub(super) attempt: i32,
    /// Whether the update is retried after a retryable model failure. Such a failure does not end the run then.
    pub(super) is_tried_again: bool,
}

impl Pipeline {
    /// Queues an update for a worker of this or another instance. The update is stored when this returns.
    ///
    /// # Errors
    /// A precondition that does not hold for the current head, a full queue, a vault that has used its daily tokens,
    /// or a database error. Nothing is stored then.
    pub async fn accept(
        &self,
        request: UpdateRequest,
        under: Option<Answering<'static, Run>>,
    ) -> Result<Run, PipelineError> {
        self.enqueue(request, under, false).await
    }

    /// Queues a consolidation of a memory if one is due and none is queued or running; its steps are proposed.
    ///
    /// # Errors
    /// As [`Self::accept`].
    pub async fn consolidate_if_due(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<bool, PipelineError> {
        let settings = &self.consolidation;
        let state = self.storage.consolidation_state(vault, memory).await?;
        let full = i64::try_from(self.limits.context_bytes).unwrap_or(i64::MAX);
        let at = |count: u32, reached: bool| count > 0 && reached;
        let is_grown = at(
            settings.after_records,
            state.new_records >= settings.after_records.into(),
        );
        let is_full = at(
            settings.at_percent,
            state.bytes * 100 >= full.saturating_mul(settings.at_percent.into()),
        );
        let is_due = is_grown || (is_full && state.new_records >= NEW_RECORDS_WHEN_FULL);
        if state.is_waiting || !is_due {
            return Ok(false);
        }
        let request = UpdateRequest {
            vault: vault.clone(),
            memory: memory.clone(),
            actor: ActorId::of_service(),
            preconditions: Preconditions::default(),
            input: UpdateInput::consolidation(String::new(), Mode::Propose { key: None }),
            steps: Steps::default(),
            idempotency: None,
        };
        match self.enqueue(request, None, true).await {
            Ok(_) => Ok(true),
            // Another instance was first.
            Err(PipelineError::QueueFull { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn enqueue(
        &self,
        request: UpdateRequest,
        under: Option<Answering<'static, Run>>,
        is_alone: bool,
    ) -> Result<Run, PipelineError> {
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
            kind: request.input.kind(),
            request: json!(request.input),
            preconditions: json!(request.preconditions),
            vault: request.vault,
            memory: request.memory,
            update_id,
            actor: request.actor,
            created_at,
            base_version: base.version,
            identity: base.identity,
            is_alone,
            idempotency: under,
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
                EnqueueError::NotAlone => PipelineError::QueueFull { limit: 1 },
                EnqueueError::Storage(error) => error.into(),
            })
    }

    /// Runs an update that a worker has claimed, and stores its result under the claim, except for the errors below.
    ///
    /// # Errors
    /// See [`PipelineError`]. Not stored: a precondition that does not hold, a retryable model failure if
    /// `is_tried_again`, and database errors.
    pub async fn run_claimed(
        &self,
        claimed: &Claimed,
        is_tried_again: bool,
    ) -> Result<UpdateAnswer, PipelineError> {
        let request = Self::read_claimed(claimed)?;
        let party = Party::of_memory(request.vault.as_str(), request.memory.as_str());
        let _permit = self.updates.acquire(&party, 1).await;
        let claim = Claim {
            id: claimed.claim.clone(),
            update_id: claimed.due.update_id.clone(),
            attempt: claimed.attempts,
            is_tried_again,
        };
        self.refuse_over_tokens(&request.vault).await?;
        let result = Box::pin(self.run_update(&request, Some((claim, claimed.created_at)))).await;
        measured::ended(request.input.kind(), &result);
        result
    }

    fn read_claimed(claimed: &Claimed) -> Result<UpdateRequest, PipelineError> {
        let unreadable = |problem: String| PipelineError::Unreadable {
            update_id: claimed.due.update_id.clone(),
            problem,
        };
        if is_redacted(&claimed.request) {
            return Err(unreadable(
                "the request quotes a version that has been redacted since".to_owned(),
            ));
        }
        let unreadable_part =
            |of: &str, problem: &str| unreadable(format!("the stored {of} cannot be read: {problem}"));
        Ok(UpdateRequest {
            vault: claimed.due.vault.clone(),
            memory: claimed.due.memory.clone(),
            actor: claimed.actor.clone(),
            preconditions: request::read_stored(&claimed.preconditions)
                .map_err(|problem| unreadable_part("preconditions", &problem))?,
            input: request::read_stored::<UpdateInput>(&claimed.request)
                .map_err(|problem| unreadable_part("request", &problem))?,
            steps: Steps::default(),
            idempotency: None,
        })
    }
}
