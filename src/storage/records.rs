//! Records with their present state: `records`, read side.

use super::pages::{Reading, Rows};
use super::{Storage, StorageError};
use crate::domain::history::{Ending, Life, Mark};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, TaskId, VaultId};
use crate::domain::window::Task;
use crate::storage::connection::Connection;
use chrono::{DateTime, Utc};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Whether a record stands in the newest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RecordStatus {
    /// It does.
    Active,
    /// It did once.
    Archived,
}

impl RecordStatus {
    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How a record left the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEnd {
    /// The first version without it.
    pub version: i64,
    /// When that was made.
    pub at: DateTime<Utc>,
    /// Who made it.
    pub by: ActorId,
    /// Why, where an operation said so.
    pub reason: Option<String>,
    /// The record that took its place.
    pub superseded_by: Option<RecordId>,
}

/// A record, active or archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its id.
    pub id: RecordId,
    /// The label of a verbatim record.
    pub label: Option<String>,
    /// Why it was worth keeping, as its line says.
    pub reason: Option<String>,
    /// Its content; of a verbatim record the snippet.
    pub content: String,
    /// The first version with it.
    pub created_version: i64,
    /// When that was made.
    pub created_at: DateTime<Utc>,
    /// Who made it.
    pub created_by: ActorId,
    /// How it ended; `None` while it is active.
    pub end: Option<RecordEnd>,
    /// The time its line bears; without one, `created_at` counts.
    pub written_at: Option<DateTime<Utc>>,
    /// What was told of a task; `None` for one that a person wrote into the document, and for other kinds.
    pub told: Option<Task>,
}

impl StoredRecord {
    /// About how many bytes it takes in a list.
    fn size(&self) -> usize {
        let texts = [&self.label, &self.reason];
        let told = self
            .told
            .as_ref()
            .map_or(0, |task| task.intent.len() + task.summary.len());
        texts.into_iter().flatten().map(String::len).sum::<usize>() + self.content.len() + told
    }

    /// What is known of a task: what was told of it or, where a person wrote or changed its line, what that says.
    #[must_use]
    pub fn task(&self) -> Option<Task> {
        (self.id.kind == RecordKind::Task).then(|| Task::of_line(&self.content, self.told.clone()))
    }

