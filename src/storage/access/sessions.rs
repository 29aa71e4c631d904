//! Sessions of the dashboard: `sessions`. They belong to keys and are stored under the vault id `*` too.

use crate::domain::access::SecretHash;
use crate::domain::ids::KeyId;
use crate::storage::access::keys::INSTALLATION;
use crate::storage::{Class, Storage, StorageError};
use chrono::TimeDelta;

/// How long a session lasts.
pub const SESSION_DAYS: i64 = 7;

/// The credentials that started a session.
#[derive(Debug, Clone)]
pub struct Session {
    /// The key.
    pub key_id: KeyId,
    /// The hash of the secret that was presented.
    pub secret: SecretHash,
}

impl Storage {
    /// Begins a session.
    ///
    /// # Errors
    /// Database errors.
    pub async fn begin_session(&self, hash: &SecretHash, session: &Session) -> Result<(), StorageError> {
        let now = self.clock.now();
        let until = now + TimeDelta::days(SESSION_DAYS);
        let insert = || {
            sqlx::query!(
                "INSERT INTO sessions (vault_id, session_hash, key_id, secret_hash, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6)",
                INSTALLATION,
                hash.as_bytes(),
                session.key_id.as_str(),
                session.secret.as_bytes(),
                now,
                until,
            )
        };
        self.execute(Class::Write, "db.sessions.insert", insert).await?;
        Ok(())
    }

    /// The session with this hash, unless it has expired. Does not check whether its key is still valid.
    ///
    /// # Errors
    /// Database errors.
    pub async fn session(&self, hash: &SecretHash) -> Result<Option<Session>, StorageError> {
        let session = sqlx::query_as!(
            Session,
            "SELECT key_id, secret_hash AS secret FROM sessions
             WHERE vault_id = $1 AND session_hash = $2 AND expires_at > $3",
            INSTALLATION,
            hash.as_bytes(),
            self.clock.now(),
        )
        .fetch_optional(&mut self.reader().await?)
        .await?;
        Ok(session)
    }

    /// Ends a session, if it exists.
    ///
    /// # Errors
    /// Database errors.
    pub async fn end_session(&self, hash: &SecretHash) -> Result<(), StorageError> {
        let end = || {
            sqlx::query!(
                "DELETE FROM sessions WHERE vault_id = $1 AND session_hash = $2",
                INSTALLATION,
                hash.as_bytes(),
            )
        };
        self.execute(Class::Write, "db.sessions.delete", end).await?;
        Ok(())
    }

    /// Deletes expired sessions, and returns their number.
    ///
    /// # Errors
    /// Database errors.
    pub async fn purge_sessions(&self) -> Result<u64, StorageError> {
        let now = self.clock.now();
        let purge = || {
            sqlx::query!(
                "DELETE FROM sessions WHERE vault_id = $1 AND expires_at <= $2",
                INSTALLATION,
                now,
            )
        };
        self.execute(Class::Write, "db.sessions.purge", purge).await
    }
}
