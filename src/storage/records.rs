//! Reads records with their current state: `records`.

pub mod evidence;
pub mod history;
pub(in crate::storage) mod projection;

use crate::domain::document::{Marks, Record};
use crate::domain::history::{LifeEnd, RecordLife, VersionMark};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, TaskId, VaultId};
use crate::domain::listed;
use crate::domain::window::{Task, TaskDetails};
use crate::storage::database::connection::Connection;
use crate::storage::pages::{Reading, Rows};
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use std::collections::BTreeSet;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A row of `records`: as it is read, as a save, a rebuild or an import writes it, and as a file of an export tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordRow {
    pub(super) kind: RecordKind,
    pub(super) number: i64,
    pub(super) status: String,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) content: String,
    pub(super) created_version: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) created_by: ActorId,
    pub(super) ended_version: Option<i64>,
    pub(super) ended_at: Option<DateTime<Utc>>,
    pub(super) ended_by: Option<ActorId>,
    pub(super) archive_reason: Option<String>,
    pub(super) superseded_by: Option<RecordId>,
    /// The time on its line, and the reported facts of a task. Files of older releases lack these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) marks: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) epic: Option<String>,
    /// All other facts: members that only a newer release knows. Kept as they are; this release writes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Value>,
}

/// A checked query for rows of `records`; its text continues after the name of the table.
macro_rules! record_rows {
    ($condition:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            $crate::storage::records::RecordRow,
            r#"SELECT kind, number, status, label, reason, content, created_version, created_at, created_by,
                      ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, marks, task_id, intent,
                      summary, outcome, epic, details AS "details: serde_json::Value"
               FROM records "#
                + $condition,
            $($argument),+
        )
    };
}
pub(super) use record_rows;

impl RecordRow {
    pub(super) fn id(&self) -> RecordId {
        RecordId::new(self.kind, self.number)
    }

    /// The row of a record as it follows from the versions.
    pub(super) fn of(life: RecordLife) -> Self {
        let RecordLife {
            record,
            born,
            end,
            reported,
        } = life;
        let task = reported.as_ref();
        let superseded_by = end.as_ref().and_then(|end| end.superseded_by);
        let (ended, archive_reason) = end.map(|end| (end.mark, end.reason)).unzip();
        let details = task.map(|task| &task.details);
        Self {
            kind: record.id.kind,
            number: record.id.number,
            status: if ended.is_some() { "archived" } else { "active" }.to_owned(),
            label: record.label,
            reason: record.reason,
            content: record.content,
            created_version: born.version,
            created_at: born.at,
            created_by: born.by,
            ended_version: ended.as_ref().map(|mark| mark.version),
            ended_at: ended.as_ref().map(|mark| mark.at),
            ended_by: ended.map(|mark| mark.by),
            archive_reason: archive_reason.flatten(),
            superseded_by,
            written_at: record.time,
            // `NULL` for none.
            marks: (!record.marks.is_empty()).then(|| record.marks.to_string()),
            task_id: task.and_then(|task| task.task_id.clone()),
            intent: task.map(|task| task.intent.clone()),
            summary: task.map(|task| task.summary.clone()),
            outcome: details.and_then(|details| details.outcome.clone()),
            epic: details.and_then(|details| details.epic.clone()),
            details: None,
        }
    }
}

/// Marks as a row has them. The writer reads them from the line, so there are no others.
pub(super) fn marks_of(stored: Option<&str>) -> Marks {
    stored.and_then(|marks| marks.parse().ok()).unwrap_or_default()
}

impl From<RecordRow> for RecordLife {
    fn from(row: RecordRow) -> Self {
        let end = match (row.ended_version, row.ended_at, row.ended_by) {
            (Some(version), Some(at), Some(by)) => Some(LifeEnd {
                mark: VersionMark { version, at, by },
                reason: row.archive_reason,
                superseded_by: row.superseded_by,
            }),
            _ => None,
        };
        let details = TaskDetails {
            outcome: row.outcome,
            epic: row.epic,
        };
        let reported = row.intent.map(|intent| Task {
            task_id: row.task_id,
            intent,
            summary: row.summary.unwrap_or_default(),
            details,
        });
        Self {
            record: Record {
                id: RecordId::new(row.kind, row.number),
                time: row.written_at,
                marks: marks_of(row.marks.as_deref()),
                reason: row.reason,
                label: row.label,
                content: row.content,
            },
            born: VersionMark {
                version: row.created_version,
                at: row.created_at,
                by: row.created_by,
            },
            end,
            reported,
        }
    }
}

