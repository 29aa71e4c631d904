//! How the caller wants to be answered.

use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::prefer::RespondAsync;
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::middleware::idempotency::IDEMPOTENCY_KEY;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// How the caller wants to be answered, from `Prefer` and `Accept`.
pub(crate) enum Way {
    /// With the answer.
    Waiting,
    /// With the steps and then the answer.
    Watching(Watching),
    /// As soon as the update is stored.
    Later,
}

/// What goes along with an update whose steps are watched.
pub(crate) struct Watching {
    /// The request's place: its work may outlive its connection.
    pub(super) slot: Option<Slot>,
    /// What let it in: the stream ends with it.
    pub(super) admission: Admission,
    /// With an `Idempotency-Key` the answer is kept, so it is the whole stream, and only of what was done.
    pub(super) is_kept: bool,
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
            Ok(Representation::EventStream) => Ok(Self::Watching(Watching {
                slot: parts.extensions.get::<Slot>().cloned(),
                admission: Admission::from_request_parts(parts, state).await?,
                is_kept: parts.headers.contains_key(&IDEMPOTENCY_KEY),
            })),
            _ => Ok(Self::Waiting),
        }
    }
}
