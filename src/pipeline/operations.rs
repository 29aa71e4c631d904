//! `ApplyOperations`: the same text from an agent, without a model.

use super::measured;
use super::report::{Target, UpdateAnswer};
use super::role;
use super::run::{Running, Saved};
use super::{OnInvalid, OperationsRequest, Pipeline, PipelineError};
use crate::domain::dsl;
use crate::storage::updates::{RunKind, RunStatus};
use serde_json::json;
use std::collections::BTreeMap;

impl Pipeline {
    /// Applies a text of operations.
    ///
    /// Its items are read against the head of that moment and validated again on the head they land on,
    /// like a model's. Its progress replaces whatever stands there: the writer had no model's time to miss
    /// a change in, and says so with `If-Match` where it matters.
    ///
    /// # Errors
    /// As [`PipelineError`] says; no version was saved then.
    pub async fn apply_operations(&self, request: OperationsRequest) -> Result<UpdateAnswer, PipelineError> {
        let result = self.apply_text(request).await;
        measured::ended(RunKind::Operations, &result);
        result
    }

    async fn apply_text(&self, request: OperationsRequest) -> Result<UpdateAnswer, PipelineError> {
        self.check_resolvable(&request).await?;
        let mut running = self.begin_operations(&request).await?;
        let place = (&request.vault, &request.memory);
        loop {
            let base = &running.progress_base;
            let reading = role::read(
                &self.storage,
                place,
                &base.text,
                &request.text,
                &dsl::Options::default(),
                None,
                &running.limits,
            )
            .await?;
            running.rejected = reading.rejections().collect();
            running.warnings = reading.warnings().collect();
            if request.on_invalid == OnInvalid::Fail && reading.is_to_be_mended() {
                let update_id = running.target.update_id.clone();
                let error = PipelineError::Invalid {
                    update_id,
                    rejected: running.rejected.clone(),
                };
                self.keep_failed_run(&running, RunStatus::Invalid, &error.to_string())
                    .await?;
                return Err(error);
            }
            running.accepted = reading.accepted;
            match self.save(&running).await? {
                Saved::Answer(answer) => return Ok(*answer),
                // Somebody was faster within this moment: read the text again on what stands there now.
                Saved::ProgressMoved => {
                    running.progress_base = self.capture(&running.target, &running.preconditions).await?;
                }
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
        let target = Target {
            update_id: self.new_update_id(),
            vault: request.vault.clone(),
            memory: request.memory.clone(),
        };
        let created_at = self.clock.now();
        let base = self.capture(&target, &request.preconditions).await?;
        let max_additions = request.max_additions.unwrap_or(self.settings.max_additions);
        Ok(Running {
            target,
            kind: RunKind::Operations,
            actor: request.actor.clone(),
            created_at,
            request: json!({
                "text": request.text,
                "dry_run": request.dry_run,
                "on_invalid": request.on_invalid.name(),
                "max_additions": max_additions,
                "update_id": request.resolves.as_ref().map(ToString::to_string),
            }),
            preconditions: request.preconditions.clone(),
            dry_run: request.dry_run,
            resolves: request.resolves.clone(),
            limits: self.limits.of_operations(max_additions),
            title: "operations applied".to_owned(),
            progress_base: base.clone(),
            base,
            accepted: Vec::new(),
            rejected: Vec::new(),
            warnings: Vec::new(),
            models: BTreeMap::new(),
            exchanges: Vec::new(),
            spent: Vec::new(),
            claim: None,
            steps: None,
        })
    }
}
