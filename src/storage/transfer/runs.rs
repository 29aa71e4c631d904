//! `updates`: the row, the line, and the statements of export and import.

use super::line::{Fault, id, json, known, order, time};
use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::updates::exchanges::pack_whole;
use crate::storage::updates::outcomes;
use crate::storage::updates::{RunKind, RunStatus, unpacked_exchanges};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::future::ready;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run of the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunLine {
    pub(super) update_id: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) actor_id: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) finished_at: DateTime<Utc>,
    pub(super) base_version: i64,
    pub(super) version: Option<i64>,
    pub(super) context_id: Option<String>,
    pub(super) resolved_by: Option<String>,
    pub(super) request: Value,
    pub(super) exchanges: Value,
    pub(super) outcome: Value,
}

impl RunLine {
    /// Validates the line by itself.
    pub(super) fn check(&self) -> Result<(), Fault> {
        id::<UpdateId>("update_id", &self.update_id)?;
        known::<RunKind>("kind", &self.kind)?;
        let status = known::<RunStatus>("status", &self.status)?;
        order("status", status.is_final(), "that of a run that has ended")?;
        id::<ActorId>("actor_id", &self.actor_id)?;
        time("created_at", self.created_at)?;
        time("finished_at", self.finished_at)?;
        order("base_version", self.base_version >= 0, "0 or more")?;
        order(
            "version",
            self.version.is_none_or(|version| version >= 1),
            "1 or more",
        )?;
        let both = self.version.is_some() == self.context_id.is_some();
        order("context_id", both, "there exactly if version is")?;
        if let Some(context) = &self.context_id {
            id::<ContextId>("context_id", context)?;
        }
        let resolved = (status == RunStatus::Resolved) == self.resolved_by.is_some();
        order("resolved_by", resolved, "there exactly if status is resolved")?;
        if let Some(by) = &self.resolved_by {
            id::<UpdateId>("resolved_by", by)?;
        }
        json("request", &self.request)?;
        order("exchanges", self.exchanges.is_array(), "a list")?;
        json("exchanges", &self.exchanges)?;
        json("outcome", &self.outcome)
    }
}

/// The finished runs of a memory by id, as a stream. Queued runs are not exported: the exporting service runs them.
pub(super) fn read<'c>(
    connection: &'c mut Connection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<RunLine, StorageError>> {
    let rows = sqlx::query!(
        r#"SELECT update_id AS "update_id: String", kind AS "kind: String", status AS "status: String",
                  actor_id AS "actor_id: String", created_at, finished_at AS "finished_at!", base_version, version,
                  context_id AS "context_id: String", resolved_by AS "resolved_by: String", request, exchanges,
                  outcome,
                  (SELECT jsonb_object_agg(hash, text) FROM run_instructions
                   WHERE run_instructions.vault_id = $1 AND hash IN (
                             SELECT jsonb_path_query(updates.exchanges, '$.packed[*].system.instructions') #>> '{}'
                         )) AS instructions,
                  (SELECT context FROM memory_contexts
                   WHERE memory_contexts.vault_id = $1 AND memory_contexts.memory_id = $2
                     AND memory_contexts.version = (updates.exchanges ->> 'base')::bigint
                     AND redacted_at IS NULL) AS shown,
                  CASE WHEN outcome ? 'in_version' THEN (
                      SELECT jsonb_build_object('log', made.log, 'operations', made.operations, 'text', made.context,
                                                'before', before.context)
                      FROM memory_contexts AS made
                      LEFT JOIN memory_contexts AS before
                        ON before.vault_id = $1 AND before.memory_id = made.memory_id AND before.version = made.version - 1
                      WHERE made.vault_id = $1 AND made.memory_id = $2 AND made.version = updates.version
                  ) END AS made
           FROM updates
           WHERE vault_id = $1 AND memory_id = $2 AND finished_at IS NOT NULL
           ORDER BY update_id COLLATE "C""#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from).and_then(|row| {
        let instructions = row.instructions.unwrap_or_default();
        ready(
            unpacked_exchanges(
                &row.update_id,
                row.shown.as_deref(),
                &row.request,
                row.exchanges,
                &instructions,
            )
            .map(|exchanges| RunLine {
                update_id: row.update_id,
                kind: row.kind,
                status: row.status,
                actor_id: row.actor_id,
                created_at: row.created_at,
                finished_at: row.finished_at,
                base_version: row.base_version,
                version: row.version,
                context_id: row.context_id,
                resolved_by: row.resolved_by,
                request: row.request,
                exchanges,
                outcome: outcomes::unpack(row.outcome, row.version, row.made.as_ref()),
            }),
        )
    }))
}

/// Stores a run unchanged, unless the id exists. A memory may have runs before it exists.
#[tracing::instrument(name = "db.updates.import", skip_all)]
pub(super) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &RunLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at,
                              base_version, version, context_id, resolved_by, request, exchanges, outcome)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (vault_id, memory_id, update_id) DO NOTHING",
        vault.as_str(),
        memory.as_str(),
        line.update_id,
        line.kind,
        line.status,
        line.actor_id,
        line.created_at,
        line.finished_at,
        line.base_version,
        line.version,
        line.context_id,
        line.resolved_by,
        line.request,
        pack_whole(&line.request, &line.exchanges),
        line.outcome,
    )
    .execute(connection)
    .await?;
    Ok(())
}