impl Storage {
    /// The records of a memory by kind and number, those after `after`, at most `limit`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_records(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        filter: RecordFilter,
        after: Option<RecordId>,
        limit: i64,
    ) -> Result<Rows<RecordLife>, StorageError> {
        let mut page = Reading::new(limit, 10);
        while let Some(batch) = page.next() {
            let after = page
                .items
                .last()
                .map(|last: &RecordLife| last.record.id)
                .or(after);
            let read = rows(&mut self.reader().await?, (vault, memory), filter, after, batch).await?;
            page.add(read.into_iter().map(RecordLife::from).collect(), size);
        }
        Ok(page.rows())
    }

    /// The records of a memory with these ids, by kind and number.
    ///
    /// # Errors
    /// Database errors.
    pub async fn records(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        ids: &[RecordId],
    ) -> Result<Vec<RecordLife>, StorageError> {
        match ids {
            [] => Ok(Vec::new()),
            ids => some(&mut self.reader().await?, vault, memory, ids).await,
        }
    }

    /// The records that this one took the place of: it replaced them, or they were merged into it.
    ///
    /// # Errors
    /// Database errors.
    pub async fn superseded_by(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: RecordId,
    ) -> Result<Vec<RecordId>, StorageError> {
        let records = sqlx::query_scalar!(
            r#"SELECT kind || '-' || number AS "id!: RecordId" FROM records
               WHERE vault_id = $1 AND memory_id = $2 AND superseded_by = $3
               ORDER BY kind, number
               LIMIT 1000"#,
            vault.as_str(),
            memory.as_str(),
            id.to_string(),
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(records)
    }
}

/// Its approximate size in a list, in bytes.
fn size(life: &RecordLife) -> usize {
    let texts = [&life.record.label, &life.record.reason];
    let reported = life
        .reported
        .as_ref()
        .map_or(0, |task| task.intent.len() + task.summary.len());
    texts.into_iter().flatten().map(String::len).sum::<usize>() + life.record.content.len() + reported
}

/// The ids of those records that are archived.
#[must_use]
pub fn archived(records: Vec<RecordLife>) -> BTreeSet<RecordId> {
    let archived = records.into_iter().filter(|record| record.end.is_some());
    archived.map(|archived| archived.record.id).collect()
}

/// All records of a memory by kind and number, on a connection, which may be in a transaction.
pub(super) async fn all(
    connection: &mut Connection,
    of: (&VaultId, &MemoryId),
) -> Result<Vec<RecordRow>, StorageError> {
    rows(connection, of, RecordFilter::default(), None, i64::MAX).await
}

/// The records of a memory by kind and number, those after `after`, at most `limit`.
async fn rows(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    filter: RecordFilter,
    after: Option<RecordId>,
    limit: i64,
) -> Result<Vec<RecordRow>, StorageError> {
    let rows = record_rows!(
        "WHERE vault_id = $1 AND memory_id = $2
           AND ($3::text IS NULL OR kind = $3)
           AND ($4::text IS NULL OR status = $4)
           AND (kind, number) > ($5, $6)
         ORDER BY kind, number
         LIMIT $7",
        vault.as_str(),
        memory.as_str(),
        filter.kind.map(RecordKind::prefix),
        filter.status.map(RecordStatus::name),
        after.map_or("", |id| id.kind.prefix()),
        after.map_or(0, |id| id.number),
        limit,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

/// As [`Storage::records`], on a connection, which may be in a transaction.
pub(super) async fn some(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    ids: &[RecordId],
) -> Result<Vec<RecordLife>, StorageError> {
    let kinds: Vec<String> = ids.iter().map(|id| id.kind.prefix().to_owned()).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    let rows = record_rows!(
        "WHERE vault_id = $1 AND memory_id = $2
           AND (kind, number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))
         ORDER BY kind, number",
        vault.as_str(),
        memory.as_str(),
        &kinds,
        &numbers,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(RecordLife::from).collect())
}

/// Stores records as these rows say. Facts of tasks that are there stay, because a redaction may have removed some of them.
pub(super) async fn write(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    rows: &[RecordRow],
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
        Json(rows) as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The task of a memory with this task id, on a connection, which may be in a transaction.
pub(super) async fn find_task(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    task: &TaskId,
) -> Result<Option<RecordLife>, StorageError> {
    let row = record_rows!(
        "WHERE vault_id = $1 AND memory_id = $2 AND task_id = $3",
        vault.as_str(),
        memory.as_str(),
        task.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(RecordLife::from))
}

/// Whether a record is in the newest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecordStatus {
    /// It is in the newest version.
    Active,
    /// It was in an older version.
    Archived,
}

listed! {
    /// Whether a record is in the newest version.
    RecordStatus as "RecordStatus";
}

impl RecordStatus {
    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Which records to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordFilter {
    /// Only this kind.
    pub kind: Option<RecordKind>,
    /// Only this status.
    pub status: Option<RecordStatus>,
}
