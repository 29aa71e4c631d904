//! What is around every request. Around all routes, the layers of `tower-http`: credentials that no debug output shows,
//! compression of large responses where the client asks for it, default headers, request ids. Around each route
//! ([`observed`]): the one log line of a request with its metrics, which names the route, and panics as problems.
//!
//! The time limits and limits of bytes are not layers of `tower-http`: those answer with an empty body or plain text, and the
//! contract is a problem that names the limit. Nor is the limit of concurrent requests `tower`'s, which knows no vaults.

use crate::clock::Clock;
use crate::dashboard;
use crate::http::problem::{Cause, MEDIA_TYPE, Passing, Problem};
use crate::telemetry::requests::{self, FailedRequest};
use crate::telemetry::traces;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{MatchedPath, Request};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use opentelemetry_http::HeaderExtractor;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tower::{Service, ServiceBuilder};
use tower_http::CompressionLevel;
use tower_http::compression::predicate::{NotForContentType, Predicate};
use tower_http::compression::{CompressionBody, CompressionLayer};
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tracing::{Instrument, Span};

/// The size from which a response is compressed: below, the time for it is worth more than the bytes.
const LARGE: u64 = 32 << 10;

/// Whether a response is compressed. The length that it names counts before that of its body: a response to HEAD has no body, and the
/// headers of one to GET (RFC 9110, 9.3.2). `SizeAbove` of `tower-http` asks the body first.
#[derive(Debug, Clone, Copy)]
struct IsLarge;

impl Predicate for IsLarge {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let named = response.headers().get(CONTENT_LENGTH);
        let length = named.and_then(|length| length.to_str().ok()?.parse().ok());
        let length = length.or_else(|| response.body().size_hint().exact());
        length.is_none_or(|length| length >= LARGE)
    }
}