    /// When it was said, in its line or by its version.
    #[must_use]
    pub fn time(&self) -> DateTime<Utc> {
        self.written_at.unwrap_or(self.created_at)
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

struct Row {
    kind: RecordKind,
    number: i64,
    label: Option<String>,
    reason: Option<String>,
    content: String,
    created_version: i64,
    created_at: DateTime<Utc>,
    created_by: ActorId,
    ended_version: Option<i64>,
    ended_at: Option<DateTime<Utc>>,
    ended_by: Option<ActorId>,
    archive_reason: Option<String>,
    superseded_by: Option<RecordId>,
    written_at: Option<DateTime<Utc>>,
    task_id: Option<TaskId>,
    intent: Option<String>,
    summary: Option<String>,
    outcome: Option<Value>,
    epic: Option<String>,
}

impl From<Row> for StoredRecord {
    fn from(row: Row) -> Self {
        let end = match (row.ended_version, row.ended_at, row.ended_by) {
            (Some(version), Some(at), Some(by)) => Some(RecordEnd {
                version,
                at,
                by,
                reason: row.archive_reason,
                superseded_by: row.superseded_by,
            }),
            _ => None,
        };
        let told = row.intent.map(|intent| Task {
            task_id: row.task_id,
            intent,
            summary: row.summary.unwrap_or_default(),
            outcome: row.outcome,
            epic: row.epic,
        });
        Self {
            id: RecordId::new(row.kind, row.number),
            label: row.label,
            reason: row.reason,
            content: row.content,
            created_version: row.created_version,
            created_at: row.created_at,
            created_by: row.created_by,
            end,
            written_at: row.written_at,
            told,
        }
    }
}

impl Storage {
    /// Records of a memory by kind and number, those behind `after`, at most `limit`.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.list", skip_all)]
    pub async fn list_records(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        filter: RecordFilter,
        after: Option<RecordId>,
        limit: i64,
    ) -> Result<Rows<StoredRecord>, StorageError> {
        let mut page = Reading::new(limit, 10);
        while let Some(batch) = page.next() {
            let after = page.items.last().map(|record: &StoredRecord| record.id).or(after);
            let rows = sqlx::query_as!(
            Row,
            "SELECT kind, number, label, reason, content, created_version, created_at, created_by,
                    ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, task_id, intent,
                    summary, outcome, epic
             FROM records
             WHERE vault_id = $1 AND memory_id = $2
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
            batch,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
            page.add(
                rows.into_iter().map(StoredRecord::from).collect(),
                StoredRecord::size,
            );
        }
        Ok(page.rows())
    }

    /// One record; `None` if the memory or the record does not exist.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.get", skip_all)]
    pub async fn record(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: RecordId,
    ) -> Result<Option<StoredRecord>, StorageError> {
        let row = sqlx::query_as!(
            Row,
            "SELECT kind, number, label, reason, content, created_version, created_at, created_by,
                    ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, task_id, intent,
                    summary, outcome, epic
             FROM records
             WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
            vault.as_str(),
            memory.as_str(),
            id.kind.prefix(),
            id.number,
        )
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        Ok(row.map(StoredRecord::from))
    }

    /// Which of the `mentioned` ids are archived.
    ///
    /// # Errors
    /// The database's.
    pub async fn archived_among(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
    ) -> Result<std::collections::BTreeSet<RecordId>, StorageError> {
        if mentioned.is_empty() {
            return Ok(std::collections::BTreeSet::new());
        }
        let mut connection = self.reader().await?;
        archived_among(&mut connection, vault, memory, mentioned).await
    }

    /// Which of `ids` the memory had before a version, active or archived.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.records.known_before", skip_all)]
    pub(super) async fn known_before(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        version: i64,
        ids: &[RecordId],
    ) -> Result<Vec<RecordId>, StorageError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let kinds: Vec<&str> = ids.iter().map(|id| id.kind.prefix()).collect();
        let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
        let rows = sqlx::query!(
            "SELECT kind, number FROM records
             WHERE vault_id = $1 AND memory_id = $2 AND created_version < $3
               AND (kind, number) IN (SELECT * FROM unnest($4::text[], $5::bigint[]))
             ORDER BY kind, number",
            vault.as_str(),
            memory.as_str(),
            version,
            &kinds as &[&str],
            &numbers,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| RecordId::new(row.kind, row.number))
            .collect())
    }
}

/// All records of a memory by kind and number, on a connection, which may be in a transaction.
#[tracing::instrument(name = "db.records.all", skip_all)]
pub(super) async fn all(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Vec<StoredRecord>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT kind, number, label, reason, content, created_version, created_at, created_by,
                ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, task_id, intent,
                summary, outcome, epic
         FROM records
         WHERE vault_id = $1 AND memory_id = $2
         ORDER BY kind, number",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(StoredRecord::from).collect())
}

/// Those of a memory's records that have one of these ids.
#[tracing::instrument(name = "db.records.some", skip_all)]
pub(super) async fn some(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    ids: &[RecordId],
) -> Result<Vec<StoredRecord>, StorageError> {
    let kinds: Vec<String> = ids.iter().map(|id| id.kind.prefix().to_owned()).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    let rows = sqlx::query_as!(
        Row,
        "SELECT kind, number, label, reason, content, created_version, created_at, created_by,
                ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, task_id, intent,
                summary, outcome, epic
         FROM records
         WHERE vault_id = $1 AND memory_id = $2
           AND (kind, number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))",
        vault.as_str(),
        memory.as_str(),
        &kinds,
        &numbers,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(StoredRecord::from).collect())
}

impl From<StoredRecord> for Life {
    fn from(record: StoredRecord) -> Self {
        Self {
            id: record.id,
            label: record.label,
            reason: record.reason,
            content: record.content,
            written_at: record.written_at,
            born: Mark {
                version: record.created_version,
                at: record.created_at,
                by: record.created_by,
            },
            end: record.end.map(|end| Ending {
                mark: Mark {
                    version: end.version,
                    at: end.at,
                    by: end.by,
                },
                reason: end.reason,
                superseded_by: end.superseded_by,
            }),
        }
    }
}

/// As [`Storage::archived_among`], on a connection, which may be in a transaction.
#[tracing::instrument(name = "db.records.archived_among", skip_all)]
pub(super) async fn archived_among(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    mentioned: &[RecordId],
) -> Result<std::collections::BTreeSet<RecordId>, StorageError> {
    if mentioned.is_empty() {
        return Ok(std::collections::BTreeSet::new());
    }
    let kinds: Vec<String> = mentioned.iter().map(|id| id.kind.prefix().to_owned()).collect();
    let numbers: Vec<i64> = mentioned.iter().map(|id| id.number).collect();
    let rows = sqlx::query!(
        "SELECT kind, number FROM records
         WHERE vault_id = $1 AND memory_id = $2 AND status = 'archived'
           AND (kind, number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))",
        vault.as_str(),
        memory.as_str(),
        &kinds,
        &numbers,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| RecordId::new(row.kind, row.number))
        .collect())
}

/// The task of a memory that its writer calls so, on a connection, which may be in a transaction.
#[tracing::instrument(name = "db.records.find_task", skip_all)]
pub(super) async fn find_task(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    task: &TaskId,
) -> Result<Option<StoredRecord>, StorageError> {
    let row = sqlx::query_as!(
        Row,
        "SELECT kind, number, label, reason, content, created_version, created_at, created_by,
                ended_version, ended_at, ended_by, archive_reason, superseded_by, written_at, task_id, intent,
                summary, outcome, epic
         FROM records
         WHERE vault_id = $1 AND memory_id = $2 AND task_id = $3",
        vault.as_str(),
        memory.as_str(),
        task.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(StoredRecord::from))
}
