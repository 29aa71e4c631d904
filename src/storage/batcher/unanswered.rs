//! Jobs whose outcome is unknown.

use crate::storage::StorageError;
use std::fmt::Display;

/// The error of a job whose batch was cancelled.
pub(in crate::storage) fn cancelled() -> StorageError {
    unanswered(&"its batch was cancelled")
}

/// The error of each job of a batch whose outcome is unknown.
pub(in crate::storage) fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("a batch of requests: {cause}")))
}
