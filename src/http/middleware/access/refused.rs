//! What is answered to a request that is not let in.

use crate::http::middleware::rate::Standing;
use crate::http::problem::{Kind, Problem};
use crate::telemetry;
use axum::http::HeaderValue;
use axum::http::header::WWW_AUTHENTICATE;

/// A problem, and how whoever gets it stands with the rate.
pub(super) type Refused = (Problem, Option<Standing>);

/// 401, counted.
pub(super) fn unauthorized(detail: &str, challenge: &'static str) -> Problem {
    telemetry::refused("unauthorized");
    Problem::new(Kind::Unauthorized, detail).header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}
