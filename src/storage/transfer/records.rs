//! `records`: the row, the line, and the statements of export and import. A file has lines of those records alone that do not
//! follow from its versions, as when a version was pruned or redacted.

use super::line::{Fault, id, json, known, order, text, time};
use crate::domain::document::Marks;
use crate::domain::history::RecordLife;
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, TaskId, VaultId};
use crate::domain::window::TaskDetails;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::records::projection::Projected;
use crate::storage::records::stored_marks;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;

/// A record with its current state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::storage) struct RecordLine {
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
    pub(super) marks: Option<String>,
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
    /// Validates the line by itself, and returns the id.
    pub(super) fn check(&self, head_version: i64) -> Result<RecordId, Fault> {
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
        if let Some(marks) = &self.marks {
            let are_marks = marks.parse::<Marks>().is_ok_and(|marks| !marks.is_empty());
            order(
                "marks",
                are_marks,
                "`pinned`, `until` and a date or time, or both",
            )?;
        }
        self.check_task(kind)?;
        self.check_life(head_version)?;
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

    /// Kind and number.
    pub(super) fn key(&self) -> (String, i64) {
        (self.kind.clone(), self.number)
    }

    /// The line of a record as it follows from the versions.
    pub(in crate::storage) fn of(life: &RecordLife, projected: &Projected) -> Self {
        let (task, columns) = (
            projected.tasks.get(&life.record.id),
            projected.details(life.record.id),
        );
        let end = life.end.as_ref();
        Self {
            kind: life.record.id.kind.prefix().to_owned(),
            number: life.record.id.number,
            status: if end.is_some() { "archived" } else { "active" }.to_owned(),
            label: life.record.label.clone(),
            reason: life.record.reason.clone(),
            content: life.record.content.clone(),
            created_version: life.born.version,
            created_at: life.born.at,
            created_by: life.born.by.to_string(),
            ended_version: end.map(|end| end.mark.version),
            ended_at: end.map(|end| end.mark.at),
            ended_by: end.map(|end| end.mark.by.to_string()),
            archive_reason: end.and_then(|end| end.reason.clone()),
            superseded_by: end.and_then(|end| end.superseded_by).map(|id| id.to_string()),
            written_at: life.record.time,
            marks: stored_marks(&life.record.marks),
            task_id: task.and_then(|task| task.task_id.as_ref().map(TaskId::to_string)),
            intent: task.map(|task| task.intent.clone()),
            summary: task.map(|task| task.summary.clone()),
            outcome: columns.outcome.cloned(),
            epic: columns.epic.map(str::to_owned),
            details: columns.details,
        }
    }

    fn check_life(&self, head_version: i64) -> Result<(), Fault> {
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
                  archive_reason, superseded_by AS "superseded_by: String", written_at, marks, task_id AS "task_id: String",
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

/// Stores records as in their lines. Facts of tasks that are there stay, because a redaction may have removed some of them.
#[tracing::instrument(name = "db.records.write", skip_all)]
pub(in crate::storage) async fn write(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    lines: &[RecordLine],
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO records (vault_id, memory_id, kind, number, status, label, reason, content, created_version,
                              created_at, created_by, ended_version, ended_at, ended_by, archive_reason,
                              superseded_by, written_at, marks, task_id, intent, summary, outcome, epic, details)
         SELECT memories.vault_id, memories.memory_id, kind, number, status, label, reason, content, created_version,
                line.created_at, created_by, ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at,
                marks, task_id, intent, summary, outcome, epic, details
         FROM memories
         CROSS JOIN json_to_recordset($3::json) AS line (
             kind text, number bigint, status text, label text, reason text, content text, created_version bigint,
             created_at timestamptz, created_by text, ended_version bigint, ended_at timestamptz, ended_by text,
             archive_reason text, superseded_by text, written_at timestamptz, marks text, task_id text, intent text,
             summary text, outcome jsonb, epic text, details jsonb
         )
         WHERE memories.vault_id = $1 AND memories.memory_id = $2
         ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
         SET status = excluded.status, label = excluded.label, reason = excluded.reason, content = excluded.content,
             created_version = excluded.created_version, created_at = excluded.created_at, created_by = excluded.created_by,
             ended_version = excluded.ended_version, ended_at = excluded.ended_at, ended_by = excluded.ended_by,
             archive_reason = excluded.archive_reason, superseded_by = excluded.superseded_by,
             written_at = excluded.written_at, marks = excluded.marks",
        vault.as_str(),
        memory.as_str(),
        Json(lines) as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}
