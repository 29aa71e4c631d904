//! `/v1/keys`: the keys of the service. All of it needs the role `admin`; a key that is limited to vaults sees, makes
//! and ends only keys that are limited to some of them.

pub(crate) mod create;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod revoke;
pub(crate) mod rotate;
pub(crate) mod view;

use crate::domain::access::{ApiKey, Caller};
use crate::domain::ids::KeyId;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::keys::KeyError;

/// A key that the caller may know of.
///
/// # Errors
/// 404 if there is none, or it reaches further than the caller does.
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
            KeyError::NoRandomness => Self::internal(message),
            KeyError::Storage(error) => error.into(),
        }
    }
}
