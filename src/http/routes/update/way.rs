//! How the caller wants to be answered.

use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::prefer::RespondAsync;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// How the caller wants to be answered, from `Prefer` and `Accept`.
#[derive(Debug)]
pub(crate) enum Way {
    /// With the answer.
    Waiting,
    /// With the steps and then the answer. The request's place goes along: its work may outlive its connection.
    Watching(Option<Slot>),
    /// As soon as the update is stored.
    Later,
}

impl<S: Send + Sync> FromRequestParts<S> for Way {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if let RespondAsync(true) = RespondAsync::from_request_parts(parts, state).await? {
            return Ok(Self::Later);
        }
        let accept = Accept::from_request_parts(parts, state).await?;
        // A client that accepts neither gets JSON, as it always did.
        match accept.choose(&[Representation::Json, Representation::EventStream]) {
            Ok(Representation::EventStream) => Ok(Self::Watching(parts.extensions.get::<Slot>().cloned())),
            _ => Ok(Self::Waiting),
        }
    }
}