/// Puts the layers around all routes. A document can contain anything, including HTML and scripts: browsers must not sniff its
/// type, run, embed, cache or leak it. A response may say otherwise.
pub(crate) fn around_routes<B: Send + 'static, S>(
    routes: S,
) -> impl Service<Request<B>, Response = Response<CompressionBody<Body>>, Error = Infallible, Future: Send> + Clone
where
    S: Service<Request<B>, Response = Response, Error = Infallible, Future: Send> + Clone,
{
    let default = SetResponseHeaderLayer::if_not_present;
    let large = IsLarge.and(NotForContentType::SSE);
    ServiceBuilder::new()
        .layer(SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE]))
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(large),
        )
        .layer(default(
            X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(default(CACHE_CONTROL, HeaderValue::from_static("no-store")))
        .layer(default(
            CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
        ))
        .layer(default(REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
        .map_request(without_unsafe_id)
        .layer(SetRequestIdLayer::new(X_REQUEST_ID, MakeRequestUuid))
        .layer(PropagateRequestIdLayer::new(X_REQUEST_ID))
        .service(routes)
}

/// Observes a request, and converts panics into problems, and problems of the dashboard into pages.
pub(super) async fn observed<F: Future<Output = Response>>(
    clock: &dyn Clock,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response {
    let path = request.uri().path();
    let page = dashboard::is_page(path).then(|| path.to_owned());
    let mut line = LogLine::start(&request);
    let span = line.span(request.headers());
    let response = AssertUnwindSafe(next(request)).catch_unwind();
    let response = response.instrument(span.clone()).await.unwrap_or_else(of_panic);
    line.end(&response);
    line.keep_failure(clock);
    traces::request_ended(&span, line.status);
    line.write();
    let response = named(response, line.request_id()).await;
    match page {
        Some(path) => Box::pin(dashboard::as_page(&path, response)).await,
        None => response,
    }
}

/// Adds the id of the request to a problem, so that who reports it names the line of the log.
async fn named(response: Response, id: &str) -> Response {
    if response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|kind| kind != MEDIA_TYPE)
    {
        return response;
    }
    let (parts, body) = response.into_parts();
    // A problem is in memory: reading it does not fail.
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body = match bytes.strip_suffix(b"}") {
        // Its members keep their order.
        Some(members) => {
            Body::from([members, format!(",\"request_id\":{}}}", json!(id)).as_bytes()].concat())
        }
        // The answer to a HEAD has no body.
        None => Body::from(bytes),
    };
    Response::from_parts(parts, body)
}

/// The cause is in the same log line as that of every other failure.
#[expect(clippy::needless_pass_by_value, reason = "what a panic is caught as")]
fn of_panic(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    Problem::internal(format_args!("panic: {text}")).into_response()
}

/// Identifies a request in the log and in the response.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a request id that is accepted from a client.
const MAX_REQUEST_ID_BYTES: usize = 128;

/// Additional text of a request's log line: validated ids and names, never content. A handler adds it to the
/// extensions of its response.
#[derive(Debug, Clone)]
pub(crate) struct Detail(pub(crate) Arc<str>);

/// The route label of a request without a route.
const NO_ROUTE: &str = "none";

/// nginx's "client closed request": no response was sent. It appears only in the log and in metrics.
const CLIENT_GONE: u16 = 499;

/// The request without a client's id that is not safe to log: it gets a new one.
fn without_unsafe_id<B>(mut request: Request<B>) -> Request<B> {
    if request.headers().contains_key(X_REQUEST_ID) && !has_safe_id(request.headers()) {
        request.headers_mut().remove(X_REQUEST_ID);
    }
    request
}

fn has_safe_id(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(X_REQUEST_ID).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let bytes = value.as_bytes();
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:@+/=-".contains(byte);
    bytes.iter().all(is_safe) && !bytes.is_empty() && bytes.len() <= MAX_REQUEST_ID_BYTES
}

/// Methods are a metric label: a client must not be able to create new values.
fn method_label(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"];
    let label = known.into_iter().find(|known| *known == method.as_str());
    label.unwrap_or("other")
}

/// One log line and two metrics for each request, including those that panic or whose client disconnects: written at the end of
/// the request, or on drop if the connection is lost.
///
/// The line contains the method, the route pattern, a hash of the vault's id, the status, the duration in milliseconds, the
/// request id and, for a failure, its cause. It never contains a body, a key, a query or an id from a path.
struct LogLine {
    method: &'static str,
    /// The matched route.
    route: Option<MatchedPath>,
    request_id: Option<HeaderValue>,
    started: Instant,
    status: u16,
    cause: Option<Cause>,
    detail: Option<Detail>,
    passing: bool,
    vault: Option<String>,
    is_written: bool,
}

/// The routes whose path contains a vault's id, and the index of its segment.
const VAULT_ROUTES: [&str; 2] = ["/v1/vaults/{vault_id}", "/ui/vaults/{vault_id}"];
const VAULT_SEGMENT: usize = 3;

/// The first twelve hexadecimal digits of the SHA-256 of the id of the vault in a path: they distinguish vaults without naming
/// them.
fn vault_hash(route: &str, path: &str) -> Option<String> {
    let tail = VAULT_ROUTES
        .iter()
        .find_map(|begins| route.strip_prefix(begins))?;
    let segment = path
        .split('/')
        .nth(VAULT_SEGMENT)
        .filter(|_| tail.is_empty() || tail.starts_with('/'))?;
    let (id, _) = url::form_urlencoded::parse(segment.as_bytes()).next()?;
    Some(hex::encode(&Sha256::digest(id.as_bytes())[..6]))
}

impl LogLine {
    fn start(request: &Request) -> Self {
        let route = request.extensions().get::<MatchedPath>().cloned();
        requests::began();
        Self {
            method: method_label(request.method()),
            vault: route
                .as_ref()
                .and_then(|route| vault_hash(route.as_str(), request.uri().path())),
            route,
            request_id: request.headers().get(X_REQUEST_ID).cloned(),
            started: Instant::now(),
            status: CLIENT_GONE,
            cause: None,
            detail: None,
            passing: false,
            is_written: false,
        }
    }

    fn route(&self) -> &str {
        self.route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str)
    }

    fn request_id(&self) -> &str {
        let value = self.request_id.as_ref().and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    }

    fn span(&self, headers: &HeaderMap) -> Span {
        let headers = HeaderExtractor(headers);
        traces::request_span(self.method, self.route(), self.request_id(), &headers)
    }

    fn end(&mut self, response: &Response) {
        self.status = response.status().as_u16();
        self.cause = response.extensions().get::<Cause>().cloned();
        self.passing = response.extensions().get::<Passing>().is_some();
        self.detail = response.extensions().get::<Detail>().cloned();
    }

    fn is_failure(&self) -> bool {
        self.status >= StatusCode::INTERNAL_SERVER_ERROR.as_u16() && !self.passing
    }

    /// Keeps the last failure for the status of the service.
    fn keep_failure(&self, clock: &dyn Clock) {
        if !self.is_failure() {
            return;
        }
        requests::keep_failed(FailedRequest {
            at: clock.now(),
            method: self.method,
            route: self.route().into(),
            status: self.status,
            millis: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            request_id: self.request_id().to_owned(),
            cause: self.cause.as_ref().map(|Cause(cause)| cause.clone()),
        });
    }

    fn write(&mut self) {
        self.is_written = true;
        let elapsed = self.started.elapsed();
        let (method, route, status) = (self.method, self.route(), self.status);
        requests::ended(method, route, status, elapsed);
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let request_id = self.request_id();
        let vault = self.vault.as_deref();
        let cause = self.cause.as_ref().map(|cause| &*cause.0);
        let detail = self.detail.as_ref().map(|detail| &*detail.0);
        if self.is_failure() {
            tracing::error!(
                method, route, vault, status, millis, request_id, cause, detail, "request"
            );
        } else {
            tracing::info!(
                method, route, vault, status, millis, request_id, cause, detail, "request"
            );
        }
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        if !self.is_written {
            self.write();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::captured_log::CapturedLog;

    fn logged(log: impl FnOnce()) -> String {
        let written = CapturedLog::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        written.text()
    }

    fn request() -> Request {
        let request = Request::builder()
            .method("PUT")
            .uri("/v1/vaults/id-secret/x?query=secret");
        request
            .header("authorization", "Bearer secret")
            .header("x-request-id", "req-7")
            .body("body secret".into())
            .unwrap()
    }

    #[test]
    fn a_failure_is_one_line_with_its_cause_and_without_what_the_client_sent() {
        let text = logged(|| {
            let mut line = LogLine::start(&request());
            line.end(&Problem::internal("the disk is full").into_response());
        });
        assert_eq!(text.lines().count(), 1, "{text}");
        for part in "ERROR|PUT|500|req-7|the disk is full|millis|route".split('|') {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn a_line_tells_vaults_apart_without_naming_them() {
        let route = "/v1/vaults/{vault_id}/memories/{memory_id}/context";
        let of = |path: &str| vault_hash(route, path);
        // printf acme | sha256sum
        assert_eq!(
            of("/v1/vaults/acme/memories/m/context").as_deref(),
            Some("822b33ad87c1")
        );
        assert_eq!(
            of("/v1/vaults/ac%6de/memories/m/context"),
            of("/v1/vaults/acme/memories/x/context")
        );
        assert_ne!(
            of("/v1/vaults/Acme/memories/m/context"),
            of("/v1/vaults/acme/memories/m/context")
        );
        let page = "/ui/vaults/{vault_id}/inbox";
        assert_eq!(
            vault_hash(page, "/ui/vaults/acme/inbox").as_deref(),
            Some("822b33ad87c1")
        );
        assert_eq!(vault_hash("/v1/vaults", "/v1/vaults"), None);
        assert_eq!(vault_hash(NO_ROUTE, "/v1/vaults/acme"), None);
    }

    #[test]
    fn a_client_that_goes_away_is_logged_too() {
        let text = logged(|| drop(LogLine::start(&request())));
        assert!(text.contains("499"), "{text}");
    }

    #[test]
    fn a_request_id_is_kept_only_if_it_is_safe_in_a_log() {
        let sane = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            has_safe_id(&HeaderMap::from_iter([(X_REQUEST_ID, value)]))
        };
        assert!(sane(b"7f3a-01:b_c@d.e"));
        assert!(!sane(b"") && !sane(b"a b") && !sane(b"a\"b") && !sane(b"\xff") && !sane(&[b'a'; 129]));
    }
}
