//! How much a vault holds: `vault_storage`, and the quotas that are tested by it.
//!
//! Whatever makes or takes away versions adds a row with what it changed, in its own transaction: no row is shared, so
//! nobody waits to count and nobody can be part of a deadlock for it. What a vault holds is the sum of its rows, of which
//! the background makes one again before they are many.

use super::quotas::{Quotas, Room, Stored};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::{FailingVaults, Storage, StorageError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long it is believed what a vault holds: what other instances save meanwhile may go beyond a quota.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Rows of a vault from which on they are summed up.
const MANY_ROWS: i64 = 64;

/// Vaults that are summed up in a round.
const VAULTS_AT_ONCE: i64 = 100;

impl Storage {
    /// The same with what vaults may hold.
    #[must_use]
    pub fn with_quotas(mut self, quotas: Quotas) -> Self {
        self.room = Arc::new(Room::new(quotas));
        self
    }

    /// What a vault holds.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.vault_storage.get", skip_all)]
    pub async fn vault_storage(&self, vault: &VaultId) -> Result<Stored, StorageError> {
        let row = sqlx::query!(
            r#"SELECT COALESCE(sum(memories), 0)::bigint AS "memories!", COALESCE(sum(bytes), 0)::bigint AS "bytes!"
               FROM vault_storage WHERE vault_id = $1"#,
            vault.as_str(),
        )
        .fetch_one(&mut *self.reader().await?)
        .await?;
        Ok(Stored {
            memories: row.memories,
            bytes: row.bytes,
        })
    }

    /// Reads what a vault holds, if that is limited and not known: before a change takes a connection of its own.
    pub(in crate::storage) async fn know_room(&self, vault: &VaultId) -> Result<(), StorageError> {
        let Quotas { memories, bytes } = self.room.quotas;
        if memories.is_none() && bytes.is_none() {
            return Ok(());
        }
        let known = self.room.known.get(vault);
        let is_new = |known: &Arc<Mutex<(Stored, Instant)>>| {
            let (_, since) = *known.lock().unwrap_or_else(PoisonError::into_inner);
            since.elapsed() < BELIEVED_FOR
        };
        if known.as_ref().is_none_or(|known| !is_new(known)) {
            let since = Instant::now();
            let stored = self.vault_storage(vault).await?;
            self.room
                .known
                .insert(vault.clone(), Arc::new(Mutex::new((stored, since))));
        }
        Ok(())
    }

    /// Takes room for a version, as far as it is known what the vault holds.
    ///
    /// # Errors
    /// [`StorageError::OverQuota`].
    pub(in crate::storage) fn take_room(
        &self,
        vault: &VaultId,
        is_first: bool,
        bytes: usize,
    ) -> Result<(), StorageError> {
        let Some(known) = self.room.known.get(vault) else {
            return Ok(());
        };
        let more = Stored {
            memories: i64::from(is_first),
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        self.room.quotas.check(known.0, more)?;
        known.0.memories += more.memories;
        known.0.bytes = known.0.bytes.saturating_add(more.bytes);
        Ok(())
    }

    /// Makes one row again of the many of a vault, of some vaults. Returns of how many.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.vault_storage.sum_up", skip_all)]
    pub async fn sum_up_stored(&self) -> Result<u64, StorageError> {
        let mut failing = FailingVaults::new("stored");
        let vaults = sqlx::query_scalar!(
            "SELECT vault_id FROM vault_storage GROUP BY vault_id HAVING count(*) > $1 LIMIT $2",
            MANY_ROWS,
            VAULTS_AT_ONCE,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        for vault in &vaults {
            let done = self.sum_up(vault.as_ref()).await;
            failing.pass_over(vault.as_ref(), done)?;
        }
        Ok(vaults.len() as u64)
    }

    async fn sum_up(&self, vault: &str) -> Result<(), StorageError> {
        self.sweep_transaction("db.vault_storage.sum_up", |mut transaction| async move {
            // Who does so at the same time waits for the rows, and then finds them gone.
            sqlx::query!(
                "WITH gone AS (
                     DELETE FROM vault_storage WHERE vault_id = $1 RETURNING memories, bytes
                 )
                 INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
                 SELECT $1, $2, sum(memories), sum(bytes) FROM gone HAVING count(*) > 0",
                vault,
                self.clock.new_id().to_string(),
            )
            .execute(&mut *transaction)
            .await?;
            Ok(transaction.commit_with(()))
        })
        .await
    }
}

/// What a memory holds, while its row is locked.
#[tracing::instrument(name = "db.memory_contexts.stored", skip_all)]
pub(in crate::storage) async fn of_memory(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Stored, StorageError> {
    let row = sqlx::query!(
        r#"SELECT count(*) > 0 AS "exists!", COALESCE(sum(bytes) FILTER (WHERE redacted_at IS NULL), 0) AS "bytes!"
           FROM memory_contexts WHERE vault_id = $1 AND memory_id = $2"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_one(connection)
    .await?;
    Ok(Stored {
        memories: i64::from(row.exists),
        bytes: row.bytes,
    })
}

/// Counts what a transaction changed. `change_id` is that of its event.
#[tracing::instrument(name = "db.vault_storage.insert", skip_all)]
pub(in crate::storage) async fn count(
    connection: &mut Connection,
    vault: &VaultId,
    change_id: &str,
    (before, after): (Stored, Stored),
) -> Result<(), StorageError> {
    if before == after {
        return Ok(());
    }
    sqlx::query!(
        "INSERT INTO vault_storage (vault_id, change_id, memories, bytes) VALUES ($1, $2, $3, $4)
         ON CONFLICT (vault_id, change_id)
         DO UPDATE SET memories = vault_storage.memories + excluded.memories, bytes = vault_storage.bytes + excluded.bytes",
        vault.as_str(),
        change_id,
        after.memories - before.memories,
        after.bytes - before.bytes,
    )
    .execute(connection)
    .await?;
    Ok(())
}
