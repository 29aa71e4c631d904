//! `Prefer` (RFC 7240).

use super::list_header;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;

/// Whether the client prefers an asynchronous response: `Prefer: respond-async`. Other preferences are ignored, as the
/// RFC requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RespondAsync(pub(crate) bool);

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The value of `Preference-Applied` for an asynchronous response.
pub(crate) const RESPOND_ASYNC: &str = "respond-async";

impl<S: Send + Sync> FromRequestParts<S> for RespondAsync {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let list = list_header(&parts.headers, &PREFER, "Prefer")?;
        Ok(Self(list.is_some_and(|list| asks_for_async(&list))))
    }
}

fn asks_for_async(list: &str) -> bool {
    list.split(',').any(|preference| {
        let name = preference.split(['=', ';']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_is_found_among_others() {
        for list in [
            "respond-async",
            "Respond-Async; wait=10",
            "return=minimal, respond-async",
            "respond-async=\"\"",
        ] {
            assert!(asks_for_async(list), "{list}");
        }
        for list in [
            "",
            "wait=10",
            "respond-sync",
            "return=respond-async",
            "x;respond-async",
        ] {
            assert!(!asks_for_async(list), "{list}");
        }
    }
}
