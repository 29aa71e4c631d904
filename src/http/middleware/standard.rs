//! What is around every request. Around all routes: credentials that no debug output shows, and compression of large responses
//! where the client asks for it, by layers of `tower-http`; default headers. Around each route ([`observed`]): its id, the one log
//! line of a request with its metrics, which names the route, and panics as problems.
//!
//! The time limits and limits of bytes are not layers of `tower-http`: those answer with an empty body or plain text, and the
//! contract is a problem that names the limit. Nor is the limit of concurrent requests `tower`'s, which knows no vaults.

use crate::clock::Clock;
use crate::dashboard;
use crate::http::middleware::{Call, bounds};
use crate::http::problem::{Cause, MEDIA_TYPE, Passing, Problem};
use crate::telemetry::requests;
use crate::telemetry::traces;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{MatchedPath, Request};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use opentelemetry_http::HeaderExtractor;
use serde_json::json;
use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tower::{Service, ServiceBuilder};
use tower_http::CompressionLevel;
use tower_http::compression::predicate::{NotForContentType, Predicate};
use tower_http::compression::{CompressionBody, CompressionLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tracing::{Instrument, Span};
use uuid::Uuid;

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

/// A document can contain anything, including HTML and scripts: browsers must not sniff its type, run, embed, cache or leak it.
/// A response may say otherwise.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

fn with_default_headers<B>(mut response: Response<B>) -> Response<B> {
    if response.status() == StatusCode::NOT_MODIFIED {
        // To HEAD the router names the length of the empty body; here it would be taken for that of the 200 (RFC 9110, 8.6).
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    for (name, value) in DEFAULT_HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// Puts the layers around all routes.
pub(crate) fn around_routes<B: Send + 'static, S>(
    routes: S,
) -> impl Service<Request<B>, Response = Response<CompressionBody<Body>>, Error = Infallible, Future: Send> + Clone
where
    S: Service<Request<B>, Response = Response, Error = Infallible, Future: Send> + Clone,
{
    let large = IsLarge.and(NotForContentType::SSE);
    ServiceBuilder::new()
        .layer(SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE]))
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(large),
        )
        .map_response(with_default_headers)
        .service(routes)
}

/// Observes a request, converts panics into problems, and problems of the dashboard into pages, and reads the rest of a body.
pub(super) async fn observed<F: Future<Output = Response>>(
    clock: &dyn Clock,
    mut call: Box<Call>,
    next: impl FnOnce(Box<Call>) -> F,
) -> Response {
    let path = call.parts.uri.path();
    let page = dashboard::is_page(path).then(|| path.to_owned());
    let vault = call.read_vault().await.map(requests::vault_hash);
    let mut line = LogLine::start(&call.parts, vault, clock);
    let span = line.span(&call.parts.headers);
    let response = AssertUnwindSafe(bounds::discard(call, next)).catch_unwind();
    let response = response.instrument(span.clone()).await.unwrap_or_else(of_panic);
    traces::request_ended(&span, response.status().as_u16());
    line.write(Some(&response));
    let mut response = named(response, line.request_id()).await;
    response
        .headers_mut()
        .insert(X_REQUEST_ID, line.request_id.clone());
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

/// The id that the client gave the request, if it is safe to log.
fn safe_id(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = headers.get_all(X_REQUEST_ID).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:@+/=-".contains(byte);
    let bytes = value.as_bytes();
    let is_sane = (1..=MAX_REQUEST_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(is_safe);
    is_sane.then_some(value)
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
    vault: Option<Arc<str>>,
    request_id: HeaderValue,
    started: Instant,
    is_written: bool,
}

impl LogLine {
    fn start(request: &Parts, vault: Option<Arc<str>>, clock: &dyn Clock) -> Self {
        // A UUID is visible ASCII.
        let new_id = || {
            let mut text = Uuid::encode_buffer();
            HeaderValue::from_str(clock.new_id().hyphenated().encode_lower(&mut text))
        };
        let request_id = safe_id(&request.headers).cloned().map_or_else(new_id, Ok);
        requests::began();
        Self {
            method: method_label(&request.method),
            route: request.extensions.get::<MatchedPath>().cloned(),
            vault,
            request_id: request_id.unwrap_or(HeaderValue::from_static("")),
            started: Instant::now(),
            is_written: false,
        }
    }

    fn route(&self) -> &str {
        self.route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str)
    }

    fn request_id(&self) -> &str {
        self.request_id.to_str().unwrap_or_default()
    }

    fn span(&self, headers: &HeaderMap) -> Span {
        let headers = HeaderExtractor(headers);
        traces::request_span(self.method, self.route(), self.request_id(), &headers)
    }

    /// Counts the request and writes its line. Without a response the client has gone.
    fn write(&mut self, response: Option<&Response>) {
        self.is_written = true;
        let elapsed = self.started.elapsed();
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let status = response.map_or(CLIENT_GONE, |response| response.status().as_u16());
        let (method, route, request_id) = (self.method, self.route(), self.request_id());
        requests::ended(method, route, status, elapsed);
        let said = response.map(Response::extensions);
        let cause = said
            .and_then(|said| said.get::<Cause>())
            .map(|Cause(cause)| &**cause);
        let detail = said
            .and_then(|said| said.get::<Detail>())
            .map(|Detail(detail)| &**detail);
        let passing = said.is_some_and(|said| said.get::<Passing>().is_some());
        let vault = self.vault.as_deref();
        if status < StatusCode::INTERNAL_SERVER_ERROR.as_u16() || passing {
            tracing::info!(
                method, route, vault, status, millis, request_id, cause, detail, "request"
            );
            return;
        }
        tracing::error!(
            method, route, vault, status, millis, request_id, cause, detail, "request"
        );
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        if !self.is_written {
            self.write(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
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

    fn request() -> Parts {
        let request = Request::builder()
            .method("PUT")
            .uri("/v1/vaults/id-secret/x?query=secret");
        request
            .header("authorization", "Bearer secret")
            .header("x-request-id", "req-7")
            .body(())
            .unwrap()
            .into_parts()
            .0
    }

    #[test]
    fn a_failure_is_one_line_with_its_cause_and_without_what_the_client_sent() {
        let text = logged(|| {
            let response = Problem::internal("the disk is full").into_response();
            LogLine::start(&request(), Some(requests::vault_hash("id-secret")), &SystemClock)
                .write(Some(&response));
        });
        assert_eq!(text.lines().count(), 1, "{text}");
        for part in "ERROR|PUT|500|req-7|the disk is full|millis|route".split('|') {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn a_client_that_goes_away_is_logged_too() {
        let text = logged(|| drop(LogLine::start(&request(), None, &SystemClock)));
        assert!(text.contains("499"), "{text}");
    }

    #[test]
    fn a_request_id_is_kept_only_if_it_is_safe_in_a_log() {
        let sane = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).unwrap();
            safe_id(&HeaderMap::from_iter([(X_REQUEST_ID, value)])).is_some()
        };
        assert!(sane(b"7f3a-01:b_c@d.e"));
        assert!(!sane(b"") && !sane(b"a b") && !sane(b"a\"b") && !sane(b"\xff") && !sane(&[b'a'; 129]));
    }
}
