//! The response mode of an update: `Accept`, and `Prefer` (RFC 7240).

use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::list_header;
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;

/// The response mode that the client requests with `Prefer` and `Accept`.
pub(crate) enum ResponseMode {
    /// Synchronous: respond at the end of the update.
    Sync(Option<Slot>),
    /// Stream the steps, then the response.
    Stream(StreamContext),
    /// Asynchronous: respond as soon as the update is stored.
    Async,
}

/// What a streamed update needs.
pub(crate) struct StreamContext {
    /// The reservation of the request's bytes: its work may outlive the connection.
    pub(super) slot: Option<Slot>,
    /// The credentials of the request: the stream ends when they become invalid.
    pub(super) admission: Admission,
}

impl<S: Send + Sync> FromRequestParts<S> for ResponseMode {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if let RespondAsync(true) = RespondAsync::from_request_parts(parts, state).await? {
            return Ok(Self::Async);
        }
        let accept = Accept::from_request_parts(parts, state).await?;
        // A client that accepts neither receives JSON, for compatibility.
        match accept.choose(&[Representation::Json, Representation::EventStream]) {
            Ok(Representation::EventStream) => Ok(Self::Stream(StreamContext {
                slot: parts.extensions.get::<Slot>().cloned(),
                admission: Admission::from_request_parts(parts, state).await?,
            })),
            _ => Ok(Self::Sync(parts.extensions.get::<Slot>().cloned())),
        }
    }
}

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
