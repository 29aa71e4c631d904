//! The claim of an idempotency key under which a request runs, for what it saves.

use crate::storage::idempotency::IdempotencyClaim;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// The claim, if the request has a key. The layer of `Idempotency-Key` puts it where this looks.
#[derive(Debug)]
pub(crate) struct UnderClaim(pub(crate) Option<IdempotencyClaim>);

impl<S: Send + Sync> FromRequestParts<S> for UnderClaim {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<IdempotencyClaim>().cloned()))
    }
}
