//! The middleware of every request. From the outside in: [`standard`] (the layers of `tower-http` for headers, compression and
//! request ids; log line, metrics and panics), [`bounds`] (the rest of a body), here (host and origin),
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
//!
//! Which site a request is for and which site it comes from is checked before anything else. A browser sends requests for any page it shows, even to a service that only this machine can reach. If no key is
//! required, nothing else would stop such a page. It cannot forge the following headers, so three things are checked:
//! `Host` is a name of the service (under DNS rebinding the attacker's name resolves to this address, and the browser
//! regards both as one origin), `Origin` is the same site, and `Sec-Fetch-Site` names no other site. Clients other
//! than browsers send neither of the last two. If keys are required, a foreign page has none, and a proxy may use any
//! host name.

pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod idempotency;
pub(crate) mod session;
pub(crate) mod standard;

use crate::clock::Clock;
use crate::config::hosts::Authority;
use crate::domain::access::Caller;
use crate::fair::Party;
use crate::http::dashboard::Pages;
use crate::http::extract::headers::MaxAge;
use crate::http::openapi::add_problem;
use crate::http::problem::{Cause, Kind, Problem};
use crate::http::serve::Peer;
use crate::http::state::AppState;
use crate::telemetry::{self, meters};
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
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
    let clean = |request| bounds::discard(request, |request| check_site(state, request, admit));
    standard::observed(&*state.clock, request, clean).await
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

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The values of `Sec-Fetch-Site` for requests that no other site caused: from the service's own pages, or by the user
/// directly.
const OWN: [&[u8]; 2] = [b"same-origin", b"none"];

/// The setting with the service's host names.
const SETTING: &str = "http.allowed_hosts";

