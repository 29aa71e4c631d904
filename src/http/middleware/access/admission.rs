//! The credentials of a request, for responses that last long: a stream ends when its key becomes invalid.

use super::Gate;
use crate::domain::access::SecretHash;
use crate::domain::ids::KeyId;
use crate::http::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::sync::Arc;
use std::time::Duration;

/// How often the key is checked again.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The credentials that a request was admitted with.
#[derive(Clone)]
pub(crate) struct Admission {
    gate: Arc<Gate>,
    /// The key of the request; `None` if none was required.
    shown: Option<(KeyId, SecretHash)>,
    /// The session of a visitor of the dashboard, which may end before its key.
    session: Option<SecretHash>,
}

impl Admission {
    pub(super) fn new(gate: &Arc<Gate>, shown: Option<(KeyId, SecretHash)>) -> Self {
        Self {
            gate: gate.clone(),
            shown,
            session: None,
        }
    }

    pub(super) fn of_session(mut self, session: SecretHash) -> Self {
        self.session = Some(session);
        self
    }

    /// Returns when the request would no longer be admitted: its key was revoked or rotated or has expired, its session
    /// has ended, or a service that required no keys now does. At once if that happens on this instance. Database errors
    /// do not end it.
    pub(crate) async fn ended(self) {
        let mut ended = self.gate.ended();
        loop {
            // An end before the stream began is found by the first check.
            let _ = tokio::time::timeout(LOOK_EVERY, ended.changed()).await;
            if matches!(self.holds().await, Ok(false)) {
                return;
            }
        }
    }

    async fn holds(&self) -> Result<bool, Problem> {
        if let Some(session) = &self.session
            && !self.gate.has_session(session).await?
        {
            return Ok(false);
        }
        match &self.shown {
            Some((key_id, secret)) => self.gate.takes(key_id, secret).await,
            None => self.gate.is_open(false).await,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admission {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let admission = parts.extensions.get::<Self>().cloned();
        // A route without the access layer is a bug; it must not answer everybody.
        admission.ok_or_else(|| Problem::internal("nobody has said what let the request in"))
    }
}
