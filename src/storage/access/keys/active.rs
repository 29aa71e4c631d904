//! The valid keys, which every instance caches.

use super::{INSTALLATION, Row};
use crate::domain::access::{ApiKey, SecretHash};
use crate::domain::ids::KeyId;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use std::collections::HashMap;

/// A valid key with the hashes of its secrets.
#[derive(Debug, Clone)]
pub struct ActiveKey {
    /// The key.
    pub key: ApiKey,
    secret: SecretHash,
    previous: Option<(SecretHash, DateTime<Utc>)>,
}

impl ActiveKey {
    /// Whether `shown` is the hash of its secret, or of the previous one while that is valid.
    #[must_use]
    pub fn is_opened_by(&self, shown: &SecretHash, now: DateTime<Utc>) -> bool {
        let previous = self.previous.as_ref().filter(|(_, until)| now < *until);
        // Both are compared, so that the timing reveals nothing.
        let by_previous = previous.is_some_and(|(hash, _)| hash.matches(shown));
        self.secret.matches(shown) | by_previous
    }
}

/// The data needed to authenticate callers.
#[derive(Debug, Clone, Default)]
pub struct ActiveKeys {
    /// The valid keys.
    pub keys: HashMap<KeyId, ActiveKey>,
    /// Whether there has ever been a key.
    pub ever: bool,
}

fn corrupt(key_id: &KeyId, column: &'static str) -> StorageError {
    StorageError::Corrupt {
        table: "api_keys",
        column,
        row: key_id.to_string(),
        problem: "not what the service writes".to_owned(),
    }
}

impl Storage {
    /// The keys that are valid now.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.api_keys.active", skip_all)]
    pub async fn active_keys(&self) -> Result<ActiveKeys, StorageError> {
        let mut reader = self.reader_for(Class::Health).await?;
        let rows = sqlx::query!(
            "SELECT key_id, name, role, vaults, vault_prefix, speaks_for_others, created_by, created_at, rotated_at,
                    expires_at, revoked_at, secret_hash, previous_hash, previous_until
             FROM api_keys
             WHERE vault_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)",
            INSTALLATION,
            self.clock.now(),
        )
        .fetch_all(&mut reader)
        .await?;
        let ever = !rows.is_empty()
            || sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT 1 FROM api_keys WHERE vault_id = $1) AS "ever!""#,
                INSTALLATION,
            )
            .fetch_one(&mut reader)
            .await?;
        let mut keys = HashMap::with_capacity(rows.len());
        for row in rows {
            let key_id = row.key_id.clone();
            let hash =
                |bytes: &[u8], column| SecretHash::from_bytes(bytes).ok_or_else(|| corrupt(&key_id, column));
            let secret = hash(&row.secret_hash, "secret_hash")?;
            let previous = match (&row.previous_hash, row.previous_until) {
                (Some(bytes), Some(until)) => Some((hash(bytes, "previous_hash")?, until)),
                _ => None,
            };
            let key = ApiKey::from(Row {
                key_id: row.key_id,
                name: row.name,
                role: row.role,
                vaults: row.vaults,
                vault_prefix: row.vault_prefix,
                speaks_for_others: row.speaks_for_others,
                created_by: row.created_by,
                created_at: row.created_at,
                rotated_at: row.rotated_at,
                expires_at: row.expires_at,
                revoked_at: row.revoked_at,
            });
            keys.insert(
                key.key_id.clone(),
                ActiveKey {
                    key,
                    secret,
                    previous,
                },
            );
        }
        Ok(ActiveKeys { keys, ever })
    }
}
