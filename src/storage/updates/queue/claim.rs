//! Claims of queued updates: finding due updates without a lock, claiming one by its key, and renewing the claim.

use super::LONGEST_WAIT;
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::{Class, Storage, StorageError, error};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use std::time::Duration;

/// The key of an update that can be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
}

/// A claimed update.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Its key.
    pub due: Due,
    /// The claim's id.
    pub claim: String,
    /// The actor that requested it.
    pub actor: ActorId,
    /// When it was queued.
    pub created_at: DateTime<Utc>,
    /// Number of attempts, including this one.
    pub attempts: i32,
    /// The request.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
}

/// Which claims have expired, and which attempts are due: by the database's clock alone.
///
/// That clock may have been set back. A time that is further in the future than anything waits was written before that,
/// so it counts as past.
#[derive(Debug, Clone, Copy)]
pub struct Lease(TimeDelta);

impl Lease {
    /// Claims of this length.
    #[must_use]
    pub fn new(length: Duration) -> Self {
        Self(TimeDelta::from_std(length).unwrap_or(TimeDelta::MAX))
    }

    /// Longer than anything waits or is claimed; transactions begin at different times.
    fn beyond(self) -> TimeDelta {
        self.0.max(LONGEST_WAIT) + TimeDelta::minutes(1)
    }
}

impl Storage {
    /// The first updates of all memories' queues that can be claimed, at most `limit`, without the vaults in `not_now`:
    /// the oldest of each vault first, then the second of each, so that the updates of one vault do not hide those of
    /// another. Reads unfinished updates of all vaults, or of one.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.updates.due", skip_all)]
    pub async fn due_updates(
        &self,
        vault: Option<&VaultId>,
        not_now: &[String],
        lease: Lease,
        limit: i64,
    ) -> Result<Vec<Due>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT vault_id AS "vault_id!", memory_id AS "memory_id!", update_id AS "update_id!"
               FROM (SELECT vault_id, memory_id, update_id, created_at,
                            row_number() OVER (PARTITION BY vault_id ORDER BY created_at, update_id) AS nth
                     FROM (SELECT DISTINCT ON (vault_id, memory_id) vault_id, memory_id, update_id, created_at,
                                  COALESCE(not_before, lease_until) AS due_at
                           FROM updates
                           WHERE queue_place IS NOT NULL AND ($4::text IS NULL OR vault_id = $4)
                           ORDER BY vault_id, memory_id, status = 'queued', queue_place) AS heads
                     WHERE (due_at <= now() OR due_at > now() + $1::interval) AND vault_id <> ALL ($2)) AS due
               ORDER BY nth, created_at
               LIMIT $3"#,
            lease.beyond() as _,
            not_now,
            limit,
            vault.map(VaultId::as_str),
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let due = rows.into_iter().map(|row| Due {
            vault: row.vault_id,
            memory: row.memory_id,
            update_id: row.update_id,
        });
        Ok(due.collect())
    }

    /// Claims an update for `lease`. `None` if another worker claimed it first.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.updates.claim", skip_all)]
    pub async fn claim_update(
        &self,
        due: &Due,
        claim: &str,
        lease: Lease,
    ) -> Result<Option<Claimed>, StorageError> {
        let claimed = self.transaction_for(Class::Sweep, "db.updates.claim", |mut transaction| async move {
            let row = sqlx::query!(
                "UPDATE updates
                 SET status = 'running', claim_id = $4, lease_until = now() + $5::interval,
                     not_before = NULL, attempts = attempts + 1
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status IN ('queued', 'running')
                   AND (COALESCE(not_before, lease_until) <= now()
                        OR COALESCE(not_before, lease_until) > now() + $6::interval)
                 RETURNING actor_id, created_at, attempts, request, preconditions",
                due.vault.as_str(),
                due.memory.as_str(),
                due.update_id.as_str(),
                claim,
                lease.0 as _,
                lease.beyond() as _,
            )
            .fetch_optional(&mut transaction)
            .await?;
            Ok(transaction.commit_with(row))
        });
        let row = match claimed.await {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            // Another update of the memory has just been claimed.
            Err(error) if error::is_unique_violation(&error) => return Ok(None),
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

    /// Renews a claim. `false` if it is lost: expired and taken over, cancelled, or deleted.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.updates.renew", skip_all)]
    pub async fn renew_update(&self, claimed: &Claimed, lease: Lease) -> Result<bool, StorageError> {
        let renew = || {
            sqlx::query!(
                "UPDATE updates SET lease_until = now() + $5::interval
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
                claimed.due.vault.as_str(),
                claimed.due.memory.as_str(),
                claimed.due.update_id.as_str(),
                claimed.claim,
                lease.0 as _,
            )
        };
        Ok(self.execute(Class::Write, "db.updates.renew", renew).await? == 1)
    }
}
