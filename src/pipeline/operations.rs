//! `ApplyOperations`: applies operations that an agent sends as text or as a list, without a model.

use super::reading::{self, Against, Reading, WrittenItem};
use super::report::{UpdateAnswer, quote};
use super::run::{Results, Running, stored};
use super::{Mode, OnInvalid, OperationsInput, OperationsRequest, Pipeline, PipelineError};
use crate::domain::dsl;
use crate::domain::dsl::requests::{self, OperationRequest};
use crate::fair;
use crate::pipeline::steps::count_end;
use crate::storage::StorageError;
use crate::storage::updates::{RunKind, RunStatus};
use std::ops::Range;

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
        loop {
            let reading = self.read_input(&request, &running).await?;
            running.results = Results::default();
            running.results.add(&reading);
            if request.on_invalid == OnInvalid::Fail && reading.needs_repair() {
                let error = PipelineError::Invalid {
                    update_id: running.update_id.clone(),
                    rejected: reading.rejections().chain(reading.mendable_warnings()).collect(),
                    more: reading.omitted.rejections,
                };
                return self.fail(&running, error).await;
            }
            if let Some(answer) = self.save(&running).await? {
                return Ok(answer);
            }
            // Another writer changed progress just now: parse the text again on the current head.
            self.rebase(&mut running).await?;
        }
    }

    async fn read_input(
        &self,
        request: &OperationsRequest,
        running: &Running,
    ) -> Result<Reading, StorageError> {
        let (storage, place) = (&self.storage, (&request.vault, &request.memory));
        let (document, limits) = (&running.progress_base().text, &running.limits);
        let against = Against::Earlier(&[]);
        match &request.input {
            OperationsInput::Text(text) => {
                let parsed = fair::on_cpu(text.len(), || dsl::parse(text)).await;
                let written = |range: Range<usize>| WrittenItem::of_text(&text[range]);
                reading::read(storage, place, document, parsed, written, against, limits).await
            }
            OperationsInput::List(list) => {
                let written = |range: Range<usize>| WrittenItem {
                    text: beginning(&list[range.start]),
                    index: Some(range.start),
                };
                let parsed = requests::read(list);
                reading::read(storage, place, document, parsed, written, against, limits).await
            }
        }
    }

    async fn check_resolvable(&self, request: &OperationsRequest) -> Result<(), PipelineError> {
        let Some(update_id) = &request.resolves else {
            return Ok(());
        };
        match self
            .storage
            .run(&request.vault, &request.memory, update_id)
            .await?
        {
            None => Err(PipelineError::UnknownRun(update_id.clone())),
            Some(run) if run.status == RunStatus::Invalid => Ok(()),
            Some(run) => Err(PipelineError::NotResolvable {
                update_id: update_id.clone(),
                status: run.status.name(),
            }),
        }
    }

    async fn begin_operations(&self, request: &OperationsRequest) -> Result<Running, PipelineError> {
        let (update_id, created_at) = (self.new_update_id(), self.clock.now());
        let bytes = match &request.input {
            OperationsInput::Text(text) => text.len(),
            OperationsInput::List(list) => list.len() * reading::ITEM_BYTES,
        };
        let stored = stored(request, bytes).await;
        let of = (request.vault.clone(), request.memory.clone());
        let base = self.capture((&of.0, &of.1), &request.preconditions).await?;
        // Only models are limited to few additions by default.
        let max_additions = request.max_additions.unwrap_or(usize::MAX);
        let title = match request.mode {
            Mode::Apply => "operations applied",
            Mode::Propose { .. } => "operations proposed",
        };
        let by = (request.actor.clone(), created_at);
        let limits = self.config.limits.of_operations(max_additions);
        Ok(Running {
            request: stored,
            preconditions: request.preconditions.clone(),
            dry_run: request.dry_run,
            resolves: request.resolves.clone(),
            idempotency: request.idempotency.clone(),
            mode: request.mode.clone(),
            ..Running::begin(
                update_id,
                of,
                RunKind::Operations,
                by,
                (limits, title.to_owned()),
                base,
            )
        })
    }
}
