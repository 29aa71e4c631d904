//! The latest requests that failed by a fault of the service, for the dashboard's page about the service.

use chrono::{DateTime, Utc};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept.
const KEPT: usize = 30;

/// A failed request, with the members of its log line.
#[derive(Debug, Clone)]
pub struct FailedRequest {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Its method.
    pub method: &'static str,
    /// Its route, as in the table of routes.
    pub route: Arc<str>,
    /// Its status.
    pub status: u16,
    /// How long it took.
    pub millis: u64,
    /// Its id, as in the log.
    pub request_id: String,
    /// The cause.
    pub cause: Option<Arc<str>>,
}

static FAILED: Mutex<VecDeque<FailedRequest>> = Mutex::new(VecDeque::new());

/// Adds a request, and drops the oldest.
pub fn keep(failed: FailedRequest) {
    let mut kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.truncate(KEPT - 1);
    kept.push_front(failed);
}

/// The kept requests, newest first.
#[must_use]
pub fn recent() -> Vec<FailedRequest> {
    let kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().cloned().collect()
}
