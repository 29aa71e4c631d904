//! `records`: the row, the line, and the statements of export and import.

use super::check::{Fault, id, json, known, order, text, time};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, TaskId, VaultId};
use crate::domain::window::TaskDetails;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A record with its current state.
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
    /// The time on its line, and the reported facts of a task. Files of older releases lack these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) epic: Option<String>,
    /// All other facts, including members that only a newer release knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Value>,
}

impl RecordLine {
    /// Validates the line by itself, and returns the id. What the documents decide is checked by
    /// [`RecordLine::differs_from`].
    pub(super) fn check(&self) -> Result<RecordId, Fault> {
        let kind = known::<RecordKind>("kind", &self.kind)?;
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
        if let Some(at) = self.written_at {
            time("written_at", at)?;
        }
        self.check_task(kind)?;
        Ok(RecordId::new(kind, self.number))
    }

    fn check_task(&self, kind: RecordKind) -> Result<(), Fault> {
        let reported = [
            self.task_id.is_some(),
            self.intent.is_some(),
            self.summary.is_some(),
            self.outcome.is_some(),
            self.epic.is_some(),
            self.details.is_some(),
        ];
        order(
            "intent",
            kind == RecordKind::Task || reported == [false; 6],
            "null on what is no task",
        )?;
        if let Some(task) = &self.task_id {
            id::<TaskId>("task_id", task)?;
        }
        for (name, value) in [
            ("intent", &self.intent),
            ("summary", &self.summary),
            ("epic", &self.epic),
        ] {
            text(name, value.as_deref().unwrap_or_default())?;
        }
        let details = self.details.as_ref();
        let is_known =
            details.is_none_or(|details| TaskDetails::deserialize(details).is_ok() && details.is_object());
        order("details", is_known, "an object of what is told of a task")?;
        json("details", details.unwrap_or(&Value::Null))?;
        json("outcome", self.outcome.as_ref().unwrap_or(&Value::Null))
    }

    /// Whether it was added directly to the archive, so that no document contains it.
    pub(super) fn is_in_no_document(&self) -> bool {
        self.status == "archived" && self.ended_version == Some(self.created_version)
    }

    /// The first column that differs, of those that the documents decide.
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

    /// Checks what the documents would decide if all of them were present.
    pub(super) fn check_alone(&self, head_version: i64) -> Result<(), Fault> {
        let versions = 1..=head_version;
        order(
            "created_version",
            versions.contains(&self.created_version),
            "a version of the memory",
        )?;
        let ends = [
            self.ended_version.is_some(),
            self.ended_at.is_some(),
            self.ended_by.is_some(),
        ];
        let ended = self.status == "archived";
        order(
            "ended_version",
            ends == [ended; 3],
            "there with ended_at and ended_by if archived, else null",
        )?;
        if let (Some(version), Some(by)) = (self.ended_version, &self.ended_by) {
            order(
                "ended_version",
                versions.contains(&version),
                "a version of the memory",
            )?;
            id::<ActorId>("ended_by", by)?;
        }
        for (name, value) in [("label", &self.label), ("reason", &self.reason)] {
            text(name, value.as_deref().unwrap_or_default())?;
        }
        text("content", &self.content)
    }

    /// Whether it contains anything that the documents do not.
    pub(super) fn knows_more(&self) -> bool {
        self.archive_reason.is_some()
            || self.superseded_by.is_some()
            || self.task_id.is_some()
            || self.intent.is_some()
            || self.written_at.is_some()
    }
}

/// The records of a memory by kind and number, as a stream.
pub(super) fn read<'c>(
    connection: &'c mut Connection,
    vault: &'c VaultId,
    memory: &'c str,
) -> BoxStream<'c, Result<RecordLine, StorageError>> {
    let rows = sqlx::query_as!(
        RecordLine,
        r#"SELECT kind AS "kind: String", number, status, label, reason, content, created_version, created_at,
                  created_by AS "created_by: String", ended_version, ended_at, ended_by AS "ended_by: String",
                  archive_reason, superseded_by AS "superseded_by: String", written_at, task_id AS "task_id: String",
                  intent, summary, outcome, epic, details AS "details: Value"
           FROM records
           WHERE vault_id = $1 AND memory_id = $2
           ORDER BY kind COLLATE "C", number"#,
        vault.as_str(),
        memory,
    )
    .fetch(connection);
    Box::pin(rows.map_err(StorageError::from))
}

