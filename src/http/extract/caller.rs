//! Who makes the request, as the layer in front of every route found out (`middleware/access`).

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
    /// Lets only those through who may do what `role` may; `what` is what they asked to do, as in "rules are
    /// written".
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
    /// What becomes of the caller's operations, if `proposes` says that they are to be a proposal: without the right to
    /// write they always are.
    pub(crate) fn mode(&self, proposes: bool) -> Mode {
        if proposes || !self.0.may(AccessRole::Writer) {
            Mode::Propose { key: self.key_id() }
        } else {
            Mode::Apply
        }
    }

    /// The key that was shown; `None` at a service that asks for none.
    pub(crate) fn key_id(&self) -> Option<KeyId> {
        self.0.key.as_ref().map(|key| key.key_id.clone())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for CallerOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        // A route that nobody guards is a fault, and is not answered to everybody.
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
