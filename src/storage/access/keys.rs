//! API keys: `api_keys`. They belong to the installation and are stored under the vault id `*`, which is not a valid
//! id.

use crate::domain::access::{AccessRole, ApiKey, SecretHash, Token, VaultScope};
use crate::domain::ids::{ActorId, KeyId, VaultId};
use crate::random;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::{TransactionError, lock_name};
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::HashMap;
use std::sync::Arc;

/// The vault id of rows that belong to the installation.
pub(in crate::storage) const INSTALLATION: &str = "*";

/// Maximum number of active keys: every instance caches all of them.
pub const MAX_ACTIVE_KEYS: usize = 10_000;

/// A key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its holder.
    pub name: ActorId,
    /// The role of its holder.
    pub role: AccessRole,
    /// The vaults it gives access to.
    pub scope: VaultScope,
    /// Whether its holder may specify another actor.
    pub speaks_for_others: bool,
    /// Who creates it.
    pub created_by: String,
    /// When it expires; in the future.
    pub expires_at: Option<DateTime<Utc>>,
    /// How many keys may be active within some vaults, including this one; for a creator with access to those vaults
    /// only.
    pub quota: Option<(VaultScope, u64)>,
}

/// Why no secret was created.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key does not exist.
    #[error("there is no such key")]
    NotFound,
    /// A revoked or expired key cannot get a new secret.
    #[error("the key was revoked or has expired; make a new one")]
    Ended,
    /// The maximum number of active keys is reached.
    #[error("{MAX_ACTIVE_KEYS} keys are active, which is the most there may be; revoke some first")]
    TooMany,
    /// The maximum number of active keys within the vaults of the calling administrator is reached.
    #[error(
        "{limit} keys are active within the vaults of this key, which is the most there may be; revoke some first"
    )]
    TooManyWithin {
        /// The maximum.
        limit: u64,
    },
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TransactionError for KeyError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            _ => None,
        }
    }
}

impl From<sqlx::Error> for KeyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

struct Row {
    key_id: KeyId,
    name: ActorId,
    role: AccessRole,
    vaults: Option<Vec<VaultId>>,
    vault_prefix: Option<VaultId>,
    speaks_for_others: bool,
    created_by: String,
    created_at: DateTime<Utc>,
    rotated_at: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
    revoked_at: Option<DateTime<Utc>>,
    secret_hash: SecretHash,
    previous_hash: Option<SecretHash>,
    previous_until: Option<DateTime<Utc>>,
}

impl From<Row> for ApiKey {
    fn from(row: Row) -> Self {
        let scope = match (row.vaults, row.vault_prefix) {
            (Some(vaults), _) => VaultScope::List(Arc::new(vaults.into_iter().collect())),
            (None, Some(prefix)) => VaultScope::Prefix(prefix),
            (None, None) => VaultScope::All,
        };
        Self {
            key_id: row.key_id,
            name: row.name,
            role: row.role,
            scope,
            speaks_for_others: row.speaks_for_others,
            created_by: row.created_by,
            created_at: row.created_at,
            rotated_at: row.rotated_at,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
        }
    }
}

fn list_of(scope: &VaultScope) -> Option<Vec<String>> {
    Some(scope.vaults()?.iter().map(VaultId::to_string).collect())
}

/// Reads keys by id: the one with this id, those after another, and those that are active at a time, if given.
async fn read(
    connection: &mut Connection,
    (only, after): (Option<&KeyId>, Option<&KeyId>),
    active_at: Option<DateTime<Utc>>,
    limit: i64,
) -> Result<Vec<Row>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT key_id, name, role, vaults, vault_prefix, speaks_for_others, created_by, created_at, rotated_at,
                expires_at, revoked_at, secret_hash, previous_hash, previous_until
         FROM api_keys
         WHERE vault_id = $1 AND ($2::text IS NULL OR key_id = $2) AND key_id > COALESCE($3::text, '')
           AND ($4::timestamptz IS NULL OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $4)))
         ORDER BY key_id
         LIMIT $5",
        INSTALLATION,
        only.map(KeyId::as_str),
        after.map(KeyId::as_str),
        active_at,
        limit,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

/// Stores a key, if the limit allows. One is created at a time, so that none is created over the limit.
async fn insert(
    mut transaction: Connection,
    new: &NewKey,
    (key_id, hash): (&KeyId, &SecretHash),
    now: DateTime<Utc>,
) -> Result<(Connection, ApiKey), KeyError> {
    lock_name(&mut transaction, "creation of keys").await?;
    let active = active(&mut transaction, now).await?;
    if active.len() >= MAX_ACTIVE_KEYS {
        return Err(KeyError::TooMany);
    }
    if let Some((within, limit)) = &new.quota {
        let is_within = |active: &&ActiveKey| within.includes(&active.key.scope);
        if active.iter().filter(is_within).count() as u64 >= *limit {
            return Err(KeyError::TooManyWithin { limit: *limit });
        }
    }
    let listed = list_of(&new.scope);
    let row = sqlx::query_as!(
        Row,
        "INSERT INTO api_keys (vault_id, key_id, name, role, vaults, vault_prefix, speaks_for_others, secret_hash,
                               created_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         RETURNING key_id, name, role, vaults, vault_prefix, speaks_for_others, created_by, created_at, rotated_at,
                   expires_at, revoked_at, secret_hash, previous_hash, previous_until",
        INSTALLATION,
        key_id.as_str(),
        new.name.as_str(),
        new.role.name(),
        listed.as_deref(),
        new.scope.prefix().map(VaultId::as_str),
        new.speaks_for_others,
        hash.as_bytes(),
        new.created_by,
        now,
        new.expires_at,
    )
    .fetch_one(&mut transaction)
    .await?;
    Ok((transaction, row.into()))
}

