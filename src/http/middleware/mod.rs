//! The middleware of every request, in the order of [`around`]: log line, metrics, panics and the rest of a body ([`standard`], which
//! also has the layers of `tower-http` around all routes), host and origin (here), authentication, authorization and rates
//! ([`access`], of pages [`session`]), concurrency ([`bounds`]), `Idempotency-Key` ([`idempotency`]), the time limit, and here which
//! database answers a read.
//!
//! One [`layer`] per route combines all of them, because an axum layer clones and boxes its inner service for every request, which
//! costs more than most of these functions do.
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

use self::access::Admitted;
use self::bounds::Weighs;
use crate::clock::Clock;
use crate::config::hosts::Authority;
use crate::dashboard;
use crate::http::dashboard::Pages;
use crate::http::extract::headers::MaxAge;
use crate::http::extract::params::{self, in_path};
use crate::http::openapi::add_problem;
use crate::http::problem::{Cause, Kind, Problem};
use crate::http::state::AppState;
use crate::storage::Storage;
use crate::telemetry::{self, meters};
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use futures::FutureExt;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Header, RefOr};

/// The routes of one layer.
pub(crate) struct Around {
    pub(crate) state: AppState,
    /// The time limit of a request.
    pub(crate) time: Duration,
    pub(crate) kind: RouteKind,
}

/// How the requests of a layer are run.
pub(crate) enum RouteKind {
    /// Also when all others are rejected: the health of the service, and what has no route.
    Free,
    /// Within the limits of concurrency and bytes.
    Work(Weighs),
    /// The same, with what pages of the dashboard need. They call routes of the last kind.
    Pages(Box<Pages>),
    /// Within the limits of the tool or page that makes the request, whose caller is already authenticated.
    Own,
}

/// The layer of all routes, and of requests without a route.
pub(crate) async fn around(of: Arc<Around>, call: Box<Call>) -> Response {
    standard::observed(&*of.state.clock, call, |call| admitted(&of, call)).await
}

/// Rejects a request or runs it.
async fn admitted(of: &Around, mut call: Box<Call>) -> Response {
    if let Err(problem) = check_site(&of.state, &call.parts).await {
        return problem.into_response();
    }
    let route = call.parts.extensions.get::<MatchedPath>().cloned();
    match route.as_ref().map(MatchedPath::as_str) {
        // Boxed: otherwise the future of every request would contain that of the session check, which few need.
        Some(route) if dashboard::is_page(route) => {
            Box::pin(session::check(&of.state, call, route, |call| limited(of, call))).await
        }
        Some(route) if !access::is_public(route) => {
            let mut rate_limit = None;
            let mut response = match access::admit(&of.state, &mut call, route, &mut rate_limit).await {
                Ok(()) => limited(of, call).await,
                Err(problem) => problem.into_response(),
            };
            response.headers_mut().extend(rate_limit.into_iter().flatten());
            response
        }
        // Without a route the response is 404.
        _ => limited(of, call).await,
    }
}

/// Runs a request within the limits of its layer.
async fn limited(of: &Around, mut call: Box<Call>) -> Response {
    let weighs = match of.kind {
        RouteKind::Free | RouteKind::Own => return run(of, call).await,
        RouteKind::Work(weighs) => weighs,
        RouteKind::Pages(_) => Weighs::Work,
    };
    let extensions = &call.parts.extensions;
    let party = match extensions.get::<Admitted>() {
        Some(admitted) => admitted.party.clone(),
        None => access::party(None, None, extensions),
    };
    let is_read = call.parts.method.is_safe();
    let work = async {
        match bounds::concurrency(&of.state, weighs, &mut call).await {
            Ok(slot) => {
                let response = run(of, call).await;
                bounds::answer(&of.state, is_read, slot, response)
            }
            Err(busy) => busy.into_response(),
        }
    };
    party.scope(work).await
}

