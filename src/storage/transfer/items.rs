//! `prompt_items`: the row, the line, and the statements of export and import.

use super::line::{Fault, fault, id, json, order, text, time};
use crate::domain::ids::{ActorId, Category, ItemId, VaultId};
use crate::domain::prompt::check_writable;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The memory id of a vault's own items.
pub(super) const OF_VAULT: &str = "";

/// A prompt item without its owner, which is the surrounding memory or the vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemLine {
    pub(super) item_id: String,
    pub(super) category: String,
    pub(super) content: String,
    pub(super) metadata: Value,
    pub(super) expires_at: Option<DateTime<Utc>>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) created_by: String,
}

impl ItemLine {
    /// Validates the line by itself.
    pub(super) fn check(&self, max_bytes: usize) -> Result<(), Fault> {
        id::<ItemId>("item_id", &self.item_id)?;
        let category = id::<Category>("category", &self.category)?;
        check_writable(&category).map_err(|reserved| fault("category", &reserved))?;
        let blank = self.content.chars().all(|c| c.is_whitespace() || c == '\u{feff}');
        order("content", !blank, "a text that is not blank")?;
        let fits = self.content.len() <= max_bytes;
        order("content", fits, &format!("at most {max_bytes} bytes"))?;
        text("content", &self.content)?;
        order("metadata", self.metadata.is_object(), "an object")?;
        json("metadata", &self.metadata)?;
        self.expires_at.map_or(Ok(()), |at| time("expires_at", at))?;
        time("created_at", self.created_at)?;
        id::<ActorId>("created_by", &self.created_by)?;
        Ok(())
    }
}

/// The items of a memory, or of [`OF_VAULT`], by id, as a stream.
pub(super) fn read<'c>(
    connection: &'c mut Connection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<ItemLine, StorageError>> {
    let rows = sqlx::query_as!(
        ItemLine,
        r#"SELECT item_id AS "item_id: String", category AS "category: String", content, metadata, expires_at, created_at,
                  created_by AS "created_by: String"
           FROM prompt_items
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY item_id"#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from))
}

/// What exists of a memory that has no document in the file.
pub(super) struct Met {
    /// Whether it has a document or any item.
    pub(super) is_there: bool,
    /// Whether one of its items is as old as the newest of the file, which means that the file was imported before.
    pub(super) has_newest: bool,
}

/// Checks what exists of a memory whose newest item in the file was added at `newest`.
#[tracing::instrument(name = "db.prompt_items.import_owner", skip_all)]
pub(super) async fn met(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &str,
    newest: DateTime<Utc>,
) -> Result<Met, StorageError> {
    let met = sqlx::query_as!(
        Met,
        r#"SELECT EXISTS (SELECT 1 FROM memories WHERE vault_id = $1 AND memory_id = $2) AS "is_there!",
                  EXISTS (SELECT 1 FROM prompt_items
                          WHERE vault_id = $1 AND memory_id = $2 AND created_at = $3) AS "has_newest!""#,
        vault.as_str(),
        memory,
        newest,
    )
    .fetch_one(connection)
    .await?;
    Ok(met)
}

/// Stores an item of an existing memory or of the vault unchanged, unless the id exists.
#[tracing::instrument(name = "db.prompt_items.import", skip_all)]
pub(super) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &str,
    line: &ItemLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO prompt_items (vault_id, memory_id, item_id, category, content, metadata, expires_at,
                                   created_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (vault_id, memory_id, item_id) DO NOTHING",
        vault.as_str(),
        memory,
        line.item_id,
        line.category,
        line.content,
        line.metadata,
        line.expires_at,
        line.created_at,
        line.created_by,
    )
    .execute(connection)
    .await?;
    Ok(())
}
