//! The storage usage of vaults (`vault_storage`), their quotas and the check of these.
//!
//! Every change that adds or removes versions inserts a row with the difference, in its own transaction. No row is
//! shared, so counting never waits and never deadlocks. The usage of a vault is the sum of its rows, which a background
//! task regularly merges into one.

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use quick_cache::sync::Cache;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the usage of a vault is known once it was read: the sum takes the longer, the more was written since its rows
/// were merged.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// Maximum number of vaults whose usage is known.
const KNOWN_VAULTS: usize = 10_000;

/// What was read of the usage of vaults, and when, with what was to be saved since.
#[derive(Debug, Clone)]
pub(in crate::storage) struct KnownUsage(Arc<Cache<VaultId, (Stored, Instant)>>);

impl Default for KnownUsage {
    fn default() -> Self {
        Self(Arc::new(Cache::new(KNOWN_VAULTS)))
    }
}

/// Number of rows of a vault from which on they are merged.
const MANY_ROWS: i64 = 64;

impl Storage {
    /// Sets the storage quotas.
    #[must_use]
    pub fn with_quotas(mut self, quotas: Quotas) -> Self {
        self.quotas = quotas;
        self
    }

    /// The storage usage of a vault.
    ///
    /// # Errors
    /// Database errors.
    pub async fn vault_storage(&self, vault: &VaultId) -> Result<Stored, StorageError> {
        of_vault(&mut self.reader().await?, vault).await
    }

    /// Whether a new version of this many bytes fits, by what was read of the vault within the last second and by what was
    /// to be saved since. If not, that is to be read again: it may be less by now.
    pub(in crate::storage) fn is_known_to_fit(&self, vault: &VaultId, is_first: bool, bytes: usize) -> bool {
        if self.quotas == Quotas::default() {
            return true;
        }
        let known = self.known_usage.0.get(vault);
        let Some((held, since)) = known.filter(|(_, since)| since.elapsed() < KNOWN_FOR) else {
            return false;
        };
        let more = Stored::of_version(is_first, bytes);
        let fits = self.quotas.check(held, more).is_ok();
        if fits {
            self.known_usage.0.insert(vault.clone(), (held.with(more), since));
        }
        fits
    }

    /// Checks the quotas for a new version of this many bytes. What is being saved meanwhile does not count yet.
    ///
    /// # Errors
    /// [`StorageError::OverQuota`], or database errors.
    pub(in crate::storage) async fn check_quotas(
        &self,
        connection: &mut Connection,
        vault: &VaultId,
        is_first: bool,
        bytes: usize,
    ) -> Result<(), StorageError> {
        if self.is_known_to_fit(vault, is_first, bytes) {
            return Ok(());
        }
        let since = Instant::now();
        let held = of_vault(connection, vault).await?;
        let more = Stored::of_version(is_first, bytes);
        self.quotas.check(held, more)?;
        self.known_usage.0.insert(vault.clone(), (held.with(more), since));
        Ok(())
    }

    /// Merges the rows of the vaults with many rows, of `batch` vaults at once, and returns the number of vaults. Vaults for which
    /// it fails are skipped.
    ///
    /// # Errors
    /// Database errors.
    pub async fn sum_up_stored(&self, batch: i64) -> Result<u64, StorageError> {
        let (mut failing, mut summed) = (FailingVaults::new("stored"), 0);
        while failing.goes_on(summed) {
            let vaults = sqlx::query_scalar!(
                "SELECT vault_id FROM vault_storage WHERE vault_id <> ALL ($3)
                 GROUP BY vault_id HAVING count(*) > $1
                 ORDER BY vault_id
                 LIMIT $2",
                MANY_ROWS,
                batch,
                &failing.waiting(),
            )
            .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            for vault in &vaults {
                let change_id = self.clock.new_id().to_string();
                // A concurrent run waits for the rows and then finds them deleted.
                let sum_up = || {
                    sqlx::query!(
                        "WITH gone AS (
                     DELETE FROM vault_storage WHERE vault_id = $1 RETURNING memories, bytes
                 )
                 INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
                 SELECT $1, $2, sum(memories), sum(bytes) FROM gone HAVING count(*) > 0",
                        vault.as_str(),
                        change_id,
                    )
                };
                let done = self
                    .execute(Class::Sweep, "db.vault_storage.sum_up", sum_up)
                    .await;
                summed += u64::from(failing.pass_over(vault, done)?.is_some());
            }
        }
        Ok(summed)
    }
}

/// The storage usage of a vault: the sum of its rows.
async fn of_vault(connection: &mut Connection, vault: &VaultId) -> Result<Stored, StorageError> {
    let stored = sqlx::query_as!(
            Stored,
            r#"SELECT COALESCE(sum(memories), 0)::bigint AS "memories!", COALESCE(sum(bytes), 0)::bigint AS "bytes!"
               FROM vault_storage WHERE vault_id = $1"#,
            vault.as_str(),
        )
        .fetch_one(connection)
        .await?;
    Ok(stored)
}

/// The storage usage of a memory while its row is locked.
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

/// Records the difference of a transaction. `change_id` is the id of its event.
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

/// The storage usage of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stored {
    /// Number of memories.
    pub memories: i64,
    /// Bytes of the texts of all versions.
    pub bytes: i64,
}

impl Stored {
    /// What a version adds.
    fn of_version(is_first: bool, bytes: usize) -> Self {
        Self {
            memories: i64::from(is_first),
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        }
    }

    fn with(self, more: Self) -> Self {
        Self {
            memories: self.memories.saturating_add(more.memories),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }
}

/// The storage quotas of a vault; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quotas {
    /// `limits.vault_memories`.
    pub memories: Option<u64>,
    /// `limits.vault_bytes`.
    pub bytes: Option<u64>,
}

/// A quota that a write would exceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vault has {held} {what} of at most {limit} ({setting}); this would make it {wanted}")]
pub struct OverQuota {
    /// `memories` or `bytes of texts`.
    pub what: &'static str,
    /// The name of the limit in the configuration.
    pub setting: &'static str,
    /// The limit.
    pub limit: u64,
    /// The current usage.
    pub held: u64,
    /// The usage after the write.
    pub wanted: u64,
}

impl Quotas {
    fn check(&self, held: Stored, more: Stored) -> Result<(), OverQuota> {
        let memories = ("memories", "limits.vault_memories", self.memories);
        let bytes = ("bytes of texts", "limits.vault_bytes", self.bytes);
        check_one(memories, held.memories, more.memories)?;
        check_one(bytes, held.bytes, more.bytes)
    }
}

/// Checks a quota, with what it counts and its setting.
fn check_one(
    (what, setting, limit): (&'static str, &'static str, Option<u64>),
    held: i64,
    more: i64,
) -> Result<(), OverQuota> {
    let held = held.max(0).unsigned_abs();
    let wanted = held.saturating_add_signed(more);
    match limit {
        Some(limit) if more > 0 && wanted > limit => Err(OverQuota {
            what,
            setting,
            limit,
            held,
            wanted,
        }),
        _ => Ok(()),
    }
}