/// Runs a request whose parameters its route has, within the time limit and once for each key.
async fn run(of: &Around, mut call: Box<Call>) -> Response {
    let (state, time) = (&of.state, of.time);
    if matches!(of.kind, RouteKind::Work(_) | RouteKind::Own) {
        if let Err(unknown) = params::reject_unknown(&call.parts) {
            return unknown.into_response();
        }
        if idempotency::has_key(&call.parts) {
            // Boxed, like the next: otherwise the future of every request would contain this one, which few need.
            return Box::pin(idempotency::once(state, time, call))
                .await
                .unwrap_or_else(IntoResponse::into_response);
        }
    }
    match &of.kind {
        RouteKind::Work(_) if state.storage.has_replica() && may_lag(&call.parts) => {
            return bounds::time(time, Box::pin(read_on_standby(&state.storage, call))).await;
        }
        RouteKind::Pages(pages) => pages.give(&mut call.parts.extensions),
        RouteKind::Work(_) | RouteKind::Free | RouteKind::Own => {}
    }
    bounds::time(time, call.run()).await
}

/// The layer of routes as tools and pages call them.
pub(crate) async fn around_own(of: Arc<Around>, mut call: Box<Call>) -> Response {
    let method = call.parts.method.clone();
    call.read_vault().await;
    let response = match access::admit_again(&call) {
        Ok(party) => party.scope(run(&of, call)).await,
        Err(problem) => problem.into_response(),
    };
    // The tool or page shows the problem; the cause is only in the log.
    if let Some(Cause(cause)) = response.extensions().get::<Cause>() {
        let status = response.status().as_u16();
        tracing::warn!(%method, status, %cause, "what a tool or page asked for failed");
    }
    response
}

/// What a request that a tool or page makes has of the one that calls it.
pub(crate) fn carried(from: &Extensions) -> Extensions {
    let mut to = Extensions::new();
    if let Some(admitted) = from.get::<Admitted>() {
        to.insert(admitted.clone());
    }
    to
}

/// A request on its way through a layer, and the route that the layer is around. Boxed: otherwise the future of each function
/// here would contain it twice.
pub(crate) struct Call {
    pub(crate) parts: Parts,
    pub(crate) body: Body,
    /// The vault in the path as it is there, once that is read.
    vault: Option<String>,
    /// It is cloned only to be called.
    route: Arc<Route>,
}

impl Call {
    fn new(request: Request, route: Arc<Route>) -> Box<Self> {
        let (parts, body) = request.into_parts();
        Box::new(Self {
            parts,
            body,
            vault: None,
            route,
        })
    }

    /// Reads the vault in the path.
    async fn read_vault(&mut self) -> Option<&str> {
        self.vault = in_path(&mut self.parts, "vault_id").await;
        self.vault.as_deref()
    }

    /// Calls the route.
    pub(crate) async fn run(self: Box<Self>) -> Response {
        let Self {
            parts, body, route, ..
        } = *self;
        // A route is always ready.
        let Ok(response) = Route::clone(&route).call(Request::from_parts(parts, body)).await;
        response
    }
}

/// The layer of a function that is called with `shared` and a request. `axum::middleware::from_fn` does the same, with two more
/// clones of the route and three more boxes per request.
pub(crate) fn layer<C, A, F>(
    shared: Arc<C>,
    around: A,
) -> impl Layer<
    Route,
    Service = impl Service<Request, Response = Response, Error = Infallible, Future: Send>
              + Clone
              + Send
              + Sync
              + 'static,
> + Clone
where
    C: Send + Sync + 'static,
    A: Fn(Arc<C>, Box<Call>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    layer_fn(move |route: Route| {
        let (shared, route) = (shared.clone(), Arc::new(route));
        // Boxed here, because each service around it moves its future several times.
        service_fn(move |request| Box::pin(around(shared.clone(), Call::new(request, route.clone()))).map(Ok))
    })
}

/// The maximum lag of the response in seconds.
pub(crate) const X_REPLICA_LAG: HeaderName = HeaderName::from_static("x-replica-lag");

/// The path of a memory.
const MEMORY: &str = "/v1/vaults/{vault_id}/memories/{memory_id}";

