//! Retention: prunes old versions and finished runs as configured.

use super::Candidate;
use crate::config::retention::RetentionConfig;
use crate::domain::ids::{ContextId, VaultId};
use crate::storage::write::lock_memory;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::{DateTime, Utc};

/// Versions deleted in one transaction, so that a writer never waits long for the memory's row.
const VERSIONS_AT_ONCE: i64 = 500;

impl Storage {
    /// Prunes the versions of all memories that `retention` does not keep at `now`, and returns their number. Version
    /// numbers are not reused: the numbers of the remaining versions have gaps at the old end.
    ///
    /// May run on any number of instances at the same time, and may be interrupted and repeated: it goes memory by
    /// memory, in short transactions, and deletes each version by its key.
    ///
    /// # Errors
    /// Database errors, if it does not answer; versions pruned before stay pruned. A vault for which a statement fails
    /// is skipped.
    pub async fn prune_versions(
        &self,
        retention: &RetentionConfig,
        now: DateTime<Utc>,
    ) -> Result<u64, StorageError> {
        let mut pruned = 0;
        let mut failing = FailingVaults::new("retention");
        let least = match (retention.max_versions, retention.max_age) {
            (Some(versions), None) => versions.into(),
            _ => 1,
        };
        let mut last = None;
        loop {
            let mut page = self.candidates(last.as_ref(), (None, None), least).await?;
            for candidate in &page {
                let vault = candidate.vault_id.as_str();
                if !failing.waits(vault) {
                    let done = self.prune_memory(retention, candidate, now).await;
                    pruned += failing.pass_over(vault, done)?.unwrap_or_default();
                }
            }
            last = page.pop();
            if last.is_none() {
                return Ok(pruned);
            }
        }
    }

    async fn prune_memory(
        &self,
        retention: &RetentionConfig,
        candidate: &Candidate,
        now: DateTime<Utc>,
    ) -> Result<u64, StorageError> {
        let by_number = retention.max_versions.map_or(1, |versions| {
            candidate.head_version.saturating_sub(versions.into()) + 1
        });
        let cutoff = retention.max_age.map(|age| now - age);
        let mut pruned = 0;
        loop {
            // Checked without a lock: mostly there is nothing to do, and writers should not wait for that.
            let contexts = sqlx::query_scalar!(
                "SELECT context_id FROM memory_contexts AS old
                 WHERE old.vault_id = $1 AND old.memory_id = $2 AND old.version < $3
                   AND (old.version < $4 OR old.version < (
                            SELECT max(newest.version) FROM memory_contexts AS newest
                            WHERE newest.vault_id = $1 AND newest.memory_id = $2
                              AND newest.creation_time <= $5::timestamptz))
                   AND (NOT $6 OR NOT EXISTS (
                            SELECT 1 FROM records
                            WHERE records.vault_id = $1 AND records.memory_id = $2
                              AND records.status = 'active' AND records.created_version = old.version))
                 ORDER BY old.version
                 LIMIT $7",
                candidate.vault_id.as_str(),
                candidate.memory_id.as_str(),
                candidate.head_version,
                by_number,
                cutoff,
                retention.keep_provenance,
                VERSIONS_AT_ONCE,
            )
            .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            if contexts.is_empty() {
                return Ok(pruned);
            }
            let deleted = self.delete_versions(retention, candidate, &contexts).await?;
            pruned += deleted;
            if deleted == 0 {
                // Another instance was faster, or a record was restored; the next run handles the rest.
                return Ok(pruned);
            }
        }
    }

    async fn delete_versions(
        &self,
        retention: &RetentionConfig,
        candidate: &Candidate,
        contexts: &[ContextId],
    ) -> Result<u64, StorageError> {
        self.transaction_for(
            Class::Sweep,
            "db.memory_contexts.prune",
            |mut transaction| async move {
                let (vault, memory) = (&candidate.vault_id, &candidate.memory_id);
                // A restore makes an archived record active again: it must not happen between this check and the deletion.
                let Some(head) = lock_memory(&mut transaction, vault, memory).await? else {
                    return Ok((transaction.rollback().await?, 0));
                };
                let deleted = sqlx::query_scalar!(
                    r#"WITH gone AS (
                         DELETE FROM memory_contexts AS old
                         WHERE old.vault_id = $1 AND old.memory_id = $2 AND old.context_id = ANY ($3) AND old.version < $4
                       AND (NOT $5 OR NOT EXISTS (
                                SELECT 1 FROM records
                                WHERE records.vault_id = $1 AND records.memory_id = $2
                                  AND records.status = 'active' AND records.created_version = old.version))
                         RETURNING old.bytes, old.redacted_at
                       ), counted AS (
                         INSERT INTO vault_storage (vault_id, change_id, memories, bytes)
                         SELECT $1, $6, 0, -sum(bytes) FROM gone WHERE redacted_at IS NULL HAVING count(*) > 0
                       )
                       SELECT count(*) AS "deleted!" FROM gone"#,
                    candidate.vault_id.as_str(),
                    candidate.memory_id.as_str(),
                    contexts as &[ContextId],
                    head.version,
                    retention.keep_provenance,
                    self.clock.new_id().to_string(),
                )
                .fetch_one(&mut transaction)
                .await?;
                Ok((transaction, u64::try_from(deleted).unwrap_or_default()))
            },
        )
        .await
    }
}

/// Runs deleted in one transaction.
const RUNS_AT_ONCE: i64 = 500;

impl Storage {
    /// Deletes all runs that ended before `before`, and returns their number. Waiting proposals stay, since they expire
    /// on their own. May run on any number of instances at the same time, and may be interrupted and repeated.
    ///
    /// # Errors
    /// Database errors, if it does not answer; runs deleted before stay deleted. A vault for which a statement fails is
    /// skipped.
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
