//! `X-Actor-Id`: who makes a version.

use super::single_header;
use crate::domain::ids::ActorId;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The header that names the actor.
const X_ACTOR_ID: &str = "X-Actor-Id";

/// The header, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header that `Actor` reads")]
pub(crate) struct ActorHeader {
    /// Who makes the change; `anonymous` without it.
    #[param(
        rename = "X-Actor-Id",
        nullable = false,
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
    )]
    actor: Option<String>,
}

/// The actor of a request; `anonymous` if it names none.
#[derive(Debug)]
pub(crate) struct Actor(pub(crate) ActorId);

impl<S: Send + Sync> FromRequestParts<S> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(text) = single_header(&parts.headers, X_ACTOR_ID)? else {
            return Ok(Self(ActorId::anonymous()));
        };
        let actor = text
            .parse()
            .map_err(|rule| Problem::invalid(X_ACTOR_ID, format!("{X_ACTOR_ID} {rule}")))?;
        Ok(Self(actor))
    }
}
