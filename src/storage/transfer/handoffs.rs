//! `handoffs`: the row, the line, and the statements of export and import.

use super::line::{Fault, fault, id, json, order, text, time};
use crate::domain::handoff::{CitedLine, Window};
use crate::domain::ids::{ActorId, ContextId, HandoffId, MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A handoff of the surrounding memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HandoffLine {
    pub(super) handoff_id: String,
    pub(super) number: i64,
    pub(super) generated_at: DateTime<Utc>,
    pub(super) generated_by: String,
    pub(super) window_seconds: i64,
    pub(super) base_version: i64,
    pub(super) base_context_id: String,
    pub(super) base_time: DateTime<Utc>,
    pub(super) markdown: String,
    pub(super) manifest: Value,
    pub(super) citations: Value,
}

impl HandoffLine {
    /// Validates the line by itself.
    pub(super) fn check(&self, head_version: i64) -> Result<(), Fault> {
        id::<HandoffId>("handoff_id", &self.handoff_id)?;
        order("number", self.number > 0, "over 0")?;
        time("generated_at", self.generated_at)?;
        id::<ActorId>("generated_by", &self.generated_by)?;
        Window::of_seconds(self.window_seconds).map_err(|problem| fault("window_seconds", &problem))?;
        let versions = 1..=head_version;
        order(
            "base_version",
            versions.contains(&self.base_version),
            "a version of the memory",
        )?;
        id::<ContextId>("base_context_id", &self.base_context_id)?;
        time("base_time", self.base_time)?;
        text("markdown", &self.markdown)?;
        order("manifest", self.manifest.is_object(), "an object")?;
        json("manifest", &self.manifest)?;
        json("citations", &self.citations)?;
        Vec::<CitedLine>::deserialize(&self.citations)
            .map(|_| ())
            .map_err(|problem| fault("citations", &problem))
    }
}

/// The handoffs of a memory by number, as a stream.
pub(super) fn read<'c>(
    connection: &'c mut Connection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<HandoffLine, StorageError>> {
    let rows = sqlx::query_as!(
        HandoffLine,
        r#"SELECT handoff_id AS "handoff_id: String", number, generated_at, generated_by AS "generated_by: String",
                  window_seconds AS "window_seconds: i64", base_version, base_context_id AS "base_context_id: String",
                  base_time, markdown, manifest, citations
           FROM handoffs
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY number"#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from))
}

/// Stores a handoff unchanged.
#[tracing::instrument(name = "db.handoffs.import", skip_all)]
pub(super) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &HandoffLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO handoffs (vault_id, memory_id, handoff_id, number, generated_at, generated_by, window_seconds,
                               base_version, base_context_id, base_time, markdown, manifest, citations)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        vault.as_str(),
        memory.as_str(),
        line.handoff_id,
        line.number,
        line.generated_at,
        line.generated_by,
        line.window_seconds,
        line.base_version,
        line.base_context_id,
        line.base_time,
        line.markdown,
        line.manifest,
        line.citations,
    )
    .execute(connection)
    .await?;
    Ok(())
}
