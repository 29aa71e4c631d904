//! The metrics of requests. They are counted so often that the metric handles are cached instead of being looked up by all
//! labels each time.

use crate::telemetry::{REQUEST_SECONDS, REQUESTS_RUNNING, REQUESTS_TOTAL};
use foldhash::fast::RandomState;
use metrics::{Counter, Gauge, Histogram};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::LazyLock;
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
    let known = KNOWN.read();
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
    let mut known = KNOWN.write();
    known
        .entry(route.into())
        .or_default()
        .push(((method, status), ended));
}