/// Whether a read of a route may be stale.
fn may_be_stale(route: &str) -> bool {
    match route.strip_prefix(MEMORY) {
        Some("/archive/epics" | "/archive/history" | "/log" | "/search") => true,
        Some("/contexts" | "/contexts/{ref}" | "/contexts/{ref}/diff") => true,
        Some(_) => false,
        None => [
            "/v1/vaults",
            "/v1/vaults/{vault_id}/memories",
            "/v1/vaults/{vault_id}/search",
        ]
        .contains(&route),
    }
}

/// A read that may be stale if it requests the state at a point in time.
const OF_A_TIME: &str = "/v1/vaults/{vault_id}/memories/{memory_id}/context";

/// Runs a read that may be stale on the standby, if its lag allows that.
async fn read_on_standby(storage: &Storage, call: Box<Call>) -> Response {
    let MaxAge(within) = MaxAge::from_headers(&call.parts.headers);
    let lag = storage.replica_lag();
    let Some(lag) = lag.filter(|lag| within.is_none_or(|within| *lag <= within)) else {
        meters::replica_read("behind");
        return call.run().await;
    };
    // A read has no body that is used.
    let again = Request::from_parts(call.parts.clone(), Body::empty());
    let again = Call::new(again, call.route.clone());
    let mut response = storage.on_replica(call.run()).await;
    let status = response.status();
    if !status.is_success() && status != StatusCode::NOT_MODIFIED {
        meters::replica_read("repeated");
        return again.run().await;
    }
    meters::replica_read("standby");
    if let Ok(lag) = HeaderValue::from_str(&in_seconds(lag)) {
        response.headers_mut().insert(X_REPLICA_LAG, lag);
    }
    response
}

