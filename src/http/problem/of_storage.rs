//! Maps errors of storage to problems: why a write is refused; that the database failed, and whether a retry makes sense.

use super::collapse::CollapseBody;
use super::{Kind, Problem};
use crate::domain::window::WindowError;
use crate::http::extract::conditions::refused_write;
use crate::http::routes::lookup;
use crate::storage::{Missing, StorageError, WriteError};
use crate::telemetry;

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        if let StorageError::KeyTakenOver = error {
            return Self::new(
                Kind::StillRunning,
                "another request with this Idempotency-Key took over from this one, which saved nothing; ask again \
                 with the same key",
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
            WriteError::NotFound(Missing::Memory) => lookup::missing(),
            WriteError::NotFound(Missing::Version) => lookup::no_such_version(),
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
            WriteError::Redacted { version, redaction } => lookup::redacted(version, &redaction),
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
            WriteError::Window(WindowError::TooLarge { before, bytes, limit }) => {
                Self::invalid("context", format!("{message}; nothing was saved"))
                    .with("before", before)
                    .with("actual", bytes)
                    .with("limit", limit)
            }
            WriteError::Window(WindowError::NotActive { active, .. }) => {
                let active: Vec<_> = active.iter().map(ToString::to_string).collect();
                let those = if active.is_empty() {
                    "there are none".to_owned()
                } else {
                    active.join(", ")
                };
                Self::invalid("supersedes", format!("{message}; active: {those}")).with("active", active)
            }
            WriteError::Window(WindowError::IdsExhausted(_)) => Self::invalid("body", message),
            WriteError::Refused(refusal) => {
                Self::new(Kind::Conflict, refusal.to_string()).with("field", "path")
            }
            WriteError::Storage(error) => error.into(),
        }
    }
}
