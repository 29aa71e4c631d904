//! `GET /ui/service`: the state of the service, for operators: visitors who may see all vaults.

use super::super::failure::Failure;
use super::super::layout::{self, Crumb, Page};
use super::super::parts::{Bar, When, grouped, size, took};
use super::super::visit::Visit;
use super::metrics::{Metrics, Slow};
use crate::storage::database::server_state::ServerState;
use crate::telemetry::failures;
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/service.html")]
struct View {
    page: Page,
    ready: bool,
    readiness: String,
    version: &'static str,
    uptime: String,
    memory: String,
    database: Option<ServerState>,
    database_size: String,
    pool: Bar,
    pool_used: String,
    pool_wait: String,
    requests_running: String,
    connections: String,
    streams: String,
    cache: Bar,
    cache_rate: String,
    cache_size: String,
    queued: String,
    queue_running: String,
    queue_age: String,
    search_lag: String,
    slow: Vec<Slow>,
    counts: Vec<(&'static str, Vec<(String, String)>)>,
    failed: Vec<Failed>,
}

struct Failed {
    at: When,
    request: failures::FailedRequest,
    took: String,
}

/// Shows the state.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    if !visit.runs_the_service() {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "The state of the service is shown to the role admin of every vault.",
        ));
    }
    let (ready, metrics, database) = futures::join!(
        visit.api.ask_path(Method::GET, "/readyz".to_owned()).answer(),
        visit.api.ask_path(Method::GET, "/metrics".to_owned()).done(),
        visit.services.storage.server_state(),
    );
    let (ready, metrics) = (ready?, metrics?);
    let metrics = Metrics::read(&String::from_utf8_lossy(&metrics.body));
    let gauge = |name| metrics.sum(name, &[]);
    let whole = |value: f64| grouped(value as i64);
    let seconds = |value: f64| took((value * 1_000.0) as i64);
    let most = gauge("db_pool_max_connections");
    let used = metrics.sum("db_pool_connections", &[("state", "used")]);
    let hits = metrics.sum("head_cache_requests_total", &[("result", "hit")]);
    let reads = gauge("head_cache_requests_total");
    let cached = if reads > 0.0 { hits / reads * 100.0 } else { 0.0 };
    let waited = metrics.mean("db_pool_wait_seconds");
    let database = database.ok();
    let counted = |name, label| {
        let counts = metrics.by_label(name, label);
        counts
            .into_iter()
            .map(|(value, count)| (value, whole(count)))
            .collect()
    };
    let failed = failures::recent().into_iter().map(|request| Failed {
        at: When::new(request.at, visit.now),
        took: took(i64::try_from(request.millis).unwrap_or(i64::MAX)),
        request,
    });
    layout::render(&View {
        page: Page::of(&visit, "Service").crumb(Crumb::here("Service")),
        ready: ready.status.is_success(),
        readiness: if ready.status.is_success() {
            "ready".to_owned()
        } else {
            "not ready".to_owned()
        },
        version: env!("CARGO_PKG_VERSION"),
        uptime: seconds(gauge("process_uptime_seconds")),
        memory: size(gauge("process_resident_memory_bytes") as i64),
        database_size: database
            .as_ref()
            .map(|state| size(state.bytes))
            .unwrap_or_default(),
        database,
        pool: Bar::new(
            used / most.max(1.0) * 100.0,
            format!("{} of {} connections used", whole(used), whole(most)),
        ),
        pool_used: format!("{} of {} used", whole(used), whole(most)),
        pool_wait: waited
            .map(|wait| format!("{:.1} ms", wait * 1_000.0))
            .unwrap_or_default(),
        requests_running: whole(gauge("http_requests_running")),
        connections: whole(gauge("http_connections_open")),
        streams: whole(gauge("event_streams_open")),
        cache: Bar::new(cached, format!("{cached:.0} percent of reads from the cache")),
        cache_rate: format!("{cached:.0} % of {} reads", whole(reads)),
        cache_size: format!(
            "{} versions, {}",
            whole(gauge("head_cache_heads")),
            size(gauge("head_cache_bytes") as i64)
        ),
        queued: whole(gauge("updates_queued")),
        queue_running: whole(gauge("updates_queue_running")),
        queue_age: seconds(gauge("updates_queue_oldest_seconds")),
        search_lag: seconds(gauge("search_lag_seconds")),
        slow: metrics.slowest("http_request_duration_seconds", 12),
        counts: vec![
            ("Versions by source", counted("versions_total", "source")),
            ("Updates by final status", counted("updates_total", "status")),
            (
                "Model failures by reason",
                counted("model_failures_total", "reason"),
            ),
            (
                "Requests rejected, by reason",
                counted("http_requests_refused_total", "reason"),
            ),
            ("Rows purged", counted("purged_total", "what")),
        ],
        failed: failed.collect(),
    })
}
