//! Every metric of the service, in one table. What happens is counted where it happens.
//!
//! No label is ever an id, a text or anything else that a client chooses: routes are those of the table of routes,
//! models those of the configuration, and all others have a small fixed set of values. `docs/observability.md` contains
//! the same table; a test compares them.

use std::time::Duration;

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A current value.
    Gauge,
    /// Times, in seconds, in buckets.
    Histogram,
}

/// A registered metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name in Prometheus.
    pub name: &'static str,
    /// Its kind.
    pub kind: MetricKind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// Its description.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $kind:ident, [$($label:literal),*], $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: &str = $name;
        )*

        /// All metrics, by name.
        pub const METRICS: &[Metric] = &[
            $(Metric { name: $name, kind: MetricKind::$kind, labels: &[$($label),*], help: $help },)*
        ];
    };
}

metrics! {
    BUILD_INFO = "build_info", Gauge, ["version"], "1, with the version of the service";
    POOL_CONNECTIONS = "db_pool_connections", Gauge, ["state"], "Open database connections, idle or used";
    POOL_MOST = "db_pool_max_connections", Gauge, [], "Database connections that may be open";
    POOL_WAIT_SECONDS = "db_pool_wait_seconds", Histogram, [], "Time to get a database connection, with the BEGIN of a transaction";
    REPLICA_LAG_SECONDS = "db_replica_lag_seconds", Gauge, [], "Maximum lag of the standby for reads";
    REPLICA_READS_TOTAL = "db_replica_reads_total", Counter, ["result"], "Reads that may be behind: answered by the standby, by the primary because the standby was too far behind or unavailable (behind), or by the primary after the standby failed (repeated)";
    EMBEDDING_CALLS_TOTAL = "embedding_calls_total", Counter, ["outcome"], "Requests to the embedding model: asked or failed";
    EMBEDDING_LAG_SECONDS = "embedding_lag_seconds", Gauge, [], "Age of the oldest version that searches by meaning do not find yet";
    EMBEDDING_PASSAGES_TOTAL = "embedding_passages_total", Counter, ["outcome"], "Passages of memories sent to the embedding model: embedded or refused";
    STREAMS_OPEN = "event_streams_open", Gauge, [], "Streams of events and steps that are open";
    HEAD_CACHE_BYTES = "head_cache_bytes", Gauge, [], "Bytes of newest versions in the cache of the process";
    HEAD_CACHE_HEADS = "head_cache_heads", Gauge, [], "Newest versions in the cache of the process";
    HEAD_CACHE_REQUESTS_TOTAL = "head_cache_requests_total", Counter, ["result"], "Reads of newest versions through the cache: hit or miss";
    CONNECTIONS_BROKEN_TOTAL = "http_connections_broken_total", Counter, ["reason"], "Connections that ended with an error";
    CONNECTIONS_OPEN = "http_connections_open", Gauge, [], "Connections open";
    REQUEST_SECONDS = "http_request_duration_seconds", Histogram, ["method", "route"], "Time to answer a request";
    REFUSED_TOTAL = "http_requests_refused_total", Counter, ["reason"], "Requests rejected by a limit or for a missing right";
    REQUESTS_RUNNING = "http_requests_running", Gauge, [], "Requests being answered";
    REQUESTS_TOTAL = "http_requests_total", Counter, ["method", "route", "status"], "Requests answered";
    MODEL_CALL_SECONDS = "model_call_seconds", Histogram, ["role", "model"], "Time of a model call, retries included";
    MODEL_CALLS_TOTAL = "model_calls_total", Counter, ["role", "model"], "Requests to models, retries included";
    MODEL_FAILURES_TOTAL = "model_failures_total", Counter, ["role", "model", "reason"], "Model calls that failed after their retries";
    MODEL_RETRIES_TOTAL = "model_retries_total", Counter, ["role", "model"], "Retries of requests to models";
    MODEL_TOKENS_TOTAL = "model_tokens_total", Counter, ["role", "model", "kind"], "Tokens, if servers report them";
    MEMORY_BYTES = "process_resident_memory_bytes", Gauge, [], "Resident memory of the process";
    UPTIME_SECONDS = "process_uptime_seconds", Gauge, [], "Time since the process started";
    PURGED_TOTAL = "purged_total", Counter, ["what"], "Expired rows that were deleted";
    SEARCH_LAG_SECONDS = "search_lag_seconds", Gauge, [], "Age of the oldest version that searches do not find yet";
    TRANSACTION_REPEATS_TOTAL = "transaction_repeats_total", Counter, ["transaction"], "Transactions retried after a concurrent change";
    TRANSACTIONS_TOTAL = "transactions_total", Counter, ["transaction", "result"], "Transactions that change data, without write batches, by result: committed, rolled_back (nothing to change, or rejected) or failed";
    UPDATE_CLAIMS = "update_claims_total", Counter, [], "Queued updates started by this instance";
    FAULTS_TOTAL = "update_faults_total", Counter, ["section", "kind"], "Items that were rejected or had a warning";
    UPDATE_LEASE_LOSSES = "update_lease_losses_total", Counter, [], "Updates that another instance claimed while they ran here";
    REBASES_TOTAL = "update_rebases_total", Counter, [], "Updates whose memory changed while they ran";
    REPROMPTS_TOTAL = "update_reprompts_total", Counter, ["role"], "Reprompts about faulty items";
    UPDATE_RETRIES = "update_retries_total", Counter, [], "Failed attempts of queued updates that are retried";
    UPDATE_STEP_SECONDS = "update_step_seconds", Histogram, ["step"], "Time of the steps of updates";
    UPDATE_QUEUE_AGE = "updates_queue_oldest_seconds", Gauge, [], "Age of the queued update that has waited longest";
    UPDATES_RUNNING = "updates_queue_running", Gauge, [], "Running queued updates of all instances";
    UPDATES_QUEUED = "updates_queued", Gauge, [], "Updates that wait in the queue, over all vaults";
    UPDATES_TOTAL = "updates_total", Counter, ["kind", "status"], "Runs of updates and operations by final status";
    PASSED_OVER_TOTAL = "vaults_passed_over_total", Counter, ["work"], "Failures of background work for one vault, after which it continued with the others";
    VERSIONS_TOTAL = "versions_total", Counter, ["source"], "Versions made";
}

