//! The layers around all routes, from `tower-http`: credentials that no debug output shows, compression of large
//! responses where the client asks for it, and default headers.

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use tower::ServiceBuilder;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// The size from which a response is compressed: below, the time for it is worth more than the bytes.
const LARGE: u16 = 32 << 10;

/// A document can contain anything, including HTML and scripts: browsers must not sniff its type, run, embed, cache or
/// leak it. A response may say otherwise.
pub(crate) fn around_routes(router: Router) -> Router {
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
            .layer(default(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))),
    )
}
