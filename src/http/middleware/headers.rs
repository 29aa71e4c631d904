//! Headers that every answer has unless its handler chose otherwise.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use tower_http::set_header::SetResponseHeaderLayer;

/// What a document holds may be anything, also HTML and scripts: no browser is to guess a type, run, embed, cache
/// or leak it.
const DEFAULTS: [(HeaderName, HeaderValue); 4] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// A router whose answers have the headers that their handlers did not set.
pub(crate) fn with_defaults<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    DEFAULTS.into_iter().fold(router, |router, (name, value)| {
        router.layer(SetResponseHeaderLayer::if_not_present(name, value))
    })
}
