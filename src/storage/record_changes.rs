//! Keeps `records` equal to what the documents say, in the writer's transaction.

use super::StorageError;
use crate::domain::document::Record;
use crate::domain::ids::{ActorId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{AppliedOperation, OperationName, RecordChange};
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, Postgres, QueryBuilder};
use std::collections::HashMap;

/// Rows of one statement: below the 65,535 parameters a statement takes.
const ROWS_PER_STATEMENT: usize = 4_000;

/// The version that brings the changes.
pub(super) struct Place<'a> {
    pub(super) vault: &'a VaultId,
    pub(super) memory: &'a MemoryId,
    pub(super) version: i64,
    pub(super) at: DateTime<Utc>,
    pub(super) by: &'a ActorId,
}

/// Carries the changes of one version over to the rows. The reason of an archiving is that of the
/// operation that did it; a record that a put left out has none.
#[tracing::instrument(name = "db.records.change", skip_all)]
pub(super) async fn save(
    connection: &mut PgConnection,
    place: &Place<'_>,
    changes: &[RecordChange],
    operations: &[AppliedOperation],
) -> Result<(), StorageError> {
    let mut present: Vec<&Record> = Vec::new();
    let mut archived: Vec<RecordId> = Vec::new();
    for change in changes {
        match change {
            RecordChange::Added(record) | RecordChange::Changed(record) => present.push(record),
            RecordChange::Archived(id) => archived.push(*id),
        }
    }
    // Sorted by key, so that statements of several writers never wait for each other in a ring.
    present.sort_by_key(|record| (record.id.kind.prefix(), record.id.number));
    archived.sort_by_key(|id| (id.kind.prefix(), id.number));
    for rows in archived.chunks(ROWS_PER_STATEMENT) {
        archive(connection, place, rows, operations).await?;
    }
    for rows in present.chunks(ROWS_PER_STATEMENT) {
        upsert(connection, place, rows).await?;
    }
    Ok(())
}

/// A record that is there (again) is active and reads as the document says; its birth stays.
///
/// Built at run time, since the number of rows differs; the text is constant but for the placeholders.
async fn upsert(
    connection: &mut PgConnection,
    place: &Place<'_>,
    records: &[&Record],
) -> Result<(), StorageError> {
    let mut statement = QueryBuilder::<Postgres>::new(
        "INSERT INTO records (vault_id, memory_id, kind, number, status, label, reason, content,
                              created_version, created_at, created_by, written_at) ",
    );
    statement.push_values(records, |mut row, record| {
        row.push_bind(place.vault.as_str())
            .push_bind(place.memory.as_str())
            .push_bind(record.id.kind.prefix())
            .push_bind(record.id.number)
            .push_bind("active")
            .push_bind(record.label.as_deref())
            .push_bind(record.reason.as_deref())
            .push_bind(record.content.as_str())
            .push_bind(place.version)
            .push_bind(place.at)
            .push_bind(place.by.as_str())
            .push_bind(record.time);
    });
    statement.push(
        " ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
          SET status = excluded.status, label = excluded.label, reason = excluded.reason,
              content = excluded.content, written_at = excluded.written_at, ended_version = NULL, ended_at = NULL, ended_by = NULL,
              archive_reason = NULL, superseded_by = NULL",
    );
    statement.build().persistent(false).execute(connection).await?;
    Ok(())
}

async fn archive(
    connection: &mut PgConnection,
    place: &Place<'_>,
    ids: &[RecordId],
    operations: &[AppliedOperation],
) -> Result<(), StorageError> {
    let reasons: HashMap<RecordId, &str> = operations
        .iter()
        .filter(|operation| operation.op == OperationName::Archive)
        .filter_map(|operation| Some((operation.id?, operation.reason.as_deref()?)))
        .collect();
    let kinds: Vec<String> = ids.iter().map(|id| id.kind.prefix().to_owned()).collect();
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    let reasons: Vec<Option<String>> = ids
        .iter()
        .map(|id| reasons.get(id).map(|reason| (*reason).to_owned()))
        .collect();
    let done = sqlx::query!(
        r#"UPDATE records
           SET status = 'archived', ended_version = $3, ended_at = $4, ended_by = $5, archive_reason = ended.reason
           FROM unnest($6::text[], $7::bigint[], $8::text[]) AS ended (kind, number, reason)
           WHERE records.vault_id = $1 AND records.memory_id = $2
             AND records.kind = ended.kind AND records.number = ended.number"#,
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
        place.at,
        place.by.as_str(),
        &kinds,
        &numbers,
        &reasons as &[Option<String>],
    )
    .execute(connection)
    .await?;
    let expected = ids.len() as u64;
    match done.rows_affected() {
        actual if actual == expected => Ok(()),
        actual => Err(StorageError::WrongRowCount {
            statement: "db.records.archive",
            expected,
            actual,
        }),
    }
}
