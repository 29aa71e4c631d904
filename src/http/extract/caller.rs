//! The authenticated caller, as determined by the layer `middleware/access`.

use crate::domain::access::{AccessRole, Caller};
use crate::domain::ids::KeyId;
use crate::http::problem::{Kind, Problem};
use crate::pipeline::Mode;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

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