/// Seconds, rounded up, because it is a maximum.
fn in_seconds(lag: Duration) -> String {
    let millis = lag.as_micros().div_ceil(1_000);
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

fn may_lag(parts: &Parts) -> bool {
    let path = parts.extensions.get::<MatchedPath>();
    matches!(parts.method, Method::GET | Method::HEAD)
        && !MaxAge::from_headers(&parts.headers).is_zero()
        && path.is_some_and(|path| is_listed(path.as_str(), parts.uri.query()))
}

fn is_listed(path: &str, query: Option<&str>) -> bool {
    let names = |name: &str| {
        let mut pairs = query.unwrap_or_default().split('&');
        pairs.any(|pair| pair.split_once('=').map_or(pair, |(name, _)| name) == name)
    };
    // A consistent search updates the index first, and the standby receives that update later.
    may_be_stale(path) && !names("consistent") || path == OF_A_TIME && names("as_of")
}

/// Adds the header to the documentation of these routes.
pub(crate) fn document_replica(path: &str, method: &Method, operation: &mut Operation) {
    if *method != Method::GET || !(may_be_stale(path) || path == OF_A_TIME) {
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

/// Rejects requests of other sites' pages to a service that requires no key, and requests without a host.
async fn check_site(state: &AppState, parts: &Parts) -> Result<(), Problem> {
    let host = host(&parts.uri, &parts.headers)?;
    let settings = &state.settings;
    let foreign = foreign(&parts.headers, &host, &settings.own_hosts, settings.tls.is_some());
    let Some(header) = foreign else { return Ok(()) };
    // If the database is unavailable, the last known state decides.
    if !state.gate.is_open(true).await? {
        return Ok(());
    }
    telemetry::refused("foreign_site");
    let why = match header {
        "Host" => {
            "names neither this machine (localhost, 127.0.0.1, [::1]) nor one of http.allowed_hosts: list it there if the \
             service is reached by this name"
        }
        _ => {
            "says that a page of another site sent the request: pages are answered only on the service's own host, which is \
             one of loopback or of http.allowed_hosts"
        }
    };
    let detail = format!("this service asks for no key, and the header {header} {why}; or make an API key");
    Err(Problem::new(Kind::ForeignSite, detail)
        .with("field", header)
        .with("setting", "http.allowed_hosts"))
}

/// The layer of all routes while the service starts: requests without a host are rejected; whether keys exist is not known yet.
pub(crate) async fn around_start(clock: Arc<Arc<dyn Clock>>, call: Box<Call>) -> Response {
    let answered = async |call: Box<Call>| match host(&call.parts.uri, &call.parts.headers) {
        Ok(_) => call.run().await,
        Err(problem) => problem.into_response(),
    };
    standard::observed(&**clock, call, answered).await
}

/// The host that a request is for.
///
/// # Errors
/// 400 unless exactly one host is named.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Problem> {
    let broken = |what: &str| Problem::malformed("Host", format!("the header Host {what}"));
    let mut values = headers.get_all(HOST).iter();
    let value = values.next().ok_or_else(|| broken("is missing"))?;
    if values.next().is_some() {
        return Err(broken("may stand in a request only once"));
    }
    let read = |text: &str| text.parse::<Authority>().ok();
    let host = value.to_str().ok().and_then(read);
    let host = host.ok_or_else(|| broken("must be a host name or address with or without a port"))?;
    // A request line in absolute form also contains the host.
    match uri.authority() {
        Some(named) if read(named.as_str()).as_ref() != Some(&host) => {
            Err(broken("and the request's URL must name the same host"))
        }
        _ => Ok(host),
    }
}

/// The header that says that a request is of another site; `None` if none does.
fn foreign(headers: &HeaderMap, host: &Authority, own: &[Authority], tls: bool) -> Option<&'static str> {
    let is_own_host = host.is_loopback() || own.iter().any(|own| own.covers(host));
    let from_own_page = |origin: &HeaderValue| is_own_origin(origin, host, tls);
    let of_own = |site: &HeaderValue| OWN.contains(&site.as_bytes());
    match () {
        () if !is_own_host => Some("Host"),
        () if !headers.get_all(ORIGIN).iter().all(from_own_page) => Some("Origin"),
        () if !headers.get_all(SEC_FETCH_SITE).iter().all(of_own) => Some("Sec-Fetch-Site"),
        () => None,
    }
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

/// Adds the error responses of this layer to the documentation of a route.
pub(crate) fn document_site(operation: &mut Operation) {
    let host = "There is no header Host, or more than one.";
    add_problem(operation, Kind::Malformed, host);
    let site =
        "No key is asked for, and the request comes from a web page of another site or under a foreign name.";
    add_problem(operation, Kind::ForeignSite, site);
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

    fn named(headers: &[(&'static str, &str)], host: &str, tls: bool) -> Option<&'static str> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let own = [
            "memory.example.org".parse().unwrap(),
            "10.0.0.9:80".parse().unwrap(),
        ];
        foreign(&map, &host.parse().unwrap(), &own, tls)
    }

    #[test]
    fn only_names_of_the_service_are_answered() {
        for host in "localhost 127.0.0.1:8080 [::1]:1 MEMORY.example.org:9 10.0.0.9:80".split(' ') {
            assert_eq!(named(&[], host, false), None, "{host}");
        }
        for host in "attacker.example x.memory.example.org 10.0.0.9 10.0.0.9:81 0.0.0.0".split(' ') {
            assert_eq!(named(&[], host, false), Some("Host"), "{host}");
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
            assert_eq!(origin(bad, "localhost:8080", false), Some("Origin"), "{bad}");
        }
        assert_eq!(origin("https://localhost:8080", "localhost:8080", true), None);
        assert!(origin("http://localhost:8080", "localhost:8080", true).is_some());
        let two = [("origin", "http://localhost"), ("origin", "null")];
        assert_eq!(named(&two, "localhost", false), Some("Origin"));
    }

    #[test]
    fn what_the_browser_says_of_the_page_counts() {
        let site = |site| named(&[("sec-fetch-site", site)], "localhost", false);
        assert_eq!(site("same-origin"), None);
        assert_eq!(site("none"), None);
        for other in ["cross-site", "same-site", "", "anything new"] {
            assert_eq!(site(other), Some("Sec-Fetch-Site"), "{other}");
        }
    }
}
