//! The authenticated caller, as determined by the layer `middleware/access`; the actor that it names in `X-Actor-Id`, the author
//! of a version; and the claim of an idempotency key under which its request runs.
//! The response is stored together with the changes of a request that has such a key.

use crate::domain::access::{AccessRole, Caller};
use crate::domain::ids::{ActorId, KeyId};
use crate::http::extract::headers::single_header;
use crate::http::extract::params::parsed;
use crate::http::middleware::access::Admitted;
use crate::http::problem::{Kind, Problem};
use crate::pipeline::Mode;
use crate::storage::idempotency::{Answering, IdempotencyClaim, KeptAnswer};
use crate::telemetry;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::convert::Infallible;

/// The caller of a request.
#[derive(Debug)]
pub(crate) struct CallerOf(pub(crate) Caller);

impl CallerOf {
    /// Requires `role` for an action. `what` describes the action, as in "rules are written".
    ///
    /// # Errors
    /// 403 that names the role.
    pub(crate) fn require(&self, role: AccessRole, what: &str) -> Result<(), Problem> {
        if self.0.may(role) {
            return Ok(());
        }
        telemetry::refused("role");
        Err(Problem::new(
            Kind::Forbidden,
            format!(
                "{what} with the role {} or more; this key has the role {}",
                role.name(),
                self.0.role.name()
            ),
        )
        .with("required_role", role.name()))
    }

    /// Whether the caller's operations are applied or proposed. `proposes` requests a proposal; a caller without the
    /// role `writer` can only propose.
    pub(crate) fn mode(&self, proposes: bool) -> Mode {
        if proposes || !self.0.may(AccessRole::Writer) {
            Mode::Propose { key: self.key_id() }
        } else {
            Mode::Apply
        }
    }

    /// The key of the request; `None` if the service requires no keys.
    pub(crate) fn key_id(&self) -> Option<KeyId> {
        self.0.key.as_ref().map(|key| key.key_id.clone())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for CallerOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(Admitted::of(&parts.extensions)?.caller.clone()))
    }
}

/// The header that names the actor.
pub(crate) const X_ACTOR_ID: &str = "X-Actor-Id";

/// The header, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header that `Actor` reads")]
pub(crate) struct ActorHeader {
    /// Who makes the change. Without it the name of the key, or `anonymous` where no keys are asked for. A name
    /// other than the key's needs a key that speaks for others; 403 without that right.
    #[param(rename = "X-Actor-Id", nullable = false)]
    actor: Option<ActorId>,
}

/// The actor of a request.
#[derive(Debug)]
pub(crate) struct Actor(pub(crate) ActorId);

impl<S: Send + Sync> FromRequestParts<S> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let CallerOf(caller) = CallerOf::from_request_parts(parts, state).await?;
        let named = single_header(&parts.headers, X_ACTOR_ID)?;
        let named = named.map(|text| parsed(X_ACTOR_ID, &text)).transpose()?;
        let actor = caller.actor(named).ok_or_else(|| {
            telemetry::refused("actor");
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

/// The claim, if the request has a key. The layer for `Idempotency-Key` puts it into the extensions.
#[derive(Debug)]
pub(crate) struct UnderClaim(pub(crate) Option<IdempotencyClaim>);

impl UnderClaim {
    /// Combines the claim with a function that builds the response, for a transaction that stores the response with
    /// its changes.
    pub(crate) fn answering<'a, T>(
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

/// A response of a route that writes is in the form in which it is stored for repeated requests.
impl KeptAnswer {
    /// A JSON response without further headers.
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Self {
        let media_type = "application/json".to_owned();
        Self {
            status: status.as_u16(),
            headers: vec![(CONTENT_TYPE.to_string(), media_type)],
            // Serializing structs of texts and numbers cannot fail.
            body: serde_json::to_vec(body).unwrap_or_default(),
        }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: impl ToString, value: impl ToString) -> Self {
        self.headers.push((name.to_string(), value.to_string()));
        self
    }
}

impl IntoResponse for KeptAnswer {
    fn into_response(self) -> Response {
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let response = response.body(Body::from(self.body));
        response.unwrap_or_else(|error| Problem::internal(error).into_response())
    }
}
