//! Responses to requests that are not admitted.

use crate::http::middleware::rate::RateLimitState;
use crate::http::problem::{Kind, Problem};
use crate::telemetry;
use axum::http::HeaderValue;
use axum::http::header::WWW_AUTHENTICATE;

/// A problem, and the state of the caller's rate limit.
pub(super) type Refused = (Problem, Option<RateLimitState>);

/// 401; also counted as a metric.
pub(super) fn unauthorized(detail: &str, challenge: &'static str) -> Problem {
    telemetry::refused("unauthorized");
    Problem::new(Kind::Unauthorized, detail).header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}