impl Storage {
    /// Creates a key. The token is the only place where its secret is ever shown.
    ///
    /// # Errors
    /// [`KeyError::TooMany`], [`KeyError::TooManyWithin`], or database errors.
    pub async fn create_key(&self, new: NewKey) -> Result<(ApiKey, Token), KeyError> {
        let now = self.clock.now();
        // The last digits of the UUID are random; the first are the time, which is useless here.
        let id = self.clock.new_id().simple().to_string();
        let key_id: KeyId = id[20..].parse().expect("twelve digits are an id");
        let token = Token::new(key_id.clone(), &random::secret_bytes());
        let hash = token.hash();
        let key = self
            .transaction("db.api_keys.insert", |transaction| {
                insert(transaction, &new, (&key_id, &hash), now)
            })
            .await?;
        Ok((key, token))
    }

    /// A key; `None` if it does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn key(&self, key_id: &KeyId) -> Result<Option<ApiKey>, StorageError> {
        let found = read(&mut self.reader().await?, (Some(key_id), None), None, 1).await?;
        Ok(found.into_iter().next().map(ApiKey::from))
    }

    /// Keys by id, including revoked and expired ones, those after `after` with no access outside `within`, at most
    /// `limit`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_keys(
        &self,
        within: &VaultScope,
        after: Option<&KeyId>,
        limit: i64,
    ) -> Result<Vec<ApiKey>, StorageError> {
        // Which keys are within a scope is not asked of the database.
        let most = match within {
            VaultScope::All => limit,
            _ => i64::MAX,
        };
        let rows = read(&mut self.reader().await?, (None, after), None, most).await?;
        let keys = rows.into_iter().map(ApiKey::from);
        let within = keys.filter(|key| within.includes(&key.scope));
        Ok(within
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect())
    }

    /// Revokes a key. Repeating it changes nothing. `false` if the key does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn revoke_key(&self, key_id: &KeyId) -> Result<bool, StorageError> {
        let revoke = || {
            sqlx::query!(
                "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $3) WHERE vault_id = $1 AND key_id = $2",
                INSTALLATION,
                key_id.as_str(),
                self.clock.now(),
            )
        };
        Ok(self.execute(Class::Write, "db.api_keys.revoke", revoke).await? == 1)
    }

    /// Gives a key a new secret. The previous secret stays valid for `grace`; an older one becomes invalid at once.
    ///
    /// # Errors
    /// [`KeyError::NotFound`], [`KeyError::Ended`], or database errors.
    pub async fn rotate_key(&self, key_id: &KeyId, grace: TimeDelta) -> Result<(ApiKey, Token), KeyError> {
        let now = self.clock.now();
        let token = Token::new(key_id.clone(), &random::secret_bytes());
        let hash = token.hash();
        let until = (grace > TimeDelta::zero()).then(|| now + grace);
        let rotate = || {
            sqlx::query_as!(
            Row,
            "UPDATE api_keys
             SET previous_hash = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE secret_hash END,
                 previous_until = $4, secret_hash = $3, rotated_at = $5
             WHERE vault_id = $1 AND key_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $5)
             RETURNING key_id, name, role, vaults, vault_prefix, speaks_for_others, created_by, created_at, rotated_at,
                       expires_at, revoked_at, secret_hash, previous_hash, previous_until",
            INSTALLATION,
            key_id.as_str(),
            hash.as_bytes(),
            until,
            now,
        )
        };
        let rotated = self.transaction("db.api_keys.rotate", |mut transaction| async move {
            let row = rotate().fetch_optional(&mut transaction).await?;
            Ok::<_, StorageError>((transaction, row))
        });
        match rotated.await? {
            Some(row) => Ok((row.into(), token)),
            None if self.key(key_id).await?.is_some() => Err(KeyError::Ended),
            None => Err(KeyError::NotFound),
        }
    }
}

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

impl Storage {
    /// The keys that are valid now.
    ///
    /// # Errors
    /// Database errors.
    pub async fn active_keys(&self) -> Result<ActiveKeys, StorageError> {
        let mut reader = self.reader_for(Class::Health).await?;
        let keys = active(&mut reader, self.clock.now()).await?;
        let ever = !keys.is_empty()
            || sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT 1 FROM api_keys WHERE vault_id = $1) AS "ever!""#,
                INSTALLATION,
            )
            .fetch_one(&mut reader)
            .await?;
        let keys = keys.into_iter().map(|active| (active.key.key_id.clone(), active));
        Ok(ActiveKeys {
            keys: keys.collect(),
            ever,
        })
    }
}

/// The keys that are valid now, with the hashes of their secrets.
async fn active(connection: &mut Connection, now: DateTime<Utc>) -> Result<Vec<ActiveKey>, StorageError> {
    let rows = read(connection, (None, None), Some(now), i64::MAX).await?;
    Ok(rows.into_iter().map(ActiveKey::from).collect())
}

impl From<Row> for ActiveKey {
    fn from(row: Row) -> Self {
        Self {
            secret: row.secret_hash,
            previous: row.previous_hash.zip(row.previous_until),
            key: row.into(),
        }
    }
}
