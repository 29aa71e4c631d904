//! `X-Actor-Id`: who makes a version.

use super::single_header;
use crate::domain::ids::ActorId;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;

/// The header that names the actor.
pub(crate) const X_ACTOR_ID: HeaderName = HeaderName::from_static("x-actor-id");

/// The actor of a request; `anonymous` if it names none.
#[derive(Debug)]
pub(crate) struct Actor(pub(crate) ActorId);

impl<S: Send + Sync> FromRequestParts<S> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(text) = single_header(&parts.headers, &X_ACTOR_ID)? else {
            return Ok(Self(ActorId::anonymous()));
        };
        let actor = text
            .parse()
            .map_err(|rule| Problem::invalid("X-Actor-Id", format!("X-Actor-Id {rule}")))?;
        Ok(Self(actor))
    }
}
