//! Logs and metrics: set up once at the start of the process.

use crate::config::log::LogFormat;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// Counts requests by `method`, `route` and `status`.
pub const REQUESTS_TOTAL: &str = "http_requests_total";

/// Times requests by `method` and `route`, in seconds.
pub const REQUEST_SECONDS: &str = "http_request_duration_seconds";

/// How many requests run at the moment.
pub const REQUESTS_RUNNING: &str = "http_requests_running";

/// How long the document has waited that waited longest to be found by searches, in seconds.
pub const SEARCH_LAG_SECONDS: &str = "search_lag_seconds";

/// How many updates are queued, over all vaults.
pub const UPDATES_QUEUED: &str = "updates_queued";

/// How many queued updates are being run, by all instances.
pub const UPDATES_RUNNING: &str = "updates_queue_running";

/// How long the update has waited that has waited longest, in seconds.
pub const UPDATE_QUEUE_AGE: &str = "updates_queue_oldest_seconds";

/// Counts queued updates that this instance began.
pub const UPDATE_CLAIMS: &str = "update_claims_total";

/// Counts attempts of queued updates that failed and are made again.
pub const UPDATE_RETRIES: &str = "update_retries_total";

/// Counts updates that were called off, deleted or taken over while this instance ran them.
pub const UPDATE_LEASE_LOSSES: &str = "update_lease_losses_total";

/// How many streams of events and steps are open.
pub const STREAMS_OPEN: &str = "event_streams_open";

/// Upper bounds of the latency histogram in seconds: a read takes a millisecond, an update with models a minute.
const LATENCY_BUCKETS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0,
];

/// How often the histograms are emptied into their buckets, so that they do not grow when nobody scrapes them.
const UPKEEP_EVERY: Duration = Duration::from_secs(10);

/// Sends the log to standard error. `filter` is in the syntax of `RUST_LOG`; what cannot be read in it is left
/// out. A second call in one process changes nothing.
pub fn start_logs(format: LogFormat, filter: &str) {
    let filter = EnvFilter::new(filter);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // The only error is that a log is there already, as in a test that starts several services.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}

/// The metrics of the process. The first call installs the recorder; any number of services in one process share
/// it.
pub fn metrics() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let name = Matcher::Full(REQUEST_SECONDS.to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(name, &LATENCY_BUCKETS)
            .unwrap_or_else(|_| PrometheusBuilder::new())
            .build_recorder();
        let handle = recorder.handle();
        // Another recorder can only be there if a program around the library installed its own.
        if metrics::set_global_recorder(recorder).is_ok() {
            metrics::describe_counter!(REQUESTS_TOTAL, "Requests answered");
            metrics::describe_histogram!(
                REQUEST_SECONDS,
                metrics::Unit::Seconds,
                "Time to answer a request"
            );
            metrics::describe_gauge!(REQUESTS_RUNNING, "Requests being answered");
            metrics::describe_gauge!(UPDATES_QUEUED, "Updates that wait to be run, over all vaults");
            metrics::describe_gauge!(UPDATES_RUNNING, "Queued updates being run, by all instances");
            metrics::describe_gauge!(
                UPDATE_QUEUE_AGE,
                metrics::Unit::Seconds,
                "Age of the queued update that has waited longest"
            );
            metrics::describe_counter!(UPDATE_CLAIMS, "Queued updates begun by this instance");
            metrics::describe_counter!(
                UPDATE_RETRIES,
                "Attempts of queued updates that failed and are made again"
            );
            metrics::describe_counter!(
                UPDATE_LEASE_LOSSES,
                "Updates called off or taken over while they ran here"
            );
            metrics::describe_gauge!(STREAMS_OPEN, "Streams of events and steps that are open");
            metrics::describe_gauge!(
                SEARCH_LAG_SECONDS,
                metrics::Unit::Seconds,
                "Age of the oldest version that searches do not find yet"
            );
        }
        handle
    })
}

/// Keeps the metrics tidy for as long as it is polled; it never ends.
pub async fn keep_metrics() {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
    loop {
        ticks.tick().await;
        metrics().run_upkeep();
    }
}
