//! The middleware of every request. From the outside in: [`standard`] (the layers of `tower-http` for headers, compression,
//! request ids, panics; between them log line and metrics), [`bounds`] (the rest of a body), [`site`] (host and origin),
//! [`access`] (authentication, authorization, rates), [`bounds`] (concurrency), [`idempotency`] (PUT and POST of a
//! vault), [`bounds`] again (time limit), and here which database answers a read.
//!
//! Behind the first, each is a function that wraps the next one. One [`layer`] per route combines all of them, because an axum layer
//! clones and boxes its inner service for every request, which costs more than most of these functions do.
//!
//! Reads that may be stale are answered by a standby, if one is configured and its lag is small enough: lists, old versions and
//! searches, but not the newest version, and not what clients wait for (runs, events). `X-Replica-Lag` contains the maximum lag of the
//! response. `Cache-Control` of the request is respected. If the standby's response is an error, the primary is asked: what is missing
//! may be new, and a standby cancels queries that conflict with replay.

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod idempotency;
pub(crate) mod site;
pub(crate) mod standard;

use crate::domain::access::Caller;
use crate::fair::Party;
use crate::http::dashboard::Pages;
use crate::http::extract::headers::MaxAge;
use crate::http::problem::Cause;
use crate::http::serve::Peer;
use crate::http::state::AppState;
use crate::telemetry::meters;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{Extensions, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures::FutureExt;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Header, RefOr};

/// Wraps everything, including requests without a route.
pub(crate) async fn around_all<S: Inner>(state: Arc<AppState>, request: Request, next: Next<S>) -> Response {
    all(&state, request, |request| next.run(request)).await
}

/// The middleware of every request after the service has started.
async fn all<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let admit = |request| access::check(state, request, next);
    bounds::discard(request, |request| site::check(state, request, admit)).await
}

/// The limits of a route.
#[derive(Debug)]
pub(crate) struct Work {
    /// The database and the settings.
    pub(crate) state: AppState,
    /// The time limit of a request.
    pub(crate) time: Duration,
    /// How the body's bytes are counted.
    pub(crate) weighs: bounds::Weighs,
}

/// The layer of regular routes.
pub(crate) async fn around_work<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, weighs } = &*work;
    let bounded = async |request: Request| {
        let party = party(&request);
        let time = *time;
        let of_read = state.clone();
        let read = move |request| read_anywhere(of_read, request, next);
        let run = move |request| bounds::time(time, request, read);
        let once = |request| idempotency::once(state, time, request, run);
        party
            .scope(bounds::concurrency(state, *weighs, request, once))
            .await
    };
    all(state, request, bounded).await
}

/// The party that an authenticated request is counted for.
fn party(request: &Request) -> Party {
    request.extensions().get::<Party>().cloned().unwrap_or_default()
}

/// The layer of the dashboard's pages. They call routes with the layer [`around_own`].
pub(crate) async fn around_pages<S: Inner>(pages: Arc<Pages>, request: Request, next: Next<S>) -> Response {
    let state = &pages.state;
    let time = state.settings.update_timeout;
    let give = |mut request| {
        pages.give(&mut request);
        bounds::time(time, request, |request| next.run(request))
    };
    let bounded = async |request: Request| {
        party(&request)
            .scope(bounds::concurrency(state, bounds::Weighs::Work, request, give))
            .await
    };
    all(state, request, bounded).await
}

/// The layer of routes that tools and pages call: like [`around_work`], but the request that calls is already authenticated.
pub(crate) async fn around_own<S: Inner>(work: Arc<Work>, request: Request, next: Next<S>) -> Response {
    let Work { state, time, .. } = &*work;
    let time = *time;
    let run = move |request| bounds::time(time, request, move |request| next.run(request));
    let once = |request| idempotency::once(state, time, request, run);
    let method = request.method().clone();
    let response = access::check_again(request, once).await;
    // The tool or page shows the problem; the cause is only in the log.
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        let status = response.status().as_u16();
        tracing::warn!(%method, status, %cause, "what a tool or page asked for failed");
    }
    response
}

/// What a request that a tool or page makes has of the one that calls it.
pub(crate) fn carried(from: &Extensions) -> Extensions {
    fn copy<T: Clone + Send + Sync + 'static>(from: &Extensions, to: &mut Extensions) {
        if let Some(value) = from.get::<T>() {
            to.insert(value.clone());
        }
    }
    let mut to = Extensions::new();
    copy::<Caller>(from, &mut to);
    copy::<access::Admission>(from, &mut to);
    copy::<bounds::Slot>(from, &mut to);
    copy::<Peer>(from, &mut to);
    to
}

/// The layer of routes that also answer when all others are rejected.
pub(crate) async fn around_health<S: Inner>(
    state: Arc<AppState>,
    request: Request,
    next: Next<S>,
) -> Response {
    let time = state.settings.request_timeout;
    let bounded = |request| bounds::time(time, request, |request| next.run(request));
    all(&state, request, bounded).await
}

/// What a layer can wrap: a route, or a handler with its state.
pub(crate) trait Inner:
    Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Inner for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The inner service of a layer.
#[derive(Debug, Clone)]
pub(crate) struct Next<S>(S);

impl<S: Inner> Next<S> {
    /// Calls the inner service.
    pub(crate) async fn run(mut self, request: Request) -> Response {
        // A service inside the router is always ready.
        match self.0.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// The layer of a function that is called with `shared`, a request and the inner service. `axum::middleware::from_fn` does the
/// same, with two more clones of the inner service and three more boxes per request.
pub(crate) fn layer<C, A, F, S>(
    shared: Arc<C>,
    around: A,
) -> impl Layer<
    S,
    Service = impl Service<Request, Response = Response, Error = Infallible, Future: Send>
              + Clone
              + Send
              + Sync
              + 'static,
> + Clone
where
    C: Send + Sync + 'static,
    A: Fn(Arc<C>, Request, Next<S>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    S: Inner,
{
    layer_fn(move |inner: S| {
        let shared = shared.clone();
        service_fn(move |request| around(shared.clone(), request, Next(inner.clone())).map(Ok))
    })
}

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
async fn read_anywhere<S: Inner>(state: AppState, request: Request, next: Next<S>) -> Response {
    if !state.storage.has_replica() || !may_lag(&request) {
        return next.run(request).await;
    }
    let MaxAge(within) = MaxAge::from_headers(request.headers());
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
    if !is_answer(response.status()) {
        meters::replica_read("repeated");
        return next.run(again).await;
    }
    meters::replica_read("standby");
    if let Ok(lag) = HeaderValue::from_str(&in_seconds(lag)) {
        response.headers_mut().insert(X_REPLICA_LAG, lag);
    }
    response
}

fn is_answer(status: StatusCode) -> bool {
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
        && !MaxAge::from_headers(request.headers()).is_zero()
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
pub(crate) fn document_replica(path: &str, method: &Method, operation: &mut Operation) {
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
mod replica_tests {
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
