//! Every metric of the service: one table, and a function for each event that is counted.
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

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TransactionResult {
    /// It is committed.
    Committed,
    /// It was rolled back: there was nothing to change, or it was refused.
    RolledBack,
    /// The database failed.
    Failed,
}

/// A transaction of this name came to its end.
pub fn transaction_ended(name: &'static str, result: TransactionResult) {
    let result: &'static str = result.into();
    metrics::counter!(TRANSACTIONS_TOTAL, "transaction" => name, "result" => result).increment(1);
}

/// A transaction of this name failed because of a concurrent change and is retried.
pub fn transaction_repeated(name: &'static str) {
    metrics::counter!(TRANSACTION_REPEATS_TOTAL, "transaction" => name).increment(1);
}

/// The maximum lag of the standby for reads.
pub fn replica_lag(lag: Duration) {
    metrics::gauge!(REPLICA_LAG_SECONDS).set(lag.as_secs_f64());
}

/// The result of a read that tolerates replication lag.
pub fn replica_read(result: &'static str) {
    metrics::counter!(REPLICA_READS_TOTAL, "result" => result).increment(1);
}

/// Background work over all vaults failed for one.
pub fn vault_passed_over(work: &'static str) {
    metrics::counter!(PASSED_OVER_TOTAL, "work" => work).increment(1);
}

/// A step of an update, with the name in the documentation.
pub fn step(name: &'static str, time: Duration) {
    metrics::histogram!(UPDATE_STEP_SECONDS, "step" => name).record(time.as_secs_f64());
}

/// An update or a text of operations ended. `section` and `kind` of its faults are from fixed sets.
pub fn update_ended<'f>(
    kind: &'static str,
    status: &'static str,
    rebased: bool,
    faults: impl Iterator<Item = (Option<&'f str>, &'f str)>,
) {
    metrics::counter!(UPDATES_TOTAL, "kind" => kind, "status" => status).increment(1);
    if rebased {
        metrics::counter!(REBASES_TOTAL).increment(1);
    }
    for (section, kind) in faults {
        let section = section.unwrap_or("none").to_owned();
        metrics::counter!(FAULTS_TOTAL, "section" => section, "kind" => kind.to_owned()).increment(1);
    }
}

/// Requests were made to the embedding model.
pub fn embedding_calls(calls: u64, failures: u64) {
    metrics::counter!(EMBEDDING_CALLS_TOTAL, "outcome" => "asked").increment(calls);
    metrics::counter!(EMBEDDING_CALLS_TOTAL, "outcome" => "failed").increment(failures);
}

/// Passages were sent to the embedding model.
pub fn embedding_passages(embedded: usize, refused: usize) {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    metrics::counter!(EMBEDDING_PASSAGES_TOTAL, "outcome" => "embedded").increment(count(embedded));
    metrics::counter!(EMBEDDING_PASSAGES_TOTAL, "outcome" => "refused").increment(count(refused));
}

/// The age of the oldest version that is not embedded.
pub fn embedding_lag(time: Duration) {
    metrics::gauge!(EMBEDDING_LAG_SECONDS).set(time.as_secs_f64());
}

/// The result of one call of a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelCall<'a> {
    /// The role's name.
    pub role: &'static str,
    /// The model's name in the configuration.
    pub model: &'a str,
    /// Requests made, at least 1.
    pub attempts: u32,
    /// Whether it was a reprompt about faulty items.
    pub again: bool,
    /// From the first request to the end of the last.
    pub time: Duration,
    /// Tokens by kind, if the server reports them.
    pub tokens: [(&'static str, Option<u64>); 4],
    /// Why it failed, in one word.
    pub failure: Option<&'static str>,
}

/// A model was called.
pub fn model_called(call: &ModelCall<'_>) {
    let (role, model) = (call.role, || call.model.to_owned());
    metrics::counter!(MODEL_CALLS_TOTAL, "role" => role, "model" => model()).increment(call.attempts.into());
    metrics::histogram!(MODEL_CALL_SECONDS, "role" => role, "model" => model())
        .record(call.time.as_secs_f64());
    if call.attempts > 1 {
        metrics::counter!(MODEL_RETRIES_TOTAL, "role" => role, "model" => model())
            .increment(u64::from(call.attempts) - 1);
    }
    if call.again {
        metrics::counter!(REPROMPTS_TOTAL, "role" => role).increment(1);
    }
    for (kind, tokens) in call.tokens {
        if let Some(tokens) = tokens {
            metrics::counter!(MODEL_TOKENS_TOTAL, "role" => role, "model" => model(), "kind" => kind)
                .increment(tokens);
        }
    }
    if let Some(reason) = call.failure {
        metrics::counter!(MODEL_FAILURES_TOTAL, "role" => role, "model" => model(), "reason" => reason)
            .increment(1);
    }
}

/// A version was made.
pub fn version_made(source: &'static str) {
    metrics::counter!(VERSIONS_TOTAL, "source" => source).increment(1);
}

/// Expired rows were deleted.
pub fn purged(what: &'static str, rows: u64) {
    metrics::counter!(PURGED_TOTAL, "what" => what).increment(rows);
}

/// The wait for a connection.
pub fn pool_wait(time: Duration) {
    metrics::histogram!(POOL_WAIT_SECONDS).record(time.as_secs_f64());
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