/// Registers the descriptions of the metrics with the recorder.
pub(super) fn describe() {
    for metric in METRICS {
        match metric.kind {
            MetricKind::Counter => metrics::describe_counter!(metric.name, metric.help),
            MetricKind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
            MetricKind::Histogram => metrics::describe_histogram!(metric.name, metric.help),
        }
    }
    metrics::gauge!(BUILD_INFO, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// The result of a read that tolerates replication lag.
pub fn replica_read(result: &'static str) {
    metrics::counter!(REPLICA_READS_TOTAL, "result" => result).increment(1);
}

/// The current state of the cache of newest versions.
pub fn head_cache(hits: u64, misses: u64, heads: usize, bytes: u64) {
    metrics::counter!(HEAD_CACHE_REQUESTS_TOTAL, "result" => "hit").absolute(hits);
    metrics::counter!(HEAD_CACHE_REQUESTS_TOTAL, "result" => "miss").absolute(misses);
    #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
    let (heads, bytes) = (heads as f64, bytes as f64);
    metrics::gauge!(HEAD_CACHE_HEADS).set(heads);
    metrics::gauge!(HEAD_CACHE_BYTES).set(bytes);
}

/// The current state of the pool.
pub fn pool(open: u32, idle: usize, most: u32) {
    let idle = u32::try_from(idle).unwrap_or(u32::MAX).min(open);
    metrics::gauge!(POOL_CONNECTIONS, "state" => "idle").set(f64::from(idle));
    metrics::gauge!(POOL_CONNECTIONS, "state" => "used").set(f64::from(open - idle));
    metrics::gauge!(POOL_MOST).set(f64::from(most));
}

/// The current state of the process.
pub(super) fn process(uptime: Duration) {
    metrics::gauge!(UPTIME_SECONDS).set(uptime.as_secs_f64());
    // Only Linux reports it; elsewhere the metric does not exist.
    if let Some(kibibytes) = resident_kibibytes() {
        metrics::gauge!(MEMORY_BYTES).set(f64::from(kibibytes) * 1024.0);
    }
}

fn resident_kibibytes() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_follow_the_custom() {
        assert!(METRICS.is_sorted_by(|a, b| a.name < b.name));
        for metric in METRICS {
            let name = metric.name;
            assert_eq!(
                metric.kind == MetricKind::Counter,
                name.ends_with("_total"),
                "{name}"
            );
            if metric.kind == MetricKind::Histogram {
                assert!(name.ends_with("_seconds"), "{name}");
            }
            for label in metric.labels {
                assert!(
                    !label.contains("vault") && !label.contains("memory") && !label.contains("id"),
                    "{name}"
                );
            }
        }
    }
}
