//! Maps errors of updates to problems. If the run was stored, the problem contains its id.

use super::{Kind, Problem};
use crate::http::extract::conditions::refused_write;
use crate::pipeline::PipelineError;
use crate::telemetry;
use chrono::SecondsFormat;

/// `Retry-After` in seconds when too many updates of a memory are waiting: about the duration of one update.
const QUEUE_RETRY_SECONDS: u64 = 5;

/// The limit that rejected an update, as the label of the metric of rejected requests.
fn bound(error: &PipelineError) -> Option<&'static str> {
    match error {
        PipelineError::QueueFull { .. } | PipelineError::LineFull { .. } => Some("queue"),
        PipelineError::VaultBusy { .. } | PipelineError::Busy { .. } => Some("updates"),
        PipelineError::TokensSpent { .. } => Some("tokens"),
        _ => None,
    }
}

impl From<PipelineError> for Problem {
    fn from(error: PipelineError) -> Self {
        let message = error.to_string();
        if let Some(bound) = bound(&error) {
            telemetry::refused(bound);
        }
        match error {
            PipelineError::PreconditionFailed(failed) => refused_write(&failed),
            PipelineError::QueueFull { limit } => Self::new(Kind::TooManyRequests, message)
                .with("limit", limit)
                .with("limit_name", "pipeline.queue_per_memory")
                .retry_after(QUEUE_RETRY_SECONDS),
            PipelineError::TokensSpent { spent, limit, opens_at, retry_after } => {
                let opens_at = opens_at.to_rfc3339_opts(SecondsFormat::Secs, true);
                Self::new(
                    Kind::TooManyRequests,
                    format!("{message}; updates open again at {opens_at} (midnight UTC)"),
                )
                .with("limit", limit)
                .with("limit_name", "limits.vault_tokens_per_day")
                .with("actual", spent)
                .with("opens_at", opens_at)
                .retry_after(retry_after)
            }
            PipelineError::LineFull { limit, limit_name, .. } => Self::new(Kind::TooManyRequests, message)
                .with("limit", limit)
                .with("limit_name", limit_name)
                .retry_after(QUEUE_RETRY_SECONDS),
            PipelineError::VaultBusy { limit } => Self::new(Kind::TooManyRequests, message)
                .with("limit", limit)
                .with("limit_name", "pipeline.concurrent_updates_per_vault")
                .retry_after(QUEUE_RETRY_SECONDS),
            PipelineError::Busy { limit } => Self::new(Kind::Unavailable, message)
                .with("limit", limit)
                .with("limit_name", "pipeline.concurrent_updates")
                .retry_after(QUEUE_RETRY_SECONDS),
            PipelineError::Unreadable { update_id, .. } => {
                Self::new(Kind::Invalid, message).with("update_id", update_id.as_str())
            }
            PipelineError::ModelFailed { update_id, role, timed_out, .. } => {
                let kind = if timed_out { Kind::ModelTimeout } else { Kind::ModelFailed };
                Self::new(kind, &*message)
                    .with("update_id", update_id.as_str())
                    .with("role", role.name())
                    .caused_by(message)
            }
            PipelineError::Invalid { update_id, rejected, more } => {
                let detail =
                    format!("{message}; nothing was saved, finish the run with POST …/operations?update_id={update_id}");
                let problem = Self::new(Kind::Invalid, detail)
                    .with("update_id", update_id.as_str())
                    .with("rejected", serde_json::to_value(rejected).unwrap_or_default());
                if more > 0 { problem.with("more_rejected", more) } else { problem }
            }
            PipelineError::TooLarge { update_id, before, bytes, limit } => Self::new(
                Kind::Invalid,
                format!(
                    "the document has {before} bytes and would have {bytes}, over limits.context_bytes = {limit}; \
                     nothing was saved"
                ),
            )
            .with("field", "context")
            .with("update_id", update_id.as_str())
            .with("before", before)
            .with("actual", bytes)
            .with("limit", limit),
            PipelineError::IdsExhausted { update_id, .. } => {
                Self::new(Kind::Invalid, message).with("update_id", update_id.as_str())
            }
            PipelineError::Conflict { update_id, rebases } => Self::new(Kind::Conflict, message)
                .with("update_id", update_id.as_str())
                .with("limit", rebases),
            PipelineError::Deleted => Self::new(
                Kind::Conflict,
                format!("{message}; nothing was saved, send it again to begin a new memory"),
            ),
            PipelineError::OtherTask { update_id, record } => Self::new(
                Kind::Conflict,
                format!("{message}; give this task another id, or send what was sent first"),
            )
            .with("field", "record.task_id")
            .with("record_id", record.to_string())
            .with("update_id", update_id.as_str()),
            PipelineError::ProposalGone { update_id, .. } => Self::new(
                Kind::Gone,
                format!("{message}; nothing was changed, propose it again if it is still wanted"),
            )
            .with("update_id", update_id.as_str()),
            PipelineError::NotProposed {
                update_id,
                status,
                review,
            } => {
                let problem = Self::new(
                    Kind::Conflict,
                    format!("{message}; only a run that is proposed can be approved or rejected, and only once"),
                )
                .with("field", "update_id")
                .with("update_id", update_id.as_str())
                .with("run_status", status);
                match review {
                    Some((by, at)) => problem.with("decided_by", by).with("decided_at", at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
                    None => problem,
                }
            }
            PipelineError::OwnProposal { update_id } => {
                Self::new(Kind::Forbidden, format!("{message}; somebody with another key has to approve it"))
                    .with("update_id", update_id.as_str())
            }
            PipelineError::UnknownOperations { update_id, count, .. } => Self::invalid("operations", message)
                .with("update_id", update_id.as_str())
                .with("actual", count),
            PipelineError::UnknownRun(_) => Self::new(Kind::NotFound, message).with("field", "update_id"),
            PipelineError::NotResolvable { .. } => {
                Self::new(Kind::Conflict, format!("{message}; only a run that is invalid can be finished by hand"))
                    .with("field", "update_id")
            }
            PipelineError::Storage(error) => error.into(),
        }
    }
}
