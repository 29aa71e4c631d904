//! Answers reads that may be stale from a standby, if one is configured and its lag is small enough.
//!
//! These are lists, old versions and searches, but not the newest version, and not what clients wait for (runs,
//! events). `X-Replica-Lag` contains the maximum lag of the response. `Cache-Control` of the request is respected. If
//! the standby's response is an error, the primary is asked: what is missing may be new, and a standby cancels queries
//! that conflict with replay.

use super::{Inner, Next};
use crate::http::extract::conditions::{Freshness, max_age};
use crate::http::state::AppState;
use crate::telemetry::meters;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use std::time::Duration;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Header, RefOr};

/// The maximum lag of the response in seconds.
pub(crate) const X_REPLICA_LAG: HeaderName = HeaderName::from_static("x-replica-lag");

/// The reads that may be stale.
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

/// A read that may be stale if it requests the state at a point in time.
const OF_A_TIME: &str = "/v1/vaults/{vault_id}/memories/{memory_id}/context";

/// Runs a request, on the standby if allowed.
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
    // A read has no body that is used.
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

/// Seconds, rounded up, because it is a maximum.
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
    // A consistent search updates the index first, and the standby receives that update later.
    MAY_LAG.contains(&path) && !names("consistent") || path == OF_A_TIME && names("as_of")
}

/// Adds the header to the documentation of these routes.
pub(crate) fn document(path: &str, method: &Method, operation: &mut Operation) {
    if *method != Method::GET || !(MAY_LAG.contains(&path) || path == OF_A_TIME) {
        return;
    }
    let Some(RefOr::T(good)) = operation.responses.responses.get_mut("200") else {
        return;
    };
    let seconds = ObjectBuilder::new().schema_type(Type::Number).build();
    let header = RefOr::T(Header::new(seconds));
    good.headers.insert("X-Replica-Lag".to_owned(), header);
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
