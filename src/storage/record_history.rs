//! The changes of records: `record_changes`.

use super::StorageError;
use crate::domain::history::{ChangeKind, Mark, RecordEvent};
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use chrono::{DateTime, Utc};
use sqlx::PgConnection;

/// Rows of one statement: all of it is held at once.
const ROWS_PER_STATEMENT: usize = 4_000;

/// A row as it is stored.
pub(super) struct Row {
    pub(super) kind: RecordKind,
    pub(super) number: i64,
    pub(super) version: i64,
    pub(super) change: ChangeKind,
    pub(super) at: DateTime<Utc>,
    pub(super) by: ActorId,
}

impl From<Row> for RecordEvent {
    fn from(row: Row) -> Self {
        Self {
            id: RecordId::new(row.kind, row.number),
            change: row.change,
            mark: Mark {
                version: row.version,
                at: row.at,
                by: row.by,
            },
        }
    }
}

/// What happened to a record of a memory.
pub(super) type Changed<'a> = (&'a VaultId, &'a MemoryId, RecordEvent);

/// Adds changes, many rows a statement.
#[tracing::instrument(name = "db.record_changes.insert", skip_all)]
pub(super) async fn insert(
    connection: &mut PgConnection,
    events: &[Changed<'_>],
) -> Result<(), StorageError> {
    for rows in events.chunks(ROWS_PER_STATEMENT) {
        let vaults: Vec<&str> = rows.iter().map(|(vault, ..)| vault.as_str()).collect();
        let memories: Vec<&str> = rows.iter().map(|(_, memory, _)| memory.as_str()).collect();
        let events = || rows.iter().map(|(.., event)| event);
        let kinds: Vec<&str> = events().map(|event| event.id.kind.prefix()).collect();
        let numbers: Vec<i64> = events().map(|event| event.id.number).collect();
        let versions: Vec<i64> = events().map(|event| event.mark.version).collect();
        let changes: Vec<&str> = events().map(|event| event.change.name()).collect();
        let times: Vec<DateTime<Utc>> = events().map(|event| event.mark.at).collect();
        let writers: Vec<&str> = events().map(|event| event.mark.by.as_str()).collect();
        sqlx::query!(
            "INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
                                  $7::timestamptz[], $8::text[])",
            &vaults as &[&str],
            &memories as &[&str],
            &kinds as &[&str],
            &numbers,
            &versions,
            &changes as &[&str],
            &times,
            &writers as &[&str],
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// All changes of a memory by version and record.
#[tracing::instrument(name = "db.record_changes.all", skip_all)]
pub(super) async fn all(
    connection: &mut PgConnection,
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

/// Takes out all changes of a memory.
#[tracing::instrument(name = "db.record_changes.clear", skip_all)]
pub(super) async fn clear(
    connection: &mut PgConnection,
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

/// After an import whose texts do not tell everything: the changes of the versions `untold` (those whose
/// predecessor has no text) were not derived from what really was before them. They go, and births and ends are
/// taken from the records, whose lines know them.
#[tracing::instrument(name = "db.record_changes.import_gaps", skip_all)]
pub(super) async fn take_from_records(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    untold: &[i64],
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM record_changes WHERE vault_id = $1 AND memory_id = $2 AND version = ANY ($3)",
        vault.as_str(),
        memory.as_str(),
        untold,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE record_changes SET change = 'restored'
         FROM records
         WHERE record_changes.vault_id = $1 AND record_changes.memory_id = $2
           AND records.vault_id = $1 AND records.memory_id = $2
           AND records.kind = record_changes.kind AND records.number = record_changes.number
           AND record_changes.change = 'added' AND record_changes.version > records.created_version",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
         SELECT vault_id, memory_id, kind, number, created_version, 'added', created_at, created_by
         FROM records
         WHERE vault_id = $1 AND memory_id = $2
         ON CONFLICT (vault_id, memory_id, kind, number, version) DO NOTHING",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        r#"INSERT INTO record_changes (vault_id, memory_id, kind, number, version, change, at, by)
           SELECT vault_id, memory_id, kind, number, ended_version,
                  CASE WHEN superseded_by IS NULL THEN 'archived' ELSE 'superseded' END, ended_at, ended_by
           FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND status = 'archived'
           ON CONFLICT (vault_id, memory_id, kind, number, version) DO NOTHING"#,
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// After an import: an archived record whose line names what took its place was superseded, which no text tells.
#[tracing::instrument(name = "db.record_changes.import_superseded", skip_all)]
pub(super) async fn mark_superseded(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE record_changes SET change = 'superseded'
         FROM records
         WHERE record_changes.vault_id = $1 AND record_changes.memory_id = $2
           AND records.vault_id = $1 AND records.memory_id = $2
           AND records.kind = record_changes.kind AND records.number = record_changes.number
           AND record_changes.version = records.ended_version AND records.superseded_by IS NOT NULL",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