/// Rejects requests of other sites' pages to a service that requires no key, and requests without a host.
async fn check_site<F: Future<Output = Response>>(
    state: &AppState,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let host = match host(&request) {
        Ok(host) => host,
        Err(problem) => return problem.into_response(),
    };
    let settings = &state.settings;
    let foreign = foreign(
        request.headers(),
        &host,
        &settings.own_hosts,
        settings.tls.is_some(),
    );
    let Some(problem) = foreign else {
        return next(request).await;
    };
    // If the database is unavailable, the last known state decides.
    match state.gate.is_open(true).await {
        Ok(false) => next(request).await,
        Ok(true) => {
            telemetry::refused("foreign_site");
            problem.into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// The layer of all routes while the service starts: requests without a host are rejected; whether keys exist is not known yet.
pub(crate) async fn around_start<S: Inner>(
    clock: Arc<Arc<dyn Clock>>,
    request: Request,
    next: Next<S>,
) -> Response {
    let answered = async |request: Request| match host(&request) {
        Ok(_) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let clean = |request| bounds::discard(request, answered);
    standard::observed(&**clock, request, clean).await
}

/// The host that a request is for.
///
/// # Errors
/// 400 unless exactly one host is named.
fn host(request: &Request) -> Result<Authority, Problem> {
    let broken = |what: &str| Problem::malformed("Host", format!("the header Host {what}"));
    let mut values = request.headers().get_all(HOST).iter();
    let value = values.next().ok_or_else(|| broken("is missing"))?;
    if values.next().is_some() {
        return Err(broken("may stand in a request only once"));
    }
    let read = |text: &str| text.parse::<Authority>().ok();
    let host = value.to_str().ok().and_then(read);
    let host = host.ok_or_else(|| broken("must be a host name or address with or without a port"))?;
    // A request line in absolute form also contains the host.
    match request.uri().authority() {
        Some(named) if read(named.as_str()).as_ref() != Some(&host) => {
            Err(broken("and the request's URL must name the same host"))
        }
        _ => Ok(host),
    }
}

/// The problem of a request to a service that requires no key; `None` if there is none.
fn foreign(headers: &HeaderMap, host: &Authority, own: &[Authority], tls: bool) -> Option<Problem> {
    if !host.is_loopback() && !own.iter().any(|own| own.covers(host)) {
        return Some(refusal(
            "Host",
            "names neither this machine (localhost, 127.0.0.1, [::1]) nor one of http.allowed_hosts: list it there if \
             the service is reached by this name",
        ));
    }
    let from = |origin: &HeaderValue| is_own_origin(origin, host, tls);
    if !headers.get_all(ORIGIN).iter().all(from) {
        return Some(refusal(
            "Origin",
            "names another site than the request is for: pages are answered only on the service's own host, which is \
             one of loopback or of http.allowed_hosts",
        ));
    }
    let of_own = |site: &HeaderValue| OWN.contains(&site.as_bytes());
    if !headers.get_all(SEC_FETCH_SITE).iter().all(of_own) {
        return Some(refusal(
            "Sec-Fetch-Site",
            "says that a page of another site sent the request: pages are answered only on the service's own host, \
             which is one of loopback or of http.allowed_hosts",
        ));
    }
    None
}

/// Whether `Origin` is the site that the request is for. A service on plain HTTP may be behind a proxy that terminates
/// TLS, so the scheme is compared only if the service itself uses TLS.
fn is_own_origin(origin: &HeaderValue, host: &Authority, tls: bool) -> bool {
    let Some((scheme, rest)) = origin.to_str().ok().and_then(|text| text.split_once("://")) else {
        return false;
    };
    let default_port = match scheme {
        "https" => 443,
        "http" if !tls => 80,
        _ => return false,
    };
    let port = |of: &Authority| of.port.unwrap_or(default_port);
    rest.parse()
        .is_ok_and(|origin| host.same_host(&origin) && port(host) == port(&origin))
}

fn refusal(name: &str, why: &str) -> Problem {
    let detail = format!("this service asks for no key, and the header {name} {why}; or make an API key");
    Problem::new(Kind::ForeignSite, detail)
        .with("field", name)
        .with("setting", SETTING)
}

/// Adds the error responses of this layer to the documentation of a route.
pub(crate) fn document_site(operation: &mut Operation) {
    let host = "There is no header Host, or more than one.";
    add_problem(operation, Kind::Malformed, host);
    let site =
        "No key is asked for, and the request comes from a web page of another site or under a foreign name.";
    add_problem(operation, Kind::ForeignSite, site);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(headers: &[(&'static str, &str)], host: &str, tls: bool) -> Option<String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let own = [
            "memory.example.org".parse().unwrap(),
            "10.0.0.9:80".parse().unwrap(),
        ];
        let problem = foreign(&map, &host.parse().unwrap(), &own, tls)?;
        assert_eq!(problem.kind(), Kind::ForeignSite);
        Some(problem.member("field")?.as_str()?.to_owned())
    }

    #[test]
    fn only_names_of_the_service_are_answered() {
        for host in "localhost 127.0.0.1:8080 [::1]:1 MEMORY.example.org:9 10.0.0.9:80".split(' ') {
            assert_eq!(named(&[], host, false), None, "{host}");
        }
        for host in "attacker.example x.memory.example.org 10.0.0.9 10.0.0.9:81 0.0.0.0".split(' ') {
            assert_eq!(named(&[], host, false).as_deref(), Some("Host"), "{host}");
        }
    }

    #[test]
    fn only_pages_of_the_site_itself_are_answered() {
        let origin = |origin, host, tls| named(&[("origin", origin)], host, tls);
        for (good, host) in [
            ("http://localhost:8080", "localhost:8080"),
            ("http://[::1]:8080", "[::1]:8080"),
            ("http://localhost", "localhost"),
            ("http://localhost", "localhost:80"),
            ("https://memory.example.org", "memory.example.org"),
            ("https://memory.example.org", "memory.example.org:443"),
        ] {
            assert_eq!(origin(good, host, false), None, "{good}");
        }
        let all = "null||localhost:8080|http://localhost|http://localhost:8081|http://127.0.0.1:8080|\
                file://|http://localhost:8080.attacker.example|http://attacker.example|\
                ftp://localhost:8080|chrome-extension://localhost:8080";
        for bad in all.split('|') {
            assert_eq!(
                origin(bad, "localhost:8080", false).as_deref(),
                Some("Origin"),
                "{bad}"
            );
        }
        assert_eq!(origin("https://localhost:8080", "localhost:8080", true), None);
        assert!(origin("http://localhost:8080", "localhost:8080", true).is_some());
        let two = [("origin", "http://localhost"), ("origin", "null")];
        assert_eq!(named(&two, "localhost", false).as_deref(), Some("Origin"));
    }

    #[test]
    fn what_the_browser_says_of_the_page_counts() {
        let site = |site| named(&[("sec-fetch-site", site)], "localhost", false);
        assert_eq!(site("same-origin"), None);
        assert_eq!(site("none"), None);
        for other in ["cross-site", "same-site", "", "anything new"] {
            assert_eq!(site(other).as_deref(), Some("Sec-Fetch-Site"), "{other}");
        }
    }
}
