//! Reads that may be a little behind are answered by a standby, where there is one and it is not too far behind.
//!
//! Such a read is one of lists, of old versions and of searches. The newest version is not among them, and neither is
//! what a client waits for (runs, events). `X-Replica-Lag` says how far behind the answer is at most. `Cache-Control`
//! of the request is heeded. Whatever the standby does not answer well is asked of the primary: what is missing there may
//! have been made a moment ago, and a standby ends statements that are in the way of what it replays.

use super::layer::{Inner, Next};
use crate::http::extract::freshness::{Freshness, max_age};
use crate::http::state::AppState;
use crate::telemetry::meters;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use std::time::Duration;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{HeaderBuilder, RefOr};

/// How far behind an answer is at most, in seconds.
pub(crate) const X_REPLICA_LAG: HeaderName = HeaderName::from_static("x-replica-lag");

/// The reads that may be behind.
const MAY_LAG: [&str; 10] = [
    "/v1/vaults",
    "/v1/vaults/{vault_id}/memories",
    "/v1/vaults/{vault_id}/search",
    "/v1/vaults/{vault_id}/memories/{memory_id}/archive/epics",
    "/v1/vaults/{vault_id}/memories/{memory_id}/archive/history",
    "/v1/vaults/{vault_id}/memories/{memory_id}/contexts",
    "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}",
    "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/diff",
    "/v1/vaults/{vault_id}/memories/{memory_id}/log",
    "/v1/vaults/{vault_id}/memories/{memory_id}/search",
];

/// A read that may be behind where it asks for the state of a time.
const OF_A_TIME: &str = "/v1/vaults/{vault_id}/memories/{memory_id}/context";

/// Runs a request, on the standby if it may be.
pub(super) async fn read<S: Inner>(state: AppState, request: Request, next: Next<S>) -> Response {
    if !state.storage.has_replica() || !may_lag(&request) {
        return next.run(request).await;
    }
    let within = max_age(request.headers());
    let lag = state.storage.replica_lag();
    let Some(lag) = lag.filter(|lag| within.is_none_or(|within| *lag <= within)) else {
        meters::replica_read("behind");
        return next.run(request).await;
    };
    // A read has no body that anybody reads.
    let (parts, body) = request.into_parts();
    let again = Request::from_parts(parts.clone(), Body::empty());
    let asked = next.clone().run(Request::from_parts(parts, body));
    let mut response = state.storage.on_replica(asked).await;
    if !is_good(response.status()) {
        meters::replica_read("repeated");
        return next.run(again).await;
    }
    meters::replica_read("standby");
    if let Ok(lag) = HeaderValue::from_str(&in_seconds(lag)) {
        response.headers_mut().insert(X_REPLICA_LAG, lag);
    }
    response
}

fn is_good(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::NOT_MODIFIED
}

/// Rounded up: it is at most that much.
fn in_seconds(lag: Duration) -> String {
    let millis = lag.as_micros().div_ceil(1_000);
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

fn may_lag(request: &Request) -> bool {
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let path = request.extensions().get::<MatchedPath>();
    is_read
        && Freshness::from_headers(request.headers()) == Freshness::Recent
        && path.is_some_and(|path| is_listed(path.as_str(), request.uri().query()))
}

fn is_listed(path: &str, query: Option<&str>) -> bool {
    let names = |name: &str| {
        let mut pairs = query.unwrap_or_default().split('&');
        pairs.any(|pair| pair.split_once('=').map_or(pair, |(name, _)| name) == name)
    };
    // A search that is to find everything indexes first, which the standby hears of later.
    MAY_LAG.contains(&path) && !names("consistent") || path == OF_A_TIME && names("as_of")
}

/// Adds the header to the answers that may have it.
pub(crate) fn document(path: &str, method: &Method, operation: &mut Operation) {
    if *method != Method::GET || !(MAY_LAG.contains(&path) || path == OF_A_TIME) {
        return;
    }
    let Some(RefOr::T(good)) = operation.responses.responses.get_mut("200") else {
        return;
    };
    let header = HeaderBuilder::new()
        .description(Some(
            "Where a standby answered: how many seconds it was behind at most when the request came. `Cache-Control: no-cache` \
             or `max-age` in the request bounds it.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::Number).build()))
        .build();
    good.headers.insert("X-Replica-Lag".to_owned(), RefOr::T(header));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_and_what_is_to_be_found_at_once_are_of_the_primary() {
        assert!(is_listed("/v1/vaults", None));
        assert!(is_listed("/v1/vaults/{vault_id}/search", Some("q=a&limit=2")));
        assert!(!is_listed(
            "/v1/vaults/{vault_id}/search",
            Some("q=a&consistent=true")
        ));
        assert!(!is_listed(OF_A_TIME, None) && !is_listed(OF_A_TIME, Some("section=as_of")));
        assert!(is_listed(OF_A_TIME, Some("section=x&as_of=2026-01-01T00:00:00Z")));
        for path in [
            "/v1/keys",
            "/v1/vaults/{vault_id}/events",
            "/v1/vaults/v/memories",
        ] {
            assert!(!is_listed(path, None), "{path}");
        }
    }

    #[test]
    fn a_lag_is_rounded_up() {
        assert_eq!(in_seconds(Duration::from_micros(1)), "0.001");
        assert_eq!(in_seconds(Duration::from_millis(12_050)), "12.050");
        assert_eq!(in_seconds(Duration::ZERO), "0.000");
    }
}
