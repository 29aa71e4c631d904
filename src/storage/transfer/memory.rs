//! `memories`: the row, the line, and the statements of export and import.

use super::line::{Fault, id, order, time};
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::memory::Counters;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Memories on one page of ids.
const PAGE: i64 = 1_000;

/// A memory without its vault, which the file's header or the caller specifies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryLine {
    pub(super) memory_id: String,
    pub(super) head_version: i64,
    pub(super) head_context_id: Option<String>,
    pub(super) learning_counter: i64,
    pub(super) verbatim_counter: i64,
    pub(super) task_counter: i64,
    pub(super) decision_counter: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) changed_at: DateTime<Utc>,
}

impl MemoryLine {
    /// Validates the line by itself, and returns the ids; the version's is `None` without a document.
    pub(super) fn check(&self) -> Result<(MemoryId, Option<ContextId>), Fault> {
        order("head_version", self.head_version >= 0, "0 or more")?;
        for (field, counter) in [
            ("learning_counter", self.learning_counter),
            ("verbatim_counter", self.verbatim_counter),
            ("task_counter", self.task_counter),
            ("decision_counter", self.decision_counter),
        ] {
            order(field, counter >= 0, "0 or more")?;
        }
        time("created_at", self.created_at)?;
        time("changed_at", self.changed_at)?;
        let memory = id("memory_id", &self.memory_id)?;
        let Some(head) = self.head_context_id.as_deref() else {
            order(
                "head_context_id",
                self.head_version == 0,
                "the id of the newest version",
            )?;
            return Ok((memory, None));
        };
        order(
            "head_version",
            self.head_version >= 1,
            "1 or more where there is a version",
        )?;
        Ok((memory, Some(id("head_context_id", head)?)))
    }

    pub(super) fn counters(&self) -> Counters {
        Counters::of_numbers(&[
            self.learning_counter,
            self.verbatim_counter,
            self.task_counter,
            self.decision_counter,
        ])
    }
}

/// A page of ids of memories after `after`, sorted by bytes whatever the database's collation is, because the file must not
/// depend on it. Empty after the last one.
#[tracing::instrument(name = "db.memories.export_ids", skip_all)]
pub(super) async fn page(
    connection: &mut Connection,
    vault: &VaultId,
    after: Option<&str>,
) -> Result<Vec<String>, StorageError> {
    let ids = sqlx::query_scalar!(
        r#"SELECT memory_id AS "memory_id: String" FROM memories
           WHERE vault_id = $1 AND memory_id COLLATE "C" > $2
           ORDER BY memory_id COLLATE "C"
           LIMIT $3"#,
        vault.as_str(),
        after.unwrap_or_default(),
        PAGE,
    )
    .fetch_all(connection)
    .await?;
    Ok(ids)
}

/// Makes all further statements of the transaction see one snapshot.
pub(super) async fn take_snapshot(connection: &mut Connection) -> Result<(), StorageError> {
    sqlx::raw_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .execute(connection)
        .await?;
    Ok(())
}

/// One memory. One without a document was created and changed when the oldest and the newest of its items were, the same as
/// after an import; `None` if it has no unexpired item.
#[tracing::instrument(name = "db.memories.export", skip_all)]
pub(super) async fn read(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &str,
    now: DateTime<Utc>,
) -> Result<Option<MemoryLine>, StorageError> {
    let line = sqlx::query_as!(
        MemoryLine,
        r#"SELECT memory_id AS "memory_id: String", head_version, head_context_id AS "head_context_id: String",
                  COALESCE(counters[1], 0) AS "learning_counter!", COALESCE(counters[2], 0) AS "verbatim_counter!",
                  COALESCE(counters[3], 0) AS "task_counter!", COALESCE(counters[4], 0) AS "decision_counter!",
                  COALESCE(items.created_at, memories.created_at) AS "created_at!",
                  COALESCE(items.changed_at, memories.changed_at) AS "changed_at!"
           FROM memories
           LEFT JOIN LATERAL (
               SELECT min(item.created_at) AS created_at, max(item.created_at) AS changed_at
               FROM prompt_items AS item
               WHERE memories.head_version = 0 AND item.vault_id = $1 AND item.memory_id = $2
               HAVING bool_or(item.expires_at IS NULL OR item.expires_at > $3)
           ) AS items ON true
           WHERE vault_id = $1 AND memory_id = $2 AND (head_version > 0 OR items.created_at IS NOT NULL)"#,
        vault.as_str(),
        memory,
        now,
    )
    .fetch_optional(connection)
    .await?;
    Ok(line)
}

/// Makes a memory's row and locks it until the transaction ends. `false` if it has a document.
#[tracing::instrument(name = "db.memories.import", skip_all)]
pub(super) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    line: &MemoryLine,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, counters, created_at, changed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (vault_id, memory_id) DO UPDATE
         SET head_version = excluded.head_version, head_context_id = excluded.head_context_id, counters = excluded.counters,
             created_at = excluded.created_at, changed_at = excluded.changed_at
         WHERE memories.head_version = 0",
        vault.as_str(),
        line.memory_id,
        line.head_version,
        line.head_context_id,
        &line.counters().numbers(),
        line.created_at,
        line.changed_at,
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
