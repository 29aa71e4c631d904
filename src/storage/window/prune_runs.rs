//! Retention of runs: deletes old finished runs as configured.

use crate::domain::ids::VaultId;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::{DateTime, Utc};

/// Runs deleted in one transaction.
const RUNS_AT_ONCE: i64 = 500;

impl Storage {
    /// Deletes all runs that ended before `before`, and returns their number. Waiting proposals stay, since they expire
    /// on their own. May run on any number of instances at the same time, and may be interrupted and repeated.
    ///
    /// # Errors
    /// Database errors, if it does not answer; runs deleted before stay deleted. A vault for which a statement fails is
    /// skipped.
    #[tracing::instrument(name = "db.updates.prune", skip_all)]
    pub async fn prune_runs(&self, before: DateTime<Utc>) -> Result<u64, StorageError> {
        let mut pruned = 0;
        let mut failing = FailingVaults::new("runs");
        let mut last = None;
        while let Some(vault) = self.next_vault_with_runs(last.as_ref()).await? {
            let done = self.prune_runs_of(&vault, before).await;
            pruned += failing.pass_over(vault.as_str(), done)?.unwrap_or_default();
            last = Some(vault);
        }
        Ok(pruned)
    }

    /// The next vault after `after` that has runs. A single index step over all vaults.
    async fn next_vault_with_runs(&self, after: Option<&VaultId>) -> Result<Option<VaultId>, StorageError> {
        Ok(sqlx::query_scalar!(
            "SELECT vault_id FROM updates
             WHERE vault_id > $1
             ORDER BY vault_id
             LIMIT 1",
            after.map_or("", VaultId::as_str),
        )
        .fetch_optional(&mut self.reader_for(Class::Maintenance).await?)
        .await?)
    }

    async fn prune_runs_of(&self, vault: &VaultId, before: DateTime<Utc>) -> Result<u64, StorageError> {
        let delete = || {
            sqlx::query!(
                "DELETE FROM updates
                     WHERE vault_id = $1 AND (memory_id, update_id) IN (
                               SELECT memory_id, update_id FROM updates
                               WHERE vault_id = $1 AND finished_at < $2 AND status <> 'proposed'
                               ORDER BY finished_at
                               LIMIT $3
                           )",
                vault.as_str(),
                before,
                RUNS_AT_ONCE,
            )
        };
        let mut pruned = 0;
        loop {
            let deleted = self.execute(Class::Sweep, "db.updates.prune", delete).await?;
            pruned += deleted;
            // Also if another instance was faster; the next run handles the rest.
            if deleted < RUNS_AT_ONCE.unsigned_abs() {
                return Ok(pruned);
            }
        }
    }
}
