//! What let a request in, for answers that go on long after: a stream ends with the key that opened it.

use super::Gate;
use crate::domain::access::SecretHash;
use crate::domain::ids::KeyId;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether the key is still taken.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What let a request in.
#[derive(Clone)]
pub(crate) struct Admission {
    gate: Arc<Gate>,
    /// The key that was shown; `None` where none was asked for.
    shown: Option<(KeyId, SecretHash)>,
}

impl Admission {
    pub(super) fn new(gate: &Arc<Gate>, shown: Option<(KeyId, SecretHash)>) -> Self {
        Self {
            gate: gate.clone(),
            shown,
        }
    }

    /// Returns when the request would not be let in any more: its key was revoked or rotated or has expired, or a
    /// service that asked for none asks for one now. While the database does not say so, it goes on.
    pub(crate) async fn ended(self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let holds = match &self.shown {
                Some((key_id, secret)) => self.gate.takes(key_id, secret).await,
                None => self.gate.is_open(false).await,
            };
            if matches!(holds, Ok(false)) {
                return;
            }
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admission {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let admission = parts.extensions.get::<Self>().cloned();
        // A route that nobody guards is a fault, and is not answered to everybody.
        admission.ok_or_else(|| Problem::internal("nobody has said what let the request in"))
    }
}
