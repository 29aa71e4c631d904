//! Logs, metrics and traces: set up once at the start of the process.

mod lines;
pub mod meters;
pub mod requests;
mod text;
pub mod traces;

pub use meters::{
    CONNECTIONS_BROKEN_TOTAL, CONNECTIONS_OPEN, REFUSED_TOTAL, REQUEST_SECONDS, REQUESTS_RUNNING,
    REQUESTS_TOTAL, SEARCH_LAG_SECONDS, STREAMS_OPEN, UPDATE_CLAIMS, UPDATE_LEASE_LOSSES, UPDATE_QUEUE_AGE,
    UPDATE_RETRIES, UPDATES_QUEUED, UPDATES_RUNNING,
};

use crate::config::telemetry::LogFormat;
pub use lines::Guard;
use lines::Lines;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::{self, IsTerminal};
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use text::PlainLines;
use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::ChronoLocal;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// Upper bounds of the latency histogram in seconds: a read takes a millisecond, an update with models a minute.
const LATENCY_BUCKETS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0,
];

/// How often the histograms are emptied into their buckets, so that they do not grow when nobody scrapes them.
const UPKEEP_EVERY: Duration = Duration::from_secs(10);

/// Sends the log to standard error. `filter` is in the syntax of `RUST_LOG`; what cannot be read in it is left
/// out. A second call in one process changes nothing. The log ends with the guard.
///
/// # Errors
/// No thread can be started for it.
pub fn start_logs(format: LogFormat, filter: &str) -> io::Result<Guard> {
    let (lines, guard) = Lines::to(io::stderr())?;
    // The only error is that a log is there already, as in a test that starts several services.
    let _ = log_alone(format, filter, lines).try_init();
    Ok(guard)
}

/// The log without traces beside it. The filter is that of the whole subscriber: one of a single layer remembers per
/// thread what was refused last, and takes it for its verdict on the next event if nothing but `enabled!` was asked in
/// between, as sqlx does; so the first line after a query was lost.
fn log_alone<W>(format: LogFormat, filter: &str, lines: W) -> impl Subscriber + Send + Sync + use<W>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let layer = unfiltered(format, lines);
    tracing_subscriber::registry().with(layer).with(filter_of(filter))
}

/// Writes what passes the filter to standard error.
fn fmt_layer<S>(format: LogFormat, filter: &str) -> io::Result<(Box<dyn Layer<S> + Send + Sync>, Guard)>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let (lines, guard) = Lines::to(io::stderr())?;
    let layer = unfiltered::<S, _>(format, lines)
        .with_filter(filter_of(filter))
        .boxed();
    Ok((layer, guard))
}

fn filter_of(directives: &str) -> EnvFilter {
    // At finer levels the first writes whole messages, and bodies are never logged; the second writes what it ignores of a
    // database URL, which may be a password.
    let quiet = ["rmcp=warn", "sqlx_postgres::options=error"];
    quiet
        .into_iter()
        .filter_map(|directive| Directive::from_str(directive).ok())
        .fold(EnvFilter::new(directives), EnvFilter::add_directive)
}

fn unfiltered<S, W>(format: LogFormat, lines: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let is_terminal = io::stderr().is_terminal();
    // Colours are for people: in a file or a collector they would be noise.
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(is_terminal && std::env::var_os("NO_COLOR").is_none())
        .with_writer(lines);
    match format {
        // People read the time of day and what happened.
        LogFormat::Text if is_terminal => layer
            .compact()
            .with_target(false)
            .with_timer(ChronoLocal::new("%H:%M:%S".to_owned()))
            .boxed(),
        LogFormat::Text => layer.event_format(PlainLines::default()).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    }
}

/// Counts a request that was refused.
pub fn refused(reason: &'static str) {
    metrics::counter!(REFUSED_TOTAL, "reason" => reason).increment(1);
}

/// The metrics of the process. The first call installs the recorder; any number of services in one process share
/// it.
pub fn metrics() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        started();
        let times = Matcher::Suffix("_seconds".to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(times, &LATENCY_BUCKETS)
            .unwrap_or_else(|_| PrometheusBuilder::new())
            .build_recorder();
        let handle = recorder.handle();
        // Another recorder can only be there if a program around the library installed its own.
        if metrics::set_global_recorder(recorder).is_ok() {
            meters::describe();
        }
        handle
    })
}

/// When the metrics were first asked for: at the start of the service.
fn started() -> Instant {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    *STARTED.get_or_init(Instant::now)
}

/// All metrics in the Prometheus text format, those of the process as they are now.
pub fn render_metrics() -> String {
    let handle = metrics();
    meters::process(started().elapsed());
    handle.render()
}

/// Keeps the metrics tidy for as long as it is polled; it never ends.
pub async fn keep_metrics() {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
    loop {
        ticks.tick().await;
        metrics().run_upkeep();
    }
}

#[cfg(test)]
pub(crate) mod captured_log;

#[cfg(test)]
mod tests {
    use super::captured_log::CapturedLog;
    use super::*;

    #[test]
    fn a_line_after_a_check_whether_something_is_logged_is_written() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let written = CapturedLog::default();
            let writer = written.clone();
            let subscriber = log_alone(format, "info,quiet=warn", move || writer.clone());
            tracing::subscriber::with_default(subscriber, || {
                for number in 0..3 {
                    assert!(!tracing::enabled!(target: "quiet", tracing::Level::INFO));
                    tracing::info!(number, "models");
                }
            });
            assert_eq!(written.text().matches("models").count(), 3, "{}", written.text());
        }
    }
}
