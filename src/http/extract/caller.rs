//! The authenticated caller, as determined by the layer `middleware/access`; the actor that it names in `X-Actor-Id`, the author
//! of a version; and the claim of an idempotency key under which its request runs.
//! A JSON response is stored together with the changes of a request that has such a key.

use crate::domain::access::{AccessRole, Caller};
use crate::domain::ids::{ActorId, KeyId};
use crate::http::extract::single_header;
use crate::http::problem::{Kind, Problem};
use crate::pipeline::Mode;
use crate::storage::idempotency::{Answering, IdempotencyClaim, KeptAnswer};
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
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
}

impl CallerOf {
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
        let caller = parts.extensions.get::<Caller>().cloned();
        // A route without the access layer is a bug; it must not answer everybody.
        caller
            .map(Self)
            .ok_or_else(|| Problem::internal("nobody has said who makes the request"))
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

/// Status, headers and body, as they are sent.
#[derive(Debug)]
pub(crate) struct JsonAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl JsonAnswer {
    /// A response without further headers. A body that cannot be serialized becomes 500, as with `axum::Json`.
    pub(crate) fn new(status: StatusCode, body: &impl Serialize) -> Self {
        let (status, media_type, body) = match serde_json::to_vec(body) {
            Ok(body) => (status, "application/json", body),
            Err(error) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "text/plain; charset=utf-8",
                error.to_string().into_bytes(),
            ),
        };
        Self {
            status,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            body,
        }
    }

    /// Adds the path of what was made. Ids contain only characters that are allowed in a header.
    pub(crate) fn at(self, path: &str) -> Self {
        match HeaderValue::from_str(path) {
            Ok(path) => self.with(LOCATION, path),
            Err(_) => self,
        }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}

impl From<JsonAnswer> for KeptAnswer {
    fn from(answer: JsonAnswer) -> Self {
        kept(answer.status, &answer.headers, answer.body)
    }
}

/// A response in the form in which it is stored for repeated requests.
pub(crate) fn kept(status: StatusCode, headers: &HeaderMap, body: Vec<u8>) -> KeptAnswer {
    let headers = headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH);
    KeptAnswer {
        status: status.as_u16(),
        headers: headers
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect(),
        body,
    }
}

impl IntoResponse for JsonAnswer {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_role_may_not_do_is_forbidden() {
        let reader = CallerOf(Caller {
            role: AccessRole::Reader,
            ..Caller::open()
        });
        assert!(reader.require(AccessRole::Reader, "memories are read").is_ok());
        let refused = reader
            .require(AccessRole::Admin, "rules are written")
            .unwrap_err();
        assert_eq!(refused.kind(), Kind::Forbidden);
    }
}