/// A record as derived from the documents; `None` if they do not contain it.
#[tracing::instrument(name = "db.records.import_made", skip_all)]
pub(super) async fn made(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    id: RecordId,
) -> Result<Option<RecordLine>, StorageError> {
    let line = sqlx::query_as!(
        RecordLine,
        r#"SELECT kind AS "kind: String", number, status, label, reason, content, created_version, created_at,
                  created_by AS "created_by: String", ended_version, ended_at, ended_by AS "ended_by: String",
                  archive_reason, superseded_by AS "superseded_by: String", written_at, task_id AS "task_id: String",
                  intent, summary, outcome, epic, details AS "details: Value"
           FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4"#,
        vault.as_str(),
        memory.as_str(),
        id.kind.prefix(),
        id.number,
    )
    .fetch_optional(connection)
    .await?;
    Ok(line)
}

/// Adds to a record what the documents do not contain.
#[tracing::instrument(name = "db.records.import", skip_all)]
pub(super) async fn complete(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &RecordLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE records
         SET archive_reason = $5, superseded_by = $6, written_at = COALESCE($7, written_at), task_id = $8, intent = $9, summary = $10,
             outcome = $11, epic = $12, details = $13
         WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
        vault.as_str(),
        memory.as_str(),
        line.kind,
        line.number,
        line.archive_reason,
        line.superseded_by,
        line.written_at,
        line.task_id,
        line.intent,
        line.summary,
        line.outcome,
        line.epic,
        line.details,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The number of records derived from a memory's documents.
#[tracing::instrument(name = "db.records.import_count", skip_all)]
pub(super) async fn count(
    connection: &mut Connection,
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

/// An active record, as far as its document contains it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Active {
    pub(super) kind: String,
    pub(super) number: i64,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: String,
}

/// The active records of a memory by kind and number.
#[tracing::instrument(name = "db.records.import_active", skip_all)]
pub(super) async fn active(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Vec<Active>, StorageError> {
    let active = sqlx::query_as!(
        Active,
        r#"SELECT kind AS "kind: String", number, label, reason, content FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND status = 'active'
           ORDER BY kind COLLATE "C", number"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_all(connection)
    .await?;
    Ok(active)
}

/// Stores a record as in its line, whatever was derived from the documents.
#[tracing::instrument(name = "db.records.import_replace", skip_all)]
pub(super) async fn replace(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &RecordLine,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO records (vault_id, memory_id, kind, number, status, label, reason, content, created_version,
                              created_at, created_by, ended_version, ended_at, ended_by, archive_reason,
                              superseded_by, written_at, task_id, intent, summary, outcome, epic, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                 $23)
         ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
         SET status = excluded.status, label = excluded.label, reason = excluded.reason,
             content = excluded.content, created_version = excluded.created_version,
             created_at = excluded.created_at, created_by = excluded.created_by,
             ended_version = excluded.ended_version, ended_at = excluded.ended_at, ended_by = excluded.ended_by,
             archive_reason = excluded.archive_reason, superseded_by = excluded.superseded_by,
             written_at = excluded.written_at, task_id = excluded.task_id, intent = excluded.intent,
             summary = excluded.summary, outcome = excluded.outcome, epic = excluded.epic, details = excluded.details",
        vault.as_str(),
        memory.as_str(),
        line.kind,
        line.number,
        line.status,
        line.label,
        line.reason,
        line.content,
        line.created_version,
        line.created_at,
        line.created_by,
        line.ended_version,
        line.ended_at,
        line.ended_by,
        line.archive_reason,
        line.superseded_by,
        line.written_at,
        line.task_id,
        line.intent,
        line.summary,
        line.outcome,
        line.epic,
        line.details,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether another record of the memory has the same task id.
#[tracing::instrument(name = "db.records.import_task_taken", skip_all)]
pub(super) async fn is_task_id_taken(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    line: &RecordLine,
) -> Result<bool, StorageError> {
    let is_taken = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT 1 FROM records
                          WHERE vault_id = $1 AND memory_id = $2 AND task_id = $3 AND number <> $4) AS "taken!""#,
        vault.as_str(),
        memory.as_str(),
        line.task_id,
        line.number,
    )
    .fetch_one(connection)
    .await?;
    Ok(is_taken)
}
