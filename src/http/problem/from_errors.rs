//! Maps errors of storage and of updates to problems: why a write is refused; that the database failed, and whether a retry
//! makes sense. If the run of an update was stored, the problem contains its id.

use crate::domain::memory::EditError;
use crate::http::extract::headers::refused_write;
use crate::http::problem::{CollapseBody, Kind, Problem};
use crate::http::routes::contexts;
use crate::pipeline::{LimitReached, PipelineError};
use crate::storage::{Missing, StorageError, WriteError};
use crate::telemetry;
use chrono::SecondsFormat;

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        if let StorageError::KeyTakenOver = error {
            return Self::new(
                Kind::StillRunning,
                "another request with this Idempotency-Key took over from this one, or its memory was deleted; this \
                 one saved nothing; ask again with the same key",
            )
            .with("field", "Idempotency-Key")
            .retry_after(1);
        }
        if let StorageError::MemoryDeleted = error {
            return Self::new(Kind::Conflict, format!("{error}; nothing was saved"));
        }
        if let StorageError::OverQuota(over) = &error {
            telemetry::refused("quota");
            return Self::new(Kind::Quota, format!("{over}; nothing was saved"))
                .with("limit", over.limit)
                .with("limit_name", over.setting)
                .with("actual", over.held);
        }
        match error.retry_after() {
            Some(wait) => Self::new(Kind::Unavailable, "the database is not available at the moment")
                .retry_after(wait.as_secs().max(1))
                .caused_by(&error),
            None => Self::internal(&error),
        }
    }
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Self {
        let message = error.to_string();
        match error {
            WriteError::PreconditionFailed(failed) => refused_write(&failed),
            WriteError::NotFound(Missing::Memory) => contexts::missing(),
            WriteError::NotFound(Missing::Version) => contexts::no_such_version(),
            WriteError::NotFound(Missing::File) => Self::not_found(message).with("field", "path"),
            WriteError::Collapses(lost) => {
                let warnings: Vec<_> = lost.into_iter().map(CollapseBody::from).collect();
                Self::new(
                    Kind::Collapse,
                    "the text would lose much of what the document says, see warnings; nothing was saved. Put the \
                     whole document, or send the same with ?confirm=collapse",
                )
                .with("field", "confirm")
                .with("warnings", serde_json::to_value(warnings).unwrap_or_default())
            }
            WriteError::Redacted { version, redaction } => contexts::redacted(version, &redaction),
            WriteError::IsHead { version } => Self::new(
                Kind::Conflict,
                format!(
                    "version {version} is the newest and cannot be redacted: put a new version without what is to \
                     go (PUT …/context), then redact this one"
                ),
            )
            .with("field", "ref")
            .with("version", version),
            WriteError::Invalid(rule) => {
                Self::invalid("ref", format!("the version cannot be restored: {rule}"))
            }
            WriteError::OtherTask(id) => Self::new(
                Kind::Conflict,
                format!("{message}; give this task another id, or send what was sent first"),
            )
            .with("field", "task_id")
            .with("record_id", id.to_string()),
            WriteError::Window(EditError::TooLarge { before, bytes, limit }) => {
                Self::invalid("context", format!("{message}; nothing was saved"))
                    .with("before", before)
                    .with("actual", bytes)
                    .with("limit", limit)
            }
            WriteError::Window(EditError::NotActive { active, .. }) => {
                let active: Vec<_> = active.iter().map(ToString::to_string).collect();
                let those = if active.is_empty() {
                    "there are none".to_owned()
                } else {
                    active.join(", ")
                };
                Self::invalid("supersedes", format!("{message}; active: {those}")).with("active", active)
            }
            WriteError::Window(EditError::IdsExhausted { .. }) => Self::invalid("body", message),
            WriteError::Refused(refusal) => {
                Self::new(Kind::Conflict, refusal.to_string()).with("field", "path")
            }
            WriteError::TooManyItems(too_many) => {
                Self::invalid("items", message).with("limit", too_many.limit)
            }
            WriteError::Storage(error) => error.into(),
        }
    }
}

/// `Retry-After` in seconds when too many updates of a memory are waiting: about the duration of one update.
const QUEUE_RETRY_SECONDS: u64 = 5;

