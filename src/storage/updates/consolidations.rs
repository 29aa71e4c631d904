//! Consolidations of memories: when one is due, which proposal a new one replaces, and which records have expired.

use super::run::{Run, RunStatus};
use crate::domain::document::{Marks, Until};
use crate::domain::ids::{MemoryId, RecordId, RecordKind, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::{Class, Storage, StorageError};
use serde_json::json;

/// A record that has an end, over all vaults.
pub type Ending = (VaultId, MemoryId, RecordId);

/// What decides whether a memory is to be consolidated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConsolidationState {
    /// Records that were added after the version that the last consolidation began with, and that are active.
    pub new_records: i64,
    /// The size of the newest version in bytes.
    pub bytes: i64,
}

impl Storage {
    /// What decides whether a memory is to be consolidated. Runs that failed or were cancelled do not count.
    ///
    /// # Errors
    /// Database errors.
    pub async fn consolidation_state(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<ConsolidationState, StorageError> {
        let state = sqlx::query_as!(
            ConsolidationState,
            r#"WITH runs AS (
                   SELECT COALESCE(max(base_version) FILTER (WHERE status NOT IN ('failed', 'cancelled', 'conflict')), 0) AS last
                   FROM updates
                   WHERE vault_id = $1 AND memory_id = $2 AND kind = 'consolidation'
               )
               SELECT (SELECT count(*) FROM records
                       WHERE vault_id = $1 AND memory_id = $2 AND status = 'active' AND created_version > runs.last)
                          AS "new_records!",
                      COALESCE((SELECT head.bytes FROM memories AS memory
                                JOIN memory_contexts AS head
                                  ON head.vault_id = $1 AND head.memory_id = $2 AND head.context_id = memory.head_context_id
                                WHERE memory.vault_id = $1 AND memory.memory_id = $2), 0)::bigint AS "bytes!"
               FROM runs"#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_one(&mut self.primary_reader(Class::Sweep).await?)
        .await?;
        Ok(state)
    }

    /// How many proposals of a memory wait for a decision.
    ///
    /// # Errors
    /// Database errors.
    pub async fn open_proposals(&self, vault: &VaultId, memory: &MemoryId) -> Result<i64, StorageError> {
        let open = sqlx::query_scalar!(
            r#"SELECT count(*) AS "open!" FROM updates
               WHERE vault_id = $1 AND memory_id = $2 AND status = 'proposed'"#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(open)
    }

    /// A page of the active records over all vaults that have an end and are not pinned, after `after`, with their ends.
    ///
    /// # Errors
    /// Database errors.
    pub async fn ending_records(
        &self,
        after: Option<&Ending>,
        limit: i64,
    ) -> Result<Vec<(Ending, Option<Until>)>, StorageError> {
        let (vault, memory, id) = match after {
            Some((vault, memory, id)) => (vault.as_str(), memory.as_str(), Some(id)),
            None => ("", "", None),
        };
        // Rare read over all vaults, in an index of the few records with marks.
        let rows = sqlx::query!(
            r#"SELECT vault_id AS "vault_id: VaultId", memory_id AS "memory_id: MemoryId", kind AS "kind: RecordKind", number,
                      marks AS "marks!"
               FROM records
               WHERE marks IS NOT NULL AND status = 'active' AND marks LIKE 'until%'
                 AND (vault_id, memory_id, kind, number) > ($1, $2, $3, $4)
               ORDER BY vault_id, memory_id, kind, number
               LIMIT $5"#,
            vault,
            memory,
            id.map_or("", |id| id.kind.prefix()),
            id.map_or(0, |id| id.number),
            limit,
        )
        .fetch_all(&mut self.primary_reader(Class::Sweep).await?)
        .await?;
        let row = rows.into_iter().map(|row| {
            let id = RecordId::new(row.kind, row.number);
            // What cannot be read is no end: such a text is none that this service wrote.
            let marks = row.marks.parse::<Marks>().unwrap_or_default();
            ((row.vault_id, row.memory_id, id), marks.until)
        });
        Ok(row.collect())
    }

    /// Ends the older proposals of the same kind when a new one is stored: they were made of an older state.
    pub(super) async fn replace_proposals(
        &self,
        connection: &mut Connection,
        run: &Run,
    ) -> Result<Vec<NewEvent>, StorageError> {
        let now = self.clock.now();
        let review = json!({"review": {
            "decision": RunStatus::Rejected.name(),
            "by": run.actor_id.as_str(),
            "at": now,
            "reason": format!("replaced by the newer proposal {}", run.update_id),
        }});
        let replaced = sqlx::query_scalar!(
            r#"UPDATE updates SET status = 'rejected', outcome = outcome || $5, finished_at = $6
               WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND status = 'proposed' AND update_id <> $4
               RETURNING update_id AS "update_id: UpdateId""#,
            run.vault_id.as_str(),
            run.memory_id.as_str(),
            run.kind.name(),
            run.update_id.as_str(),
            review,
            now,
        )
        .fetch_all(connection)
        .await?;
        let event = |update_id| NewEvent {
            update_id: Some(update_id),
            actor: Some(run.actor_id.clone()),
            ..self.event(&run.memory_id, EventKind::Rejected)
        };
        Ok(replaced.into_iter().map(event).collect())
    }
}
