//! `X-Actor-Id`: the author of a version. With a key it is the key's name, unless the key may act for others.

use super::caller::CallerOf;
use super::single_header;
use crate::domain::ids::ActorId;
use crate::http::problem::{Kind, Problem};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The header that names the actor.
pub(crate) const X_ACTOR_ID: &str = "X-Actor-Id";

/// The header, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header that `Actor` reads")]
pub(crate) struct ActorHeader {
    /// Who makes the change. Without it the name of the key, or `anonymous` where no keys are asked for. A name
    /// other than the key's needs a key that speaks for others; 403 without that right.
    #[param(
        rename = "X-Actor-Id",
        nullable = false,
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
    )]
    actor: Option<String>,
}

/// The actor of a request.
#[derive(Debug)]
pub(crate) struct Actor(pub(crate) ActorId);

impl<S: Send + Sync> FromRequestParts<S> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let CallerOf(caller) = CallerOf::from_request_parts(parts, state).await?;
        let named = single_header(&parts.headers, X_ACTOR_ID)?
            .map(|text| text.parse())
            .transpose()
            .map_err(|rule| Problem::invalid(X_ACTOR_ID, format!("{X_ACTOR_ID} {rule}")))?;
        let actor = caller.actor(named).ok_or_else(|| {
            Problem::new(
                Kind::Forbidden,
                format!(
                    "this key may not speak for others: leave {X_ACTOR_ID} out, or send the key's own name in it"
                ),
            )
            .with("field", X_ACTOR_ID)
        })?;
        Ok(Self(actor))
    }
}
