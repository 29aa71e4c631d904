//! The state of the service: `/healthz`, `/readyz`, `/metrics`, `/openapi.yaml`.

use crate::http::openapi::openapi_yaml;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::HeadCacheUse;
use crate::telemetry;
use crate::telemetry::meters;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Whether the process is alive
///
/// It asks nobody else: a database that is away is no reason to restart the service.
#[utoipa::path(
    get,
    path = "/healthz",
    responses((status = 200, description = "It is.", body = String, content_type = "text/plain; charset=utf-8"))
)]
pub(crate) async fn get_health() -> &'static str {
    "ok\n"
}

/// The checks in their order. After a failure the remaining ones are skipped.
const CHECKS: [&str; 3] = ["database", "schema", "writes"];

/// Whether the service can work
///
/// Asks the database, whether its schema is that of this program, and whether writes get through. The answer names each check with `ok`; a
/// problem has them as `checks`, with `ok`, `failed` or `unknown`.
#[utoipa::path(
    get,
    path = "/readyz",
    responses(
        (status = 200, description = "It can.", body = String, content_type = "text/plain; charset=utf-8", example = "ready\ndatabase ok\nschema ok\nwrites ok\n"),
        (status = 503, description = "It cannot; `detail` says what is not ready, `not_ready` and `checks` name it."),
    )
)]
pub(crate) async fn get_readiness(State(state): State<AppState>) -> Result<String, Problem> {
    let storage = &state.storage;
    let failed = |check, why| move |error| not_ready(check, why).caused_by(error);
    let answers = storage.ping().await;
    answers.map_err(failed("database", "the database does not answer"))?;
    let is_current = storage.schema_is_current().await;
    if !is_current.map_err(failed("schema", "the database's schema cannot be read"))? {
        let why = "the database's schema is older than this program";
        return Err(not_ready("schema", why));
    }
    let blocked = storage.blocked_writes().await;
    let blocked = blocked.map_err(failed("writes", "writes do not get through: a test write failed"))?;
    if let Some(problem) = blocked {
        let why = format!("writes do not get through: {problem}");
        return Err(not_ready("writes", &why));
    }
    let lines = CHECKS.map(|check| format!("{check} ok\n"));
    Ok(format!("ready\n{}", lines.concat()))
}

/// The response of a service that is still starting.
pub(crate) fn starting() -> Problem {
    not_ready(
        "database",
        "the service is starting: it waits for its database, or brings the schema up to date",
    )
}

fn not_ready(failed: &'static str, why: &str) -> Problem {
    let mut state = "ok";
    let mut checks = Map::new();
    for check in CHECKS {
        if check == failed {
            state = "failed";
        }
        checks.insert(check.to_owned(), Value::from(state));
        if check == failed {
            state = "unknown";
        }
    }
    Problem::new(Kind::Unavailable, format!("not ready: {why}"))
        .with("not_ready", vec![failed])
        .with("checks", checks)
        .retry_after(1)
}

/// The media type of the Prometheus text format.
const METRICS_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of the process, for Prometheus
#[utoipa::path(
    get,
    path = "/metrics",
    responses((status = 200, description = "In the Prometheus text format.", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8"))
)]
pub(crate) async fn get_metrics(State(state): State<AppState>) -> impl IntoResponse {
    let (open, idle) = state.storage.pool_size();
    meters::pool(open, idle, state.storage.most_connections());
    let HeadCacheUse {
        hits,
        misses,
        heads,
        bytes,
    } = state.storage.head_cache();
    meters::head_cache(hits, misses, heads, bytes);
    ([(CONTENT_TYPE, METRICS_MEDIA_TYPE)], telemetry::render_metrics())
}

/// This document
#[utoipa::path(
    get,
    path = "/openapi.yaml",
    responses((status = 200, description = "What the service answers, as OpenAPI.", body = Object, content_type = "application/yaml"))
)]
pub(crate) async fn get_open_api() -> impl IntoResponse {
    static MADE: OnceLock<String> = OnceLock::new();
    (
        [(CONTENT_TYPE, "application/yaml")],
        MADE.get_or_init(openapi_yaml).as_str(),
    )
}
