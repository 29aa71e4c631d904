//! The JSON representation of a key.

use crate::domain::access::{ApiKey, Token};
use crate::domain::ids::VaultId;
use crate::http::names::{AccessRoleName, Named};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A key without its secret.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyBody {
    /// Names it here, and stands in front of its secret: `wm_<key_id>_<secret>`.
    pub(crate) key_id: String,
    /// Who holds it: the actor of what is written with it.
    pub(crate) name: String,
    /// What its holder may do.
    pub(crate) role: AccessRoleName,
    /// The vaults it reaches, if they are listed.
    #[schema(required)]
    pub(crate) vaults: Option<Vec<String>>,
    /// What the ids of the vaults begin with that it reaches. It reaches all if this and `vaults` are null.
    #[schema(required)]
    pub(crate) vault_prefix: Option<String>,
    /// Whether `X-Actor-Id` may name somebody else.
    pub(crate) speaks_for_others: bool,
    /// Whether it is taken now: neither revoked nor expired.
    pub(crate) active: bool,
    /// The name of the key that made it; `cli` or `anybody` if none did.
    pub(crate) created_by: String,
    pub(crate) created_at: DateTime<Utc>,
    /// When it last got a new secret.
    #[schema(required)]
    pub(crate) rotated_at: Option<DateTime<Utc>>,
    /// From when on it is not taken.
    #[schema(required)]
    pub(crate) expires_at: Option<DateTime<Utc>>,
    #[schema(required)]
    pub(crate) revoked_at: Option<DateTime<Utc>>,
}

impl KeyBody {
    /// The key and its state at this time.
    pub(crate) fn of(key: ApiKey, now: DateTime<Utc>) -> Self {
        let vaults = key.scope.vaults();
        Self {
            active: key.is_active(now),
            vaults: vaults.map(|vaults| vaults.iter().map(VaultId::to_string).collect()),
            vault_prefix: key.scope.prefix().map(VaultId::to_string),
            key_id: key.key_id.to_string(),
            name: key.name.to_string(),
            role: Named(key.role),
            speaks_for_others: key.speaks_for_others,
            created_by: key.created_by,
            created_at: key.created_at,
            rotated_at: key.rotated_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        }
    }
}

/// A key with its secret, which is never shown again.
#[derive(Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = NewKey)]
pub(crate) struct NewKeyBody {
    #[serde(flatten)]
    pub(crate) key: KeyBody,
    /// What to send as `Authorization: Bearer …`.
    #[serde(rename = "key")]
    #[schema(pattern = "^wm_[0-9a-f]+_[0-9a-f]{64}$")]
    pub(crate) token: String,
}

impl NewKeyBody {
    /// The key and its secret.
    pub(crate) fn of(key: ApiKey, token: &Token, now: DateTime<Utc>) -> Self {
        Self {
            key: KeyBody::of(key, now),
            token: token.expose().to_owned(),
        }
    }
}
