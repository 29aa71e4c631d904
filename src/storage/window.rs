//! Reads of tasks and decisions: facts stored besides their lines, the archive, and its roll-ups.

use crate::domain::history::RecordLife;
use crate::domain::ids::{MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::window::{ArchivedTask, Epic, Grouping, KnownEntries, Task};
use crate::storage::database::connection::Connection;
use crate::storage::pages::key_time;
use crate::storage::records::{self, record_rows};
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Maximum number of tasks in a roll-up.
const LATEST: i32 = 10;

/// The existing tasks and decisions of a memory, to find out what is new in an import.
pub(super) async fn known(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<KnownEntries, StorageError> {
    let mut known = KnownEntries::default();
    for row in records::all(connection, (vault, memory)).await? {
        let stored = RecordLife::from(row);
        let record = &stored.record;
        match stored.task() {
            Some(task) => known.task(stored.time(), &task),
            None if record.id.kind == RecordKind::Decision => {
                known.decision(&record.content, record.reason.as_deref());
            }
            None => {}
        }
    }
    Ok(known)
}

/// The start of a page of the history: after this time and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryKey(#[serde(deserialize_with = "key_time")] DateTime<Utc>, i64);

/// A record of the archive as a task, with its key in the history.
fn archived(stored: RecordLife) -> (HistoryKey, ArchivedTask) {
    let (id, time) = (stored.record.id, stored.time());
    let task = Task::of_line(&stored.record.content, stored.reported);
    (HistoryKey(time, id.number), ArchivedTask::of(id, time, task))
}

impl Storage {
    /// Archived tasks in order of time, those after `after`, at most `limit`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn history(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        after: Option<HistoryKey>,
        limit: i64,
    ) -> Result<Vec<(HistoryKey, ArchivedTask)>, StorageError> {
        let (time, number) = after.map(|HistoryKey(time, number)| (time, number)).unzip();
        let rows = record_rows!(
            "WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived'
                 AND (COALESCE(written_at, created_at), number)
                     > (COALESCE($3::timestamptz, '-infinity'), COALESCE($4::bigint, 0))
               ORDER BY COALESCE(written_at, created_at), number
               LIMIT $5",
            vault.as_str(),
            memory.as_str(),
            time,
            number,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(rows.into_iter().map(|row| archived(row.into())).collect())
    }

    /// Roll-ups of the archived tasks by epic, those after `after` (the empty name is that of tasks without an epic),
    /// at most `limit`. Reads all archived tasks of the memory.
    ///
    /// # Errors
    /// Database errors.
    pub async fn epics(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        by: Grouping,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Epic>, StorageError> {
        let mut connection = self.reader().await?;
        let epics = sqlx::query!(
            r#"SELECT name AS "name!", count(*) AS "tasks!", min(time) AS "first!", max(time) AS "last!",
                      (array_agg(number ORDER BY time DESC, number DESC))[:$6] AS "latest!"
               FROM (SELECT number, COALESCE(written_at, created_at) AS time,
                            CASE WHEN $3 THEN to_char(COALESCE(written_at, created_at) AT TIME ZONE 'UTC', 'IYYY-"W"IW')
                                 ELSE COALESCE(epic, '') END COLLATE "C" AS name
                     FROM records
                     WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived') AS tasks
               WHERE $4::text IS NULL OR name > $4
               GROUP BY name
               ORDER BY name
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            by == Grouping::Week,
            after,
            limit,
            LATEST,
        )
        .fetch_all(&mut connection)
        .await?;
        let latest = epics.iter().flat_map(|epic| &epic.latest);
        let ids = latest.map(|number| RecordId::new(RecordKind::Task, *number));
        let read = records::some(&mut connection, vault, memory, &ids.collect::<Vec<_>>()).await?;
        let read = read.into_iter().map(|task| (task.record.id.number, task));
        let mut read: HashMap<i64, RecordLife> = read.collect();
        let epics = epics.into_iter().map(|epic| {
            let latest = epic.latest.iter().rev().filter_map(|number| read.remove(number));
            Epic {
                name: Some(epic.name).filter(|name| !name.is_empty()),
                tasks: epic.tasks,
                first: epic.first,
                last: epic.last,
                latest: latest.map(|task| archived(task).1).collect(),
            }
        });
        Ok(epics.collect())
    }
}

/// The archiving of a record by an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archiving {
    /// The version that did it.
    pub version: i64,
    /// The reason.
    pub reason: Option<String>,
    /// The record that replaced it.
    pub superseded_by: Option<String>,
}

impl Storage {
    /// The archivings of the versions after `after` up to `up_to`; of a record that was archived several times, the
    /// last. Records that a put left out are not included, because there is no reason for them.
    ///
    /// # Errors
    /// Database errors.
    pub async fn archivings(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        after: i64,
        up_to: i64,
    ) -> Result<HashMap<RecordId, Archiving>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT version, operation ->> 'id' AS id, operation ->> 'reason' AS reason,
                      operation ->> 'superseded_by' AS superseded_by
               FROM memory_contexts, jsonb_array_elements(operations) AS operation
               WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <= $4
                 AND operation ->> 'op' = 'archive'
               ORDER BY version"#,
            vault.as_str(),
            memory.as_str(),
            after,
            up_to,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let archivings = rows.into_iter().filter_map(|row| {
            // What was redacted names no record.
            let id = row.id?.parse().ok()?;
            let archiving = Archiving {
                version: row.version,
                reason: row.reason,
                superseded_by: row.superseded_by,
            };
            Some((id, archiving))
        });
        Ok(archivings.collect())
    }
}
