//! The claim of an idempotency key under which a request runs, for what it saves.

use crate::http::json_answer::JsonAnswer;
use crate::storage::idempotency::{Answering, IdempotencyClaim, KeptAnswer};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// The claim, if the request has a key. The layer of `Idempotency-Key` puts it where this looks.
#[derive(Debug)]
pub(crate) struct UnderClaim(pub(crate) Option<IdempotencyClaim>);

impl UnderClaim {
    /// The claim with what is answered to what was done, for a transaction that keeps the answer with what it saves.
    pub(crate) fn answering<'a, T>(
        self,
        answer: impl Fn(&T) -> JsonAnswer + Send + Sync + 'a,
    ) -> Option<Answering<'a, T>> {
        let Self(claim) = self;
        claim.map(|claim| Answering::new(claim, move |done| KeptAnswer::from(answer(done))))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for UnderClaim {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<IdempotencyClaim>().cloned()))
    }
}
