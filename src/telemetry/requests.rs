//! The metrics of requests. They are counted so often that the metric handles are cached instead of being looked up by all
//! labels each time.

use super::{REQUEST_SECONDS, REQUESTS_RUNNING, REQUESTS_TOTAL};
use metrics::{Counter, Gauge, Histogram};
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::Duration;

/// The metric handles of requests of one method and route that ended with one status.
#[derive(Clone)]
struct Ended {
    total: Counter,
    seconds: Histogram,
}

/// By route, method and status: bounded, since routes come from the table of routes.
type Known = HashMap<Box<str>, Vec<((&'static str, u16), Ended)>>;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);
static RUNNING: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!(REQUESTS_RUNNING));

/// A request begins. The recorder must have been installed ([`super::metrics`]).
pub fn began() {
    RUNNING.increment(1.0);
}

/// A request ended. `route` is that of the table of routes, `method` is from a fixed set.
pub fn ended(method: &'static str, route: &str, status: u16, time: Duration) {
    RUNNING.decrement(1.0);
    let ended = find(method, route, status).unwrap_or_else(|| remember(method, route, status));
    ended.total.increment(1);
    ended.seconds.record(time.as_secs_f64());
}

fn find(method: &'static str, route: &str, status: u16) -> Option<Ended> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let of_route = known.get(route)?.iter();
    let found = of_route.clone().find(|(key, _)| *key == (method, status));
    found.map(|(_, ended)| ended.clone())
}

fn remember(method: &'static str, route: &str, status: u16) -> Ended {
    let (name, number) = (route.to_owned(), status.to_string());
    let ended = Ended {
        total: metrics::counter!(REQUESTS_TOTAL, "method" => method, "route" => name.clone(), "status" => number),
        seconds: metrics::histogram!(REQUEST_SECONDS, "method" => method, "route" => name),
    };
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let of_route = known.entry(route.into()).or_default();
    of_route.push(((method, status), ended.clone()));
    ended
}
