//! The layers around all routes, from `tower-http`: credentials that no debug output shows, compression of large
//! responses where the client asks for it, default headers, request ids, and panics as problems. Between the last two is
//! [`observe`].
//!
//! The time limits and limits of bytes are not its layers: those answer with an empty body or plain text, and the contract is
//! a problem that names the limit. Nor is the limit of concurrent requests `tower`'s, which knows no vaults.

use super::layer::{Inner, Next, layer};
use super::observe::{self, X_REQUEST_ID};
use crate::clock::Clock;
use crate::dashboard;
use crate::http::problem::{MEDIA_TYPE, Problem};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::any::Any;
use std::sync::Arc;
use tower::ServiceBuilder;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use uuid::Uuid;

/// The size from which a response is compressed: below, the time for it is worth more than the bytes.
const LARGE: u16 = 32 << 10;

/// A document can contain anything, including HTML and scripts: browsers must not sniff its type, run, embed, cache or
/// leak it. A response may say otherwise.
pub(crate) fn around_routes(router: Router, clock: Arc<dyn Clock>) -> Router {
    let default = SetResponseHeaderLayer::if_not_present;
    let large = SizeAbove::new(LARGE).and(NotForContentType::SSE);
    router.layer(
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
            .map_request(observe::without_unsafe_id)
            .layer(SetRequestIdLayer::new(X_REQUEST_ID, Ids(clock.clone())))
            .layer(PropagateRequestIdLayer::new(X_REQUEST_ID))
            .layer(layer(Arc::new(clock), observed))
            .map_response(IntoResponse::into_response)
            .layer(CatchPanicLayer::custom(of_panic)),
    )
}

/// Observes a request, and converts problems of the dashboard into pages.
async fn observed<S: Inner>(clock: Arc<Arc<dyn Clock>>, request: Request, next: Next<S>) -> Response {
    let path = request.uri().path();
    let page = dashboard::is_page(path).then(|| path.to_owned());
    let id = request.headers().get(X_REQUEST_ID).cloned();
    let response = observe::observe(&**clock, request, async |request| {
        named(next.run(request).await, id.as_ref()).await
    })
    .await;
    match page {
        Some(path) => Box::pin(dashboard::as_page(&path, response)).await,
        None => response,
    }
}

/// Adds the id of the request to a problem, so that who reports it names the line of the log.
async fn named(response: Response, id: Option<&HeaderValue>) -> Response {
    let is_problem = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == MEDIA_TYPE);
    let Some(id) = id.and_then(|id| id.to_str().ok()).filter(|_| is_problem) else {
        return response;
    };
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

/// The ids of requests that bring none.
#[derive(Clone)]
struct Ids(Arc<dyn Clock>);

impl MakeRequestId for Ids {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        let mut text = Uuid::encode_buffer();
        let text = self.0.new_id().hyphenated().encode_lower(&mut text);
        HeaderValue::from_str(text).ok().map(RequestId::new)
    }
}

/// The cause is in the same log line as that of every other failure.
fn of_panic(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    Problem::internal(format_args!("panic: {text}")).into_response()
}