impl From<LimitReached> for Problem {
    fn from(reached: LimitReached) -> Self {
        let is_of_running = reached.name.starts_with("pipeline.concurrent_updates");
        telemetry::refused(if is_of_running { "updates" } else { "queue" });
        let kind = match reached.name == LimitReached::OF_SERVICE {
            true => Kind::Unavailable,
            false => Kind::TooManyRequests,
        };
        Self::new(kind, reached.what)
            .with("limit", reached.limit)
            .with("limit_name", reached.name)
            .retry_after(QUEUE_RETRY_SECONDS)
    }
}

impl From<PipelineError> for Problem {
    fn from(error: PipelineError) -> Self {
        let message = error.to_string();
        match error {
            PipelineError::PreconditionFailed(failed) => refused_write(&failed),
            PipelineError::Full(reached) => reached.into(),
            PipelineError::TokensSpent {
                spent,
                limit,
                setting,
                opens_at,
                retry_after,
            } => {
                telemetry::refused("tokens");
                let opens_at = opens_at.to_rfc3339_opts(SecondsFormat::Secs, true);
                Self::new(
                    Kind::TooManyRequests,
                    format!("{message}; updates open again at {opens_at} (midnight UTC)"),
                )
                .with("limit", limit)
                .with("limit_name", setting)
                .with("actual", spent)
                .with("opens_at", opens_at)
                .retry_after(retry_after)
            }
            PipelineError::Unreadable { update_id, .. } => {
                Self::new(Kind::Invalid, message).with("update_id", update_id.as_str())
            }
            PipelineError::ModelFailed {
                update_id,
                role,
                timed_out,
                ..
            } => {
                let kind = if timed_out {
                    Kind::ModelTimeout
                } else {
                    Kind::ModelFailed
                };
                Self::new(kind, &*message)
                    .with("update_id", update_id.as_str())
                    .with("role", role.name())
                    .caused_by(message)
            }
            PipelineError::Invalid {
                update_id,
                rejected,
                more,
            } => {
                let detail = format!(
                    "{message}; nothing was saved, finish the run with POST …/operations?update_id={update_id}"
                );
                let problem = Self::new(Kind::Invalid, detail)
                    .with("update_id", update_id.as_str())
                    .with("rejected", serde_json::to_value(rejected).unwrap_or_default());
                if more > 0 {
                    problem.with("more_rejected", more)
                } else {
                    problem
                }
            }
            PipelineError::Edit { update_id, error } => {
                Self::from(WriteError::Window(error)).with("update_id", update_id.as_str())
            }
            PipelineError::Conflict { update_id, rebases } => Self::new(Kind::Conflict, message)
                .with("update_id", update_id.as_str())
                .with("limit", rebases),
            PipelineError::Deleted => Self::new(
                Kind::Conflict,
                format!("{message}; nothing was saved, send it again to begin a new memory"),
            ),
            PipelineError::Redacted => Self::new(
                Kind::Conflict,
                format!("{message}; nothing was saved, send it again"),
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
                format!("{message}; this request changed nothing, propose it again if it is still wanted"),
            )
            .with("update_id", update_id.as_str()),
            PipelineError::NotProposed {
                update_id,
                status,
                review,
            } => {
                let decided = review.map(|(by, at)| (by, at.to_rfc3339_opts(SecondsFormat::AutoSi, true)));
                let told = decided.as_ref().map(|(by, at)| format!(" by {by} since {at}"));
                let detail = format!(
                    "{message}{}; only a run that is proposed can be approved or rejected, and only once",
                    told.unwrap_or_default()
                );
                let problem = Self::new(Kind::Conflict, detail)
                    .with("field", "update_id")
                    .with("update_id", update_id.as_str())
                    .with("run_status", status);
                match decided {
                    Some((by, at)) => problem.with("decided_by", by).with("decided_at", at),
                    None => problem,
                }
            }
            PipelineError::OwnProposal { update_id } => Self::new(
                Kind::Forbidden,
                format!("{message}; somebody with another key has to approve it"),
            )
            .with("update_id", update_id.as_str()),
            PipelineError::UnknownOperations { update_id, count, .. } => Self::invalid("operations", message)
                .with("update_id", update_id.as_str())
                .with("actual", count),
            PipelineError::UnknownRun(_) => Self::new(Kind::NotFound, message).with("field", "update_id"),
            PipelineError::NotResolvable { .. } => Self::new(
                Kind::Conflict,
                format!("{message}; only a run that is invalid can be finished by hand"),
            )
            .with("field", "update_id"),
            PipelineError::Storage(error) => error.into(),
        }
    }
}
