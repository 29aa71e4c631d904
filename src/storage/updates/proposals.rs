//! Proposals: runs that wait for approval. They are listed over all memories of a vault, decided once, and expire.

use crate::domain::ids::{ContextId, MAX_ID_BYTES, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::pages::{Reading, Rows};
use crate::storage::updates::insert::redacted_json;
use crate::storage::updates::run::{Run, RunStatus};
use crate::storage::updates::run_rows;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::{DateTime, Utc};

/// The start of a page of a vault's runs: after this run of this memory.
pub type VaultRunKey = (UpdateId, MemoryId);

impl Storage {
    /// Lists the runs of a vault that are older than `before`, newest first, at most `limit`, optionally of one status.
    /// Exchanges and messages are omitted because they may be large.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_vault_runs(
        &self,
        vault: &VaultId,
        status: Option<RunStatus>,
        before: Option<&VaultRunKey>,
        limit: i64,
    ) -> Result<Rows<Run>, StorageError> {
        // Longer than any id: the first page begins after all of them.
        let last = "z".repeat(MAX_ID_BYTES + 1);
        let mut page = Reading::new(limit, 2);
        while let Some(batch) = page.next() {
            let position = |run: &Run| (run.update_id.clone(), run.memory_id.clone());
            let before = page.items.last().map(position).or_else(|| before.cloned());
            let (update, memory) = before.as_ref().map_or((&*last, ""), |(update, memory)| {
                (update.as_str(), memory.as_str())
            });
            let rows = run_rows!(
                "request - 'messages'",
                r#"'null'::jsonb AS "exchanges!", NULL::jsonb AS instructions, NULL::text AS shown"#,
                "WHERE vault_id = $1 AND ($2::text IS NULL OR status = $2) AND (update_id, memory_id) < ($3, $4)
                 ORDER BY update_id DESC, memory_id DESC
                 LIMIT $5",
                vault.as_str(),
                status.map(RunStatus::name),
                update,
                memory,
                batch,
            )
            .fetch_all(&mut self.reader().await?)
            .await?;
            let runs: Result<Vec<Run>, _> = rows.into_iter().map(Run::try_from).collect();
            page.add(runs?, Run::size);
        }
        Ok(page.rows())
    }

    /// Whether a run was a proposal, even if it was deleted; known as long as events are retained.
    ///
    /// # Errors
    /// Database errors.
    pub async fn was_proposed(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<bool, StorageError> {
        let known = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                   SELECT 1 FROM events
                   WHERE vault_id = $1 AND update_id = $2 AND memory_id = $3 AND kind = 'proposed'
               ) AS "known!""#,
            vault.as_str(),
            id.as_str(),
            memory.as_str(),
        )
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(known)
    }

    /// Expires the proposals that have waited since before `before`, as many as `batch` at once, and returns their number.
    /// May run on any number of instances at the same time. Vaults for which it fails are skipped.
    ///
    /// # Errors
    /// Database errors.
    pub async fn expire_proposals(&self, before: DateTime<Utc>, batch: i64) -> Result<u64, StorageError> {
        let (mut failing, mut expired) = (FailingVaults::new("proposals"), 0);
        while failing.goes_on(expired) {
            // Rare read over all vaults, in a small index; the change then goes vault by vault.
            let old = sqlx::query!(
                r#"SELECT vault_id AS "vault_id: VaultId", array_agg(memory_id) AS "memories!", array_agg(update_id) AS "updates!"
                   FROM (SELECT vault_id, memory_id, update_id FROM updates
                         WHERE status = 'proposed' AND finished_at <= $1 AND vault_id <> ALL ($3)
                         LIMIT $2) AS old
                   GROUP BY vault_id"#,
                before,
                batch,
                &failing.waiting(),
            )
            .fetch_all(&mut self.reader().await?)
            .await?;
            for of_vault in old {
                let vault = of_vault.vault_id.as_str();
                let expire = || {
                    sqlx::query!(
                        "UPDATE updates SET status = 'expired', finished_at = $5
                         WHERE vault_id = $1 AND status = 'proposed' AND finished_at <= $2
                           AND (memory_id, update_id) IN (SELECT * FROM unnest($3::text[], $4::text[]))",
                        vault,
                        before,
                        &of_vault.memories,
                        &of_vault.updates,
                        self.clock.now(),
                    )
                };
                let done = self.execute(Class::Sweep, "db.updates.expire", expire).await;
                expired += failing.pass_over(vault, done)?.unwrap_or_default();
            }
        }
        Ok(expired)
    }
}

/// Ends a proposal with the status of `run`, inside the transaction that carries out the decision. Of several
/// concurrent decisions one succeeds; none does after a quoted text was redacted.
pub(in crate::storage) async fn decide(connection: &mut Connection, run: &Run) -> Result<(), StorageError> {
    let (version, context_id) = (run.version, run.context_id.as_ref().map(ContextId::as_str));
    let done = sqlx::query!(
        "UPDATE updates SET status = $4, version = $5, context_id = $6, outcome = $7, finished_at = $9
         WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status = 'proposed' AND request <> $8",
        run.vault_id.as_str(),
        run.memory_id.as_str(),
        run.update_id.as_str(),
        run.status.name(),
        version,
        context_id,
        run.outcome,
        redacted_json(),
        run.finished_at,
    )
    .execute(connection)
    .await?;
    match done.rows_affected() {
        1 => Ok(()),
        _ => Err(StorageError::AlreadyDecided(run.update_id.clone())),
    }
}
