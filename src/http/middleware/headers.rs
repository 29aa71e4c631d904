//! Headers that every answer has unless its handler chose otherwise.

use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use tower_http::set_header::SetResponseHeaderLayer;

/// Writes one header where there is none of its name.
type Default = SetResponseHeaderLayer<HeaderValue>;

/// The layers of all of them, as one. What a document holds may be anything, also HTML and scripts: no browser is to
/// guess a type, run, embed, cache or leak it.
pub(crate) fn defaults() -> (Default, Default, Default, Default) {
    let default = |name, value| Default::if_not_present(name, HeaderValue::from_static(value));
    (
        default(X_CONTENT_TYPE_OPTIONS, "nosniff"),
        default(CACHE_CONTROL, "no-store"),
        default(
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
        default(REFERRER_POLICY, "no-referrer"),
    )
}
