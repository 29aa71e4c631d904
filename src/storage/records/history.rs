//! The history of records: `record_changes`.

use crate::domain::document::{Record, records};
use crate::domain::history::{ChangeKind, RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use crate::fair;
use crate::storage::database::connection::Connection;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use std::iter::once;

/// Maximum rows of one statement, because all of them are in memory.
const ROWS_PER_STATEMENT: usize = 4_000;

/// A stored row.
pub(in crate::storage) struct Row {
    pub(in crate::storage) kind: RecordKind,
    pub(in crate::storage) number: i64,
    pub(in crate::storage) version: i64,
    pub(in crate::storage) change: ChangeKind,
    pub(in crate::storage) at: DateTime<Utc>,
    pub(in crate::storage) by: ActorId,
}

impl From<Row> for RecordEvent {
    fn from(row: Row) -> Self {
        Self {
            id: RecordId::new(row.kind, row.number),
            change: row.change,
            mark: VersionMark {
                version: row.version,
                at: row.at,
                by: row.by,
            },
        }
    }
}

/// Inserts changes of an existing memory, many rows in each statement.
pub(in crate::storage) async fn insert(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    events: &[RecordEvent],
) -> Result<(), StorageError> {
    for rows in events.chunks(ROWS_PER_STATEMENT) {
        let events = || rows.iter();
        let kinds: Vec<&str> = events().map(|event| event.id.kind.prefix()).collect();
        let numbers: Vec<i64> = events().map(|event| event.id.number).collect();
        let versions: Vec<i64> = events().map(|event| event.mark.version).collect();
        let changes: Vec<&str> = events().map(|event| event.change.name()).collect();
        let times: Vec<DateTime<Utc>> = events().map(|event| event.mark.at).collect();
        let writers: Vec<&str> = events().map(|event| event.mark.by.as_str()).collect();
        let done = sqlx::query!(
            "INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
             SELECT memories.vault_id, memories.memory_id, given.kind, given.number, given.version, given.change,
                    given.at, given.by
             FROM memories
             CROSS JOIN unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::timestamptz[], $8::text[])
                        AS given (kind, number, version, change, at, by)
             WHERE memories.vault_id = $1 AND memories.memory_id = $2",
            vault.as_str(),
            memory.as_str(),
            &kinds as &[&str],
            &numbers,
            &versions,
            &changes as &[&str],
            &times,
            &writers as &[&str],
        )
        .execute(&mut *connection)
        .await?;
        if done.rows_affected() != rows.len() as u64 {
            return Err(StorageError::WrongRowCount("db.record_changes.insert"));
        }
    }
    Ok(())
}

/// All changes of a memory by version and record.
pub(in crate::storage) async fn all(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Vec<RecordEvent>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT kind, number, version, change, at, by FROM record_changes
         WHERE vault_id = $1 AND memory_id = $2
         ORDER BY version, kind, number",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(RecordEvent::from).collect())
}

/// A change of a record, and its content afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastState {
    /// The change, its version, time and actor.
    pub event: RecordEvent,
    /// The record in that version; `None` if it ended there, or if the version's text was redacted.
    pub record: Option<Record>,
}

impl Storage {
    /// The history of a record, newest change first, at most `limit`; empty if the record does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn record_history(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: RecordId,
        limit: i64,
    ) -> Result<Vec<PastState>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT record_changes.kind, record_changes.number, record_changes.version, change, at, by,
                      CASE WHEN change NOT IN ('archived', 'superseded') THEN memory_contexts.context END AS context
               FROM record_changes
               LEFT JOIN memory_contexts
                 ON memory_contexts.vault_id = $1 AND memory_contexts.memory_id = $2
                AND memory_contexts.version = record_changes.version
               WHERE record_changes.vault_id = $1 AND record_changes.memory_id = $2
                 AND record_changes.kind = $3 AND record_changes.number = $4
               ORDER BY record_changes.version DESC
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            id.kind.prefix(),
            id.number,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let bytes = rows.iter().flat_map(|row| &row.context).map(String::len).sum();
        let states = rows.into_iter().map(|row| PastState {
            record: row
                .context
                .and_then(|text| records(&text).into_iter().find(|record| record.id == id)),
            event: RecordEvent::from(Row {
                kind: row.kind,
                number: row.number,
                version: row.version,
                change: row.change,
                at: row.at,
                by: row.by,
            }),
        });
        Ok(fair::run_blocking_if_long(bytes, || states.collect()))
    }
}

/// Deletes all changes of a memory.
pub(in crate::storage) async fn clear(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM record_changes WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Inserts the additions and ends that the records of an imported memory tell, where versions are missing.
pub(in crate::storage) async fn insert_of_records(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    let rows = super::all(connection, (vault, memory)).await?;
    let is_in_the_document = |life: &RecordLife| {
        let end = life.end.as_ref();
        // A record that was added directly to the archive has no history.
        end.is_none_or(|end| end.mark.version != life.born.version)
    };
    let lives = rows.into_iter().map(RecordLife::from).filter(is_in_the_document);
    let events = lives.flat_map(
        |RecordLife {
             record, born, end, ..
         }| {
            let end = end.map(|end| (ChangeKind::end(end.superseded_by), end.mark));
            let events = once((ChangeKind::Added, born)).chain(end);
            events.map(move |(change, mark)| RecordEvent {
                id: record.id,
                change,
                mark,
            })
        },
    );
    insert(connection, vault, memory, &events.collect::<Vec<_>>()).await
}
