//! A worker's way to an update: look without a lock, claim by the key, keep the claim.

use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::{Storage, StorageError, error};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

/// The key of an update that may be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
}

/// An update under a claim.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Which one.
    pub due: Due,
    /// The claim's id.
    pub claim: String,
    /// Who asked for it.
    pub actor: ActorId,
    /// When it came.
    pub created_at: DateTime<Utc>,
    /// How often it was begun, this time included.
    pub attempts: i32,
    /// What is asked for.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
}

impl Storage {
    /// The heads of the lines that may be claimed, those that came first first, at most `limit`; none of the vaults in
    /// `not_now`. A read over all vaults that touches unfinished updates only, or of one vault.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.due", skip_all)]
    pub async fn due_updates(
        &self,
        vault: Option<&VaultId>,
        not_now: &[String],
        limit: i64,
    ) -> Result<Vec<Due>, StorageError> {
        if let Some(vault) = vault {
            return self.due_updates_of(vault, limit).await;
        }
        let rows = sqlx::query!(
            r#"SELECT vault_id AS "vault_id!", memory_id AS "memory_id!", update_id AS "update_id!"
               FROM (SELECT DISTINCT ON (vault_id, memory_id) vault_id, memory_id, update_id, status, created_at,
                            not_before, lease_until
                     FROM updates
                     WHERE queue_place IS NOT NULL
                     ORDER BY vault_id, memory_id, status = 'queued', queue_place) AS heads
               WHERE ((status = 'queued' AND not_before <= $1) OR (status = 'running' AND lease_until <= $1))
                 AND vault_id <> ALL ($2)
               ORDER BY created_at
               LIMIT $3"#,
            self.clock.now(),
            not_now,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let due = rows.into_iter().map(|row| Due {
            vault: row.vault_id,
            memory: row.memory_id,
            update_id: row.update_id,
        });
        Ok(due.collect())
    }

    async fn due_updates_of(&self, vault: &VaultId, limit: i64) -> Result<Vec<Due>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT memory_id AS "memory_id!", update_id AS "update_id!"
               FROM (SELECT DISTINCT ON (memory_id) memory_id, update_id, status, created_at, not_before, lease_until
                     FROM updates
                     WHERE vault_id = $1 AND queue_place IS NOT NULL
                     ORDER BY memory_id, status = 'queued', queue_place) AS heads
               WHERE (status = 'queued' AND not_before <= $2) OR (status = 'running' AND lease_until <= $2)
               ORDER BY created_at
               LIMIT $3"#,
            vault.as_str(),
            self.clock.now(),
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let due = rows.into_iter().map(|row| Due {
            vault: vault.clone(),
            memory: row.memory_id,
            update_id: row.update_id,
        });
        Ok(due.collect())
    }

    /// Claims an update for `lease`. `None` if somebody else was faster.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.claim", skip_all)]
    pub async fn claim_update(
        &self,
        due: &Due,
        claim: &str,
        lease: TimeDelta,
    ) -> Result<Option<Claimed>, StorageError> {
        let now = self.clock.now();
        let claimed = self.sweep_transaction("db.updates.claim", |mut transaction| async move {
            let row = sqlx::query!(
                "UPDATE updates
                 SET status = 'running', claim_id = $4, lease_until = $5, not_before = NULL, attempts = attempts + 1
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3
                   AND ((status = 'queued' AND not_before <= $6) OR (status = 'running' AND lease_until <= $6))
                 RETURNING actor_id, created_at, attempts, request, preconditions",
                due.vault.as_str(),
                due.memory.as_str(),
                due.update_id.as_str(),
                claim,
                now + lease,
                now,
            )
            .fetch_optional(&mut *transaction)
            .await?;
            Ok(transaction.commit_with(row))
        });
        let row = match claimed.await {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            // Another one of the memory began to run in this moment.
            Err(error) if error::is_taken(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Claimed {
            actor: row.actor_id,
            due: due.clone(),
            claim: claim.to_owned(),
            created_at: row.created_at,
            attempts: row.attempts,
            request: row.request,
            preconditions: row.preconditions.unwrap_or(Value::Null),
        }))
    }

    /// Keeps a claim from being taken for dead. `false` if it is lost: taken over, called off, or deleted.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.renew", skip_all)]
    pub async fn renew_update(&self, claimed: &Claimed, lease: TimeDelta) -> Result<bool, StorageError> {
        let renew = || {
            sqlx::query!(
                "UPDATE updates SET lease_until = $5
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
                claimed.due.vault.as_str(),
                claimed.due.memory.as_str(),
                claimed.due.update_id.as_str(),
                claimed.claim,
                self.clock.now() + lease,
            )
        };
        Ok(self.execute("db.updates.renew", renew).await? == 1)
    }
}
