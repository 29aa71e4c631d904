//! Queued updates: accepted here, run by a worker later.

use crate::domain::ids::{MemoryId, VaultId};
use crate::fair;
use crate::pipeline::ask::sent;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::request::read_stored;
use crate::pipeline::run::mask;
use crate::pipeline::steps::count_end;
use crate::pipeline::{LimitReached, Mode, Pipeline, PipelineError, Target, UpdateInput, UpdateRequest};
use crate::storage::idempotency::Answering;
use crate::storage::updates::Run;
use crate::storage::updates::queue::{Claimed, Due, QueueFull, QueueLimits, is_redacted};
use serde_json::json;

/// Records that are new since the last consolidation before a full memory is consolidated again by itself.
const NEW_RECORDS_WHEN_FULL: i64 = 10;

impl Pipeline {
    /// Queues a consolidation of a memory if one is due and none is queued or running; its steps are proposed.
    ///
    /// # Errors
    /// As [`Self::accept`].
    pub async fn consolidate_if_due(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<bool, PipelineError> {
        let settings = &self.config.consolidation;
        let state = self.storage.consolidation_state(vault, memory).await?;
        let full = i64::try_from(self.config.limits.context_bytes).unwrap_or(i64::MAX);
        let at_bytes = full.saturating_mul(settings.at_percent.into());
        let is_grown = settings.after_records > 0 && state.new_records >= settings.after_records.into();
        let is_full = settings.at_percent > 0 && state.bytes * 100 >= at_bytes;
        if !(is_grown || is_full && state.new_records >= NEW_RECORDS_WHEN_FULL) {
            return Ok(false);
        }
        let request = UpdateRequest {
            to: Target::by_service(vault, memory),
            input: UpdateInput::consolidation(String::new(), Mode::Propose { key: None }),
            watcher: None,
            idempotency: None,
        };
        match self.accept(request, None, true).await {
            Ok(_) => Ok(true),
            // One is queued or running already, or the queue is full.
            Err(PipelineError::Full(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Queues an update for a worker of this or another instance; with `is_alone` only if the memory has no other one of its
    /// kind. The update is stored when this returns.
    ///
    /// # Errors
    /// A precondition that does not hold for the current head, a full queue, a vault that has used its daily tokens,
    /// or a database error. Nothing is stored then.
    pub async fn accept(
        &self,
        UpdateRequest { to, input, .. }: UpdateRequest,
        under: Option<Answering<'static, Run>>,
        is_alone: bool,
    ) -> Result<Run, PipelineError> {
        self.refuse_update(&to, &input).await?;
        let base = self.capture(&to).await?;
        let mut request = json!(input);
        // What waits is stored. The session record stays as it is: the version that it is for has it.
        let mask_texts = || ["task", "messages"].map(|member| mask(&mut request[member]));
        fair::on_cpu(sent(&input).bytes(), mask_texts).await;
        let run = Run::queued(
            (to.vault, to.memory, base.identity),
            (self.new_update_id(), input.kind()),
            (to.actor, self.clock.now()),
            (base.version, request),
        );
        let settings = &self.config.pipeline.queue;
        let limits = QueueLimits {
            per_memory: settings.max_per_memory.into(),
            per_vault: settings.max_per_vault.into(),
            is_alone,
        };
        let preconditions = json!(to.preconditions);
        let queued = self
            .storage
            .enqueue_update(&run, &preconditions, limits, under.as_ref());
        let Err(full) = queued.await? else {
            return Ok(run);
        };
        let (of, limit, name) = match full {
            QueueFull::Memory => ("memory", settings.max_per_memory, "pipeline.queue.max_per_memory"),
            QueueFull::Vault => ("vault", settings.max_per_vault, "pipeline.queue.max_per_vault"),
            QueueFull::NotAlone => ("memory", 1, LimitReached::OF_MEMORY),
        };
        Err(PipelineError::Full(LimitReached {
            what: format!("{limit} updates of this {of} are queued"),
            limit: limit as usize,
            name,
        }))
    }

    /// Whether an update is tried again after an attempt that failed.
    #[must_use]
    pub fn is_tried_again(&self, attempt: i32) -> bool {
        i64::from(attempt) < self.config.pipeline.queue.max_attempts.into()
    }

    /// Runs an update that a worker has claimed, and stores its result under the claim, except for the errors below.
    ///
    /// # Errors
    /// See [`PipelineError`]. Not stored: a precondition that does not hold, a retryable model failure if the update is tried
    /// again, and database errors.
    pub async fn run_claimed(&self, claimed: &Claimed) -> Result<UpdateAnswer, PipelineError> {
        let request = Self::read_claimed(claimed)?;
        let _permit = self.updates.acquire(&request.to.party(), 1).await;
        self.refuse_update(&request.to, &request.input).await?;
        let result = Box::pin(self.run_update(&request, Some(claimed))).await;
        count_end(request.input.kind(), &result);
        result
    }

    fn read_claimed(claimed: &Claimed) -> Result<UpdateRequest, PipelineError> {
        let unreadable = |problem: String| PipelineError::Unreadable {
            update_id: claimed.due.update_id.clone(),
            problem,
        };
        if is_redacted(&claimed.request) {
            let problem = "the request quotes a version that has been redacted since";
            return Err(unreadable(problem.to_owned()));
        }
        let unreadable_part =
            |of: &str, problem: &str| unreadable(format!("the stored {of} cannot be read: {problem}"));
        let preconditions = read_stored(&claimed.preconditions)
            .map_err(|problem| unreadable_part("preconditions", &problem))?;
        let Due { vault, memory, .. } = claimed.due.clone();
        Ok(UpdateRequest {
            to: Target::new(vault, memory, claimed.actor.clone(), preconditions),
            input: read_stored(&claimed.request).map_err(|problem| unreadable_part("request", &problem))?,
            watcher: None,
            idempotency: None,
        })
    }
}
