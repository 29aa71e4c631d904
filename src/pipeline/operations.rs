//! `ApplyOperations`: applies operations that an agent sends as text or as a list, without a model.

use super::check::ITEM_BYTES;
use super::report::{UpdateAnswer, quote};
use super::run::{Running, stored};
use super::steps::count_end;
use super::{Mode, OnInvalid, OperationsInput, OperationsRequest, Pipeline, PipelineError};
use crate::domain::dsl::requests::{self, OperationRequest};
use crate::domain::dsl::{self, Parsed};
use crate::domain::operation::WrittenItem;
use crate::fair;
use crate::storage::StorageError;
use crate::storage::updates::{RunKind, RunStatus};

/// An operation as JSON, up to the length that is quoted: it may be as long as the request body.
fn beginning(operation: &OperationRequest) -> String {
    quote(&serde_json::to_string(operation).unwrap_or_default())
}

impl Pipeline {
    /// Applies operations.
    ///
    /// They are parsed against the current head and validated again on the head they are saved on, like those of a
    /// model. A rewrite of progress replaces the current progress unconditionally: there is no long model call during
    /// which another change could be missed, and a client that needs the check sends `If-Match`.
    ///
    /// # Errors
    /// See [`PipelineError`]; no version was saved.
    pub async fn apply_operations(&self, request: OperationsRequest) -> Result<UpdateAnswer, PipelineError> {
        let result = self.apply_input(request).await;
        count_end(RunKind::Operations, &result);
        result
    }

    async fn apply_input(&self, request: OperationsRequest) -> Result<UpdateAnswer, PipelineError> {
        self.check_resolvable(&request).await?;
        let mut running = self.begin_operations(&request).await?;
        let reading = self.read_input(&request, &running).await?;
        running.results.add(&reading);
        if reading.items.is_empty() && reading.needs_repair() {
            // A text of which nothing could be taken finishes no run.
            running.resolves = None;
        }
        if request.on_invalid == OnInvalid::Fail && reading.needs_repair() {
            let error = PipelineError::Invalid {
                update_id: running.update_id.clone(),
                rejected: reading.invalid().collect(),
                more: reading.omitted.rejections,
            };
            return self.fail(&running, error).await;
        }
        self.save(&running).await?.ok_or_else(|| running.conflict())
    }

    /// Steps 3 and 4.
    async fn read_input(
        &self,
        request: &OperationsRequest,
        running: &Running,
    ) -> Result<Parsed, StorageError> {
        let parsed = match &request.input {
            OperationsInput::Text(text) => {
                let read = || dsl::parse(text).quoting(|range| text[range.clone()].into());
                fair::on_cpu(text.len(), read).await
            }
            OperationsInput::List(list) => requests::read(list).quoting(|range| WrittenItem {
                text: beginning(&list[range.start]),
                index: Some(range.start),
            }),
        };
        self.check(running, parsed, &[], None).await
    }

    async fn check_resolvable(&self, request: &OperationsRequest) -> Result<(), PipelineError> {
        let Some(update_id) = &request.resolves else {
            return Ok(());
        };
        let (vault, memory) = request.to.place();
        match self.storage.run(vault, memory, update_id).await? {
            None => Err(PipelineError::UnknownRun(update_id.clone())),
            Some(run) if run.status == RunStatus::Invalid => Ok(()),
            Some(run) => Err(PipelineError::NotResolvable {
                update_id: update_id.clone(),
                status: run.status.name(),
            }),
        }
    }

    async fn begin_operations(&self, request: &OperationsRequest) -> Result<Running, PipelineError> {
        let begun = (self.new_update_id(), self.clock.now());
        let bytes = match &request.input {
            OperationsInput::Text(text) => text.len(),
            OperationsInput::List(list) => list.len() * ITEM_BYTES,
        };
        let stored = stored(request, bytes).await;
        let base = self.capture(&request.to).await?;
        // Only models are limited to few additions by default.
        let max_additions = request.max_additions.unwrap_or(usize::MAX);
        let title = match request.mode {
            Mode::Apply => "operations applied",
            Mode::Propose { .. } => "operations proposed",
        };
        let limits = self.config.limits.of_operations(max_additions);
        let of = (RunKind::Operations, request.to.clone());
        Ok(Running {
            request: stored,
            dry_run: request.dry_run,
            resolves: request.resolves.clone(),
            idempotency: request.idempotency.clone(),
            mode: request.mode.clone(),
            ..Running::begin(begun, of, (limits, title.to_owned()), base)
        })
    }
}
