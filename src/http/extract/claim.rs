//! The claim of an idempotency key under which a request runs.

use crate::http::json_answer::JsonAnswer;
use crate::storage::idempotency::{Answering, IdempotencyClaim, KeptAnswer};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// The claim, if the request has a key. The layer for `Idempotency-Key` puts it into the extensions.
#[derive(Debug)]
pub(crate) struct UnderClaim(pub(crate) Option<IdempotencyClaim>);

impl UnderClaim {
    /// Combines the claim with a function that builds the response, for a transaction that stores the response with
    /// its changes.
    pub(crate) fn answering<'a, T>(
        self,
        answer: impl Fn(&T) -> JsonAnswer + Send + Sync + 'a,
    ) -> Option<Answering<'a, T>> {
        self.keeping(move |done| answer(done).into())
    }

    /// As [`Self::answering`], for a response that is not JSON.
    pub(crate) fn keeping<'a, T>(
        self,
        answer: impl Fn(&T) -> KeptAnswer + Send + Sync + 'a,
    ) -> Option<Answering<'a, T>> {
        let Self(claim) = self;
        claim.map(|claim| Answering::new(claim, answer))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for UnderClaim {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<IdempotencyClaim>().cloned()))
    }
}
