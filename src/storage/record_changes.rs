//! Keeps `records` equal to what the documents say, in the writer's transaction.

use super::{StorageError, record_history};
use crate::domain::document::Record;
use crate::domain::history::ChangeKind;
use crate::domain::ids::{ActorId, MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::memory::{AppliedOperation, OperationName, RecordChange};
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, Postgres, QueryBuilder};
use std::collections::{HashMap, HashSet};

/// Rows of one statement: below the 65,535 parameters a statement takes.
pub(super) const ROWS_PER_STATEMENT: usize = 4_000;

/// The version that brings the changes.
pub(super) struct Place<'a> {
    pub(super) vault: &'a VaultId,
    pub(super) memory: &'a MemoryId,
    pub(super) version: i64,
    pub(super) at: DateTime<Utc>,
    pub(super) by: &'a ActorId,
}

/// Carries the changes of one version over to the rows. The reason of an archiving is that of the
/// operation that did it; a record that a put left out has none. Of `superseded` the first is archived by this very
/// version, and the second takes its place.
#[tracing::instrument(name = "db.records.change", skip_all)]
pub(super) async fn save(
    connection: &mut PgConnection,
    place: &Place<'_>,
    changes: &[RecordChange],
    operations: &[AppliedOperation],
    superseded: Option<(RecordId, RecordId)>,
) -> Result<(), StorageError> {
    let mut present: Vec<&Record> = Vec::new();
    let mut archived: Vec<RecordId> = Vec::new();
    let mut changed: HashSet<RecordId> = HashSet::new();
    for change in changes {
        match change {
            RecordChange::Added(record) => present.push(record),
            RecordChange::Changed(record) => {
                changed.insert(record.id);
                present.push(record);
            }
            RecordChange::Archived(id) => archived.push(*id),
        }
    }
    // Sorted by key, so that statements of several writers never wait for each other in a ring.
    present.sort_by_key(|record| (record.id.kind.prefix(), record.id.number));
    archived.sort_by_key(|id| (id.kind.prefix(), id.number));
    let mut history = Vec::new();
    for rows in archived.chunks(ROWS_PER_STATEMENT) {
        for of_kind in rows.chunk_by(|one, next| one.kind == next.kind) {
            history.extend(archive(connection, place, of_kind, operations, superseded).await?);
        }
    }
    for rows in present.chunks(ROWS_PER_STATEMENT) {
        let was_there = upsert(connection, place, rows).await?;
        history.extend(rows.iter().map(|record| {
            let change = match (changed.contains(&record.id), was_there.contains(&record.id)) {
                (true, _) => ChangeKind::Changed,
                (false, true) => ChangeKind::Restored,
                (false, false) => ChangeKind::Added,
            };
            (record.id, change)
        }));
    }
    record_history::save(connection, place, history).await
}

/// A record that is there (again) is active and reads as the document says; its birth stays. Says which were born
/// in an earlier version.
///
/// Built at run time, since the number of rows differs; the text is constant but for the placeholders.
async fn upsert(
    connection: &mut PgConnection,
    place: &Place<'_>,
    records: &[&Record],
) -> Result<HashSet<RecordId>, StorageError> {
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
              content = excluded.content, written_at = excluded.written_at, ended_version = NULL, ended_at = NULL,
              ended_by = NULL, archive_reason = NULL, superseded_by = NULL
          RETURNING kind, number, created_version",
    );
    let rows: Vec<(String, i64, i64)> = statement
        .build_query_as()
        .persistent(false)
        .fetch_all(connection)
        .await?;
    let born_before = rows
        .into_iter()
        .filter(|(_, _, created_version)| *created_version < place.version);
    Ok(born_before
        .filter_map(|(kind, number, _)| Some(RecordId::new(RecordKind::from_prefix(&kind)?, number)))
        .collect())
}

/// Ends records of one kind, sorted by number, and says of each how.
///
/// The bounds of the numbers say nothing new, but with them the index finds the rows however many others the memory
/// has: a planner that thinks the memory small reads all of it otherwise, ten thousand archived records for one.
async fn archive(
    connection: &mut PgConnection,
    place: &Place<'_>,
    ids: &[RecordId],
    operations: &[AppliedOperation],
    superseded: Option<(RecordId, RecordId)>,
) -> Result<Vec<(RecordId, ChangeKind)>, StorageError> {
    let reasons: HashMap<RecordId, &str> = operations
        .iter()
        .filter(|operation| operation.op == OperationName::Archive)
        .filter_map(|operation| Some((operation.id?, operation.reason.as_deref()?)))
        .collect();
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
        return Ok(Vec::new());
    };
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    let reasons: Vec<Option<String>> = ids
        .iter()
        .map(|id| reasons.get(id).map(|reason| (*reason).to_owned()))
        .collect();
    let by = |id: &RecordId| superseded.filter(|(old, _)| old == id).map(|(_, new)| new);
    let replacements: Vec<Option<String>> = ids.iter().map(|id| by(id).map(|new| new.to_string())).collect();
    let done = sqlx::query!(
        "UPDATE records
         SET status = 'archived', ended_version = $3, ended_at = $4, ended_by = $5, archive_reason = ended.reason,
             superseded_by = ended.superseded_by
         FROM unnest($9::bigint[], $10::text[], $11::text[]) AS ended (number, reason, superseded_by)
         WHERE records.vault_id = $1 AND records.memory_id = $2 AND records.kind = $6
           AND records.number >= $7 AND records.number <= $8 AND records.number = ended.number",
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
        place.at,
        place.by.as_str(),
        first.kind.prefix(),
        first.number,
        last.number,
        &numbers,
        &reasons as &[Option<String>],
        &replacements as &[Option<String>],
    )
    .execute(connection)
    .await?
    .rows_affected();
    if done != ids.len() as u64 {
        return Err(StorageError::WrongRowCount {
            statement: "db.records.archive",
            expected: ids.len() as u64,
            actual: done,
        });
    }
    let change = |id: &RecordId| match by(id) {
        Some(_) => ChangeKind::Superseded,
        None => ChangeKind::Archived,
    };
    Ok(ids.iter().map(|id| (*id, change(id))).collect())
}
