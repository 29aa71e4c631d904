//! Maps database errors to problems: that the database failed, and whether a retry makes sense.

use super::{Kind, Problem};
use crate::storage::StorageError;
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
