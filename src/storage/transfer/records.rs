//! `records`: the row, the line, and the statements of both ways.

use super::check::{Fault, id, known, order, text, time};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use crate::storage::StorageError;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

/// A record with its present state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine {
    pub(super) kind: String,
    pub(super) number: i64,
    pub(super) status: String,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: String,
    pub(super) created_version: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) created_by: String,
    pub(super) ended_version: Option<i64>,
    pub(super) ended_at: Option<DateTime<Utc>>,
    pub(super) ended_by: Option<String>,
    pub(super) archive_reason: Option<String>,
    pub(super) superseded_by: Option<String>,
}

impl RecordLine {
    /// Checks what one line alone must fulfil, and gives the id. What the documents decide is not looked at:
    /// [`RecordLine::differs_from`] does that.
    pub(super) fn check(&self) -> Result<RecordId, Fault> {
        let kind = known("kind", &self.kind, RecordKind::from_prefix(&self.kind))?;
        order("number", self.number >= 1, "1 or more")?;
        id::<ActorId>("created_by", &self.created_by)?;
        time("created_at", self.created_at)?;
        if let Some(at) = self.ended_at {
            time("ended_at", at)?;
        }
        let active = self.status == "active";
        order(
            "status",
            active || self.status == "archived",
            "active or archived",
        )?;
        if let Some(reason) = &self.archive_reason {
            order("archive_reason", !active, "null while the record is active")?;
            text("archive_reason", reason)?;
        }
        if let Some(by) = &self.superseded_by {
            order("superseded_by", !active, "null while the record is active")?;
            id::<RecordId>("superseded_by", by)?;
        }
        Ok(RecordId::new(kind, self.number))
    }

    /// The first column in which the documents say something else, of those that the documents decide.
    pub(super) fn differs_from(&self, made: &Self) -> Option<&'static str> {
        [
            ("status", self.status == made.status),
            ("label", self.label == made.label),
            ("reason", self.reason == made.reason),
            ("content", self.content == made.content),
            ("created_version", self.created_version == made.created_version),
            ("created_at", self.created_at == made.created_at),
            ("created_by", self.created_by == made.created_by),
            ("ended_version", self.ended_version == made.ended_version),
            ("ended_at", self.ended_at == made.ended_at),
            ("ended_by", self.ended_by == made.ended_by),
        ]
        .into_iter()
        .find_map(|(column, same)| (!same).then_some(column))
    }

    /// Whether it knows anything that the documents do not say.
    pub(super) fn knows_more(&self) -> bool {
        self.archive_reason.is_some() || self.superseded_by.is_some()
    }
}

/// The records of a memory by kind and number, as the database sends them.
pub(super) fn read<'c>(
    connection: &'c mut PgConnection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<RecordLine, StorageError>> {
    let rows = sqlx::query_as!(
        RecordLine,
        r#"SELECT kind, number, status, label, reason, content, created_version, created_at, created_by,
                  ended_version, ended_at, ended_by, archive_reason, superseded_by
           FROM records
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY kind COLLATE "C", number"#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from))
}

/// One record as it was made from the documents; `None` if they have no such record.
#[tracing::instrument(name = "db.records.import_made", skip_all)]
pub(super) async fn made(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    id: RecordId,
) -> Result<Option<RecordLine>, StorageError> {
    let line = sqlx::query_as!(
        RecordLine,
        "SELECT kind, number, status, label, reason, content, created_version, created_at, created_by,
                ended_version, ended_at, ended_by, archive_reason, superseded_by
         FROM records
         WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
        vault.as_str(),
        memory.as_str(),
        id.kind.prefix(),
        id.number,
    )
    .fetch_optional(connection)
    .await?;
    Ok(line)
}

/// Adds to a record what the documents do not say.
#[tracing::instrument(name = "db.records.import", skip_all)]
pub(super) async fn complete(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &RecordLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE records SET archive_reason = $5, superseded_by = $6
         WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
        vault.as_str(),
        memory.as_str(),
        line.kind,
        line.number,
        line.archive_reason,
        line.superseded_by,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// How many records the documents of a memory have.
#[tracing::instrument(name = "db.records.import_count", skip_all)]
pub(super) async fn count(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM records WHERE vault_id = $1 AND memory_id = $2"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_one(connection)
    .await?;
    Ok(count)
}
