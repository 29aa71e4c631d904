//! The metrics of requests, and those that failed lately. They are counted so often that the metric handles are cached instead of being looked up by all
//! labels each time.

use crate::telemetry::{REQUEST_SECONDS, REQUESTS_RUNNING, REQUESTS_TOTAL};
use chrono::{DateTime, Utc};
use foldhash::fast::RandomState;
use metrics::{Counter, Gauge, Histogram};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// The metric handles of requests of one method and route that ended with one status.
struct Ended {
    total: Counter,
    seconds: Histogram,
}

/// By route, method and status: bounded, since routes come from the table of routes.
type Known = HashMap<Box<str>, Vec<((&'static str, u16), Ended)>, RandomState>;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);
static RUNNING: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!(REQUESTS_RUNNING));

/// A request begins. The recorder must have been installed ([`super::metrics`]).
pub fn began() {
    RUNNING.increment(1.0);
}

/// A request ended. `route` is that of the table of routes, `method` is from a fixed set.
pub fn ended(method: &'static str, route: &str, status: u16, time: Duration) {
    RUNNING.decrement(1.0);
    if !count_known(method, route, status, time) {
        remember(method, route, status);
        count_known(method, route, status, time);
    }
}

/// Counts a request if what counts it is known.
fn count_known(method: &'static str, route: &str, status: u16, time: Duration) -> bool {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut of_route = known.get(route).into_iter().flatten();
    let found = of_route.find(|(key, _)| *key == (method, status));
    if let Some((_, ended)) = found {
        ended.total.increment(1);
        ended.seconds.record(time.as_secs_f64());
    }
    found.is_some()
}

fn remember(method: &'static str, route: &str, status: u16) {
    let (name, number) = (route.to_owned(), status.to_string());
    let ended = Ended {
        total: metrics::counter!(REQUESTS_TOTAL, "method" => method, "route" => name.clone(), "status" => number),
        seconds: metrics::histogram!(REQUEST_SECONDS, "method" => method, "route" => name),
    };
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known
        .entry(route.into())
        .or_default()
        .push(((method, status), ended));
}

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
pub fn keep_failed(failed: FailedRequest) {
    let mut kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.truncate(KEPT - 1);
    kept.push_front(failed);
}

/// The kept requests, newest first.
#[must_use]
pub fn recently_failed() -> Vec<FailedRequest> {
    let kept = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().cloned().collect()
}
