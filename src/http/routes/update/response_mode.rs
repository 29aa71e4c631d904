//! The response mode of an update.

use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::prefer::RespondAsync;
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The response mode that the client requests with `Prefer` and `Accept`.
pub(crate) enum ResponseMode {
    /// Synchronous: respond at the end of the update.
    Sync,
    /// Stream the steps, then the response.
    Stream(StreamContext),
    /// Asynchronous: respond as soon as the update is stored.
    Async,
}

/// What a streamed update needs.
pub(crate) struct StreamContext {
    /// The concurrency permit of the request: its work may outlive the connection.
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
            _ => Ok(Self::Sync),
        }
    }
}
