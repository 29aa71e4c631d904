//! The stored row of a run, whether it saved a version, made a proposal or failed.

use super::merge::Refused;
use super::proposal::Proposal;
use super::report::UpdateAnswer;
use super::running::Running;
use super::{Pipeline, PipelineError};
use crate::domain::ids::{ActorId, ContextId};
use crate::domain::text::masked;
use crate::storage::StorageError;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::{Run, RunStatus};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

impl Pipeline {
    /// Converts a refused merge to an error, and stores its run where that is allowed.
    pub(super) async fn refuse(
        &self,
        running: &Running,
        refused: Refused,
    ) -> Result<PipelineError, PipelineError> {
        let update_id = running.target.update_id.clone();
        let error = match refused {
            Refused::PreconditionFailed(failed) => return Ok(failed.into()),
            // The run is not stored: it quotes what was deleted.
            Refused::Deleted => return Ok(PipelineError::Deleted),
            Refused::ProgressMoved => PipelineError::Conflict {
                update_id,
                rebases: self.settings.max_rebases,
            },
            Refused::TooLarge { before, bytes, limit } => PipelineError::TooLarge {
                update_id,
                before,
                bytes,
                limit,
            },
            Refused::IdsExhausted { kind } => PipelineError::IdsExhausted { update_id, kind },
            Refused::OtherTask(record) => PipelineError::OtherTask { update_id, record },
            Refused::Fault(problem) => PipelineError::Storage(StorageError::Corrupt {
                table: "memory_contexts",
                column: "context",
                row: update_id.to_string(),
                problem,
            }),
            Refused::NotActive(id) => PipelineError::Storage(StorageError::Corrupt {
                table: "records",
                column: "status",
                row: id.to_string(),
                problem: "accepted for archiving, but not in the document".to_owned(),
            }),
        };
        if running.review.is_some() {
            // The proposal is still pending.
            return Ok(error);
        }
        let status = match error {
            PipelineError::OtherTask { .. } => RunStatus::Conflict,
            _ => RunStatus::Failed,
        };
        self.keep_failed_run(running, status, &error.to_string()).await?;
        Ok(error)
    }

    /// The error of a run under which progress moved too often; its run is stored.
    pub(super) async fn progress_moved(
        &self,
        running: &Running,
        rebases: u32,
    ) -> Result<PipelineError, PipelineError> {
        let update_id = running.target.update_id.clone();
        let error = PipelineError::Conflict { update_id, rebases };
        self.keep_failed_run(running, RunStatus::Conflict, &error.to_string())
            .await?;
        Ok(error)
    }

    /// Stores a run that saved no version, so that a person can inspect it.
    pub(super) async fn keep_failed_run(
        &self,
        running: &Running,
        status: RunStatus,
        problem: &str,
    ) -> Result<(), PipelineError> {
        let mut outcome = json!({
            "problem": problem,
            "rejected": running.rejected,
            "warnings": running.warnings,
            "models": running.models,
        });
        keep_more(
            &mut outcome,
            running.omitted.rejections(),
            running.omitted.warnings(),
        );
        let run = self.run(running, status, None, running.base_version(), outcome);
        self.storage.save_run(&run, None).await?;
        Ok(())
    }

    /// The row of a run that ended with a response.
    pub(super) fn run_of_answer(
        &self,
        running: &Running,
        status: RunStatus,
        answer: &UpdateAnswer,
        proposal: Option<&Proposal>,
    ) -> Run {
        // A proposal saves no version, and must not appear as the run that led to the newest one.
        let is_saved = status != RunStatus::Proposed;
        let version = answer
            .context_id()
            .filter(|_| is_saved)
            .map(|id| (answer.version, id));
        let mut outcome = json!({
            "rebased": answer.rebased,
            "operations": answer.operations,
            "rejected": answer.rejected,
            "warnings": answer.warnings,
            "diff": answer.diff,
            "log": answer.log,
            "models": answer.models,
            "document": answer.document,
        });
        keep_more(&mut outcome, answer.more_rejected, answer.more_warnings);
        if let Some(proposal) = proposal {
            outcome["proposal"] = json!(proposal);
        }
        if let Some(review) = &running.review {
            review.write(&mut outcome);
        }
        self.run(running, status, version, answer.base_version, outcome)
    }

    fn run(
        &self,
        running: &Running,
        status: RunStatus,
        version: Option<(i64, ContextId)>,
        base_version: i64,
        outcome: Value,
    ) -> Run {
        let kept = |value: &Value| without_secrets(value, &|text| self.prompts.has_no_secret(text));
        Run {
            vault_id: running.target.vault.clone(),
            memory_id: running.target.memory.clone(),
            update_id: running.target.update_id.clone(),
            kind: running.kind,
            status,
            actor_id: running.actor.clone(),
            created_at: running.created_at,
            finished_at: Some(self.clock.now().max(running.created_at)),
            attempts: running.claim.as_ref().map_or(1, |claim| claim.attempt),
            base_version,
            version,
            resolved_by: None,
            request: kept(&running.request),
            exchanges: running.exchanges.iter().map(kept).collect(),
            shown: (running.base.version > 0).then(|| (running.base.version, running.base.text.clone())),
            outcome,
            claim: running.claim.as_ref().map(|claim| claim.id.clone()),
            identity: running.identity().cloned(),
            events: self.events(running, status),
        }
    }

    /// The events to store with a run: its steps so far, its end, and the start or the approval of its proposal.
    fn events(&self, running: &Running, status: RunStatus) -> Vec<NewEvent> {
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

/// Stores the numbers of omitted rejections and warnings, if there are any.
fn keep_more(outcome: &mut Value, rejected: usize, warnings: usize) {
    for (name, more) in [("more_rejected", rejected), ("more_warnings", warnings)] {
        if more > 0 {
            outcome[name] = json!(more);
        }
    }
}

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
    fn write(&self, outcome: &mut Value) {
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
    fn details(&self) -> Value {
        json!({ "operations": self.numbers })
    }
}

/// Returns the value with every credential in its texts masked. Texts for which `has_none` returns true are not
/// searched.
fn without_secrets(value: &Value, has_none: &impl Fn(&str) -> bool) -> Value {
    let same = |value| without_secrets(value, has_none);
    match value {
        Value::String(text) if has_none(text) => value.clone(),
        Value::String(text) => Value::String(masked(text)),
        Value::Array(values) => values.iter().map(same).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), same(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_are_masked_wherever_they_are_and_all_else_stays() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let exchange = json!({
            "messages": [{"role": "user", "content": format!("use {token} for it")}],
            "attempts": 2,
            "error": null,
        });
        let kept = without_secrets(&exchange, &|text| text == "assistant");
        assert!(!kept.to_string().contains(&token), "{kept}");
        assert_eq!(kept["messages"][0]["content"], "use [secret] for it");
        assert_eq!(kept["messages"][0]["role"], "user");
        assert_eq!((&kept["attempts"], &kept["error"]), (&json!(2), &Value::Null));
    }
}
