//! Headers that every answer has unless its handler chose otherwise.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// What a document holds may be anything, also HTML and scripts: no browser is to guess a type, run, embed, cache or
/// leak it.
const DEFAULTS: [(HeaderName, HeaderValue); 4] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// Writes each where there is none of its name.
pub(super) fn defaults(headers: &mut HeaderMap) {
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(value);
    }
}
