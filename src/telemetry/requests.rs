//! The metrics of requests, and what their log lines call a vault. They are counted so often that the metric handles are cached instead of being looked up by all
//! labels each time.

use crate::telemetry::{REQUEST_SECONDS, REQUESTS_RUNNING, REQUESTS_TOTAL};
use foldhash::fast::RandomState;
use metrics::{Counter, Gauge, Histogram};
use parking_lot::RwLock;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
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

/// The hashes of the vaults that were asked for lately: making one takes as long as much of a small read.
static HASHES: LazyLock<Cache<String, Arc<str>>> = LazyLock::new(|| Cache::new(1_000));

/// A longer text is no id. Anybody may send one in a path, so it is not held.
const MAX_HELD_BYTES: usize = 128;

/// The first twelve hexadecimal digits of the SHA-256 of a vault's id: they distinguish vaults in the log without naming them.
pub fn vault_hash(vault: &str) -> Arc<str> {
    let hash = || hex::encode(&Sha256::digest(vault.as_bytes())[..6]).into();
    if vault.len() > MAX_HELD_BYTES {
        return hash();
    }
    let Ok(hash) = HASHES.get_or_insert_with(vault, || Ok::<_, Infallible>(hash()));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_vaults_apart_without_naming_them() {
        // printf acme | sha256sum
        assert_eq!(&*vault_hash("acme"), "822b33ad87c1");
        assert_ne!(vault_hash("Acme"), vault_hash("acme"));
    }

    #[test]
    fn what_is_too_long_for_an_id_is_hashed_and_not_held() {
        let long = "a".repeat(MAX_HELD_BYTES + 1);
        assert_ne!(vault_hash(&long), vault_hash(&long[1..]));
        assert!(HASHES.get(&long).is_none() && HASHES.get(&long[1..]).is_some());
    }
}
