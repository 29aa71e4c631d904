//! The last requests that failed by a fault of the service, for whoever looks at its state.

use chrono::{DateTime, Utc};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept.
const KEPT: usize = 30;

/// A request that failed: what its log line says.
#[derive(Debug, Clone)]
pub struct FailedRequest {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Its method.
    pub method: &'static str,
    /// Its route, as the table of routes writes it.
    pub route: Arc<str>,
    /// Its status.
    pub status: u16,
    /// How long it took.
    pub millis: u64,
    /// Its id, in the log too.
    pub request_id: String,
    /// Why.
    pub cause: Option<Arc<str>>,
}

static FAILED: Mutex<VecDeque<FailedRequest>> = Mutex::new(VecDeque::new());

/// Keeps one, in place of the oldest.
pub fn keep(failed: FailedRequest) {
    let mut kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.truncate(KEPT - 1);
    kept.push_front(failed);
}

/// Those that are kept, the newest first.
#[must_use]
pub fn recent() -> Vec<FailedRequest> {
    let kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().cloned().collect()
}
