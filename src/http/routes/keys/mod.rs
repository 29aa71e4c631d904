//! `/v1/keys`: the API keys. All routes require the role `admin`. A key limited to vaults can read, create and end
//! only keys limited to a subset of those vaults.

pub(crate) mod create;
pub(crate) mod held;
pub(crate) mod view;

use crate::domain::access::{AccessRole, ApiKey, Caller, VaultScope};
use crate::domain::ids::KeyId;
use crate::http::middleware::idempotency::IDEMPOTENCY_KEY;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::access::keys::KeyError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};

/// The rights of a key.
struct Rights<'k> {
    scope: &'k VaultScope,
    role: AccessRole,
    expires_at: Option<DateTime<Utc>>,
    speaks_for_others: bool,
}

impl<'k> Rights<'k> {
    fn of(key: &'k ApiKey) -> Self {
        Self {
            scope: &key.scope,
            role: key.role,
            expires_at: key.expires_at,
            speaks_for_others: key.speaks_for_others,
        }
    }

    /// Checks that the caller has all these rights: nobody may obtain the secret of a key with more rights than their
    /// own.
    ///
    /// # Errors
    /// 403 that names the field.
    fn are_within(&self, caller: &Caller, done: &str) -> Result<(), Problem> {
        let beyond = |field: &str, what: &str| {
            let detail = format!("a key {done} this key must not {what}");
            Err(Problem::new(Kind::Forbidden, detail).with("field", field))
        };
        if !caller.scope.includes(self.scope) {
            return beyond("vaults", "reach vaults that this key does not reach");
        }
        if !caller.may(self.role) {
            return beyond("role", "have more rights than this key");
        }
        let Some(own) = &caller.key else { return Ok(()) };
        if let Some(end) = own.expires_at
            && self.expires_at.is_none_or(|time| time > end)
        {
            return beyond(
                "expires_at",
                &format!("last longer than this key, which expires at {end:?}"),
            );
        }
        if self.speaks_for_others && !own.speaks_for_others {
            return beyond("speaks_for_others", "speak for others, which this key may not");
        }
        Ok(())
    }
}

/// Marks a request whose response contains a secret. The response is not stored, so an idempotency key is rejected.
pub(crate) struct NotRepeatable;

impl<S: Sync> FromRequestParts<S> for NotRepeatable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        if parts.headers.contains_key(IDEMPOTENCY_KEY) {
            return Err(Problem::malformed(
                "Idempotency-Key",
                "Idempotency-Key is not accepted here: the answer holds a secret, which is not kept to be answered again. \
                 Leave the header out; if the answer is lost, revoke or rotate the key",
            ));
        }
        Ok(Self)
    }
}

/// A key that is visible to the caller.
///
/// # Errors
/// 404 if there is none, or its scope exceeds the caller's.
async fn visible(state: &AppState, caller: &Caller, key_id: &KeyId) -> Result<ApiKey, Problem> {
    let key = state.storage.key(key_id).await?;
    key.filter(|key| caller.scope.includes(&key.scope))
        .ok_or_else(missing)
}

fn missing() -> Problem {
    Problem::not_found("there is no such key")
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Self {
        let message = error.to_string();
        match error {
            KeyError::NotFound => missing(),
            KeyError::Ended | KeyError::TooMany => Self::new(Kind::Conflict, message),
            KeyError::TooManyWithin { limit } => Self::new(Kind::Conflict, message)
                .with("limit", limit)
                .with("limit_name", "limits.vault_keys"),
            KeyError::NoRandomness => Self::internal(message),
            KeyError::Storage(error) => error.into(),
        }
    }
}
