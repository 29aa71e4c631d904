//! Keeps `records` equal to what the documents say, in the writer's transaction.

use super::StorageError;
use super::contexts::ContextMetadata;
use super::record_history::{self, Changed};
use crate::domain::document::Record;
use crate::domain::history::{ChangeKind, Mark, RecordEvent};
use crate::domain::ids::{ActorId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{AppliedOperation, OperationName, RecordChange};
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use std::collections::HashMap;

/// Rows of one statement: all of it is held at once.
pub(super) const ROWS_PER_STATEMENT: usize = 4_000;

/// The version that brings the changes.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) vault: &'a VaultId,
    pub(super) memory: &'a MemoryId,
    pub(super) version: i64,
    pub(super) at: DateTime<Utc>,
    pub(super) by: &'a ActorId,
}

impl<'a> Place<'a> {
    /// That of a version.
    pub(super) fn of(version: &'a ContextMetadata) -> Self {
        Self {
            vault: &version.vault_id,
            memory: &version.memory_id,
            version: version.version,
            at: version.creation_time,
            by: &version.actor_id,
        }
    }

    /// What happened to a record, as its history keeps it.
    fn changed(&self, id: RecordId, change: ChangeKind) -> Changed<'a> {
        let mark = Mark {
            version: self.version,
            at: self.at,
            by: self.by.clone(),
        };
        (self.vault, self.memory, RecordEvent { id, change, mark })
    }
}

/// What a version does to the records of its memory.
pub(super) struct VersionChanges<'a> {
    pub(super) place: Place<'a>,
    pub(super) changes: &'a [RecordChange],
    /// The reason of an archiving is that of the operation that did it; a record that a put left out has none.
    pub(super) operations: &'a [AppliedOperation],
    /// The first is archived by this very version, and the second takes its place.
    pub(super) superseded: Option<(RecordId, RecordId)>,
}

/// A record that stands in a version: added, there again, or changed.
struct Present<'a> {
    place: &'a Place<'a>,
    record: &'a Record,
    is_changed: bool,
}

/// Carries the changes of versions of different memories over to the rows.
#[tracing::instrument(name = "db.records.change", skip_all)]
pub(super) async fn save(
    connection: &mut PgConnection,
    versions: &[VersionChanges<'_>],
) -> Result<(), StorageError> {
    let mut history: Vec<Changed<'_>> = Vec::new();
    for version in versions {
        history.extend(archive_all(connection, version).await?);
    }
    let mut present: Vec<Present<'_>> = versions.iter().flat_map(present_in).collect();
    present.sort_by(|one, other| one.key().cmp(&other.key()));
    for rows in present.chunks(ROWS_PER_STATEMENT) {
        let born = upsert(connection, rows).await?;
        history.extend(rows.iter().zip(born).map(|(row, born)| {
            let change = match (row.is_changed, born < row.place.version) {
                (true, _) => ChangeKind::Changed,
                (false, true) => ChangeKind::Restored,
                (false, false) => ChangeKind::Added,
            };
            row.place.changed(row.record.id, change)
        }));
    }
    record_history::insert(connection, &history).await
}

fn present_in<'a>(version: &'a VersionChanges<'a>) -> impl Iterator<Item = Present<'a>> {
    version.changes.iter().filter_map(|change| {
        let (record, is_changed) = match change {
            RecordChange::Added(record) => (record, false),
            RecordChange::Changed(record) => (record, true),
            RecordChange::Archived(_) => return None,
        };
        Some(Present {
            place: &version.place,
            record,
            is_changed,
        })
    })
}

impl Present<'_> {
    /// In this order rows are locked, so that statements of several writers never wait for each other in a ring.
    fn key(&self) -> (&str, &str, &str, i64) {
        let id = self.record.id;
        let (vault, memory) = (self.place.vault.as_str(), self.place.memory.as_str());
        (vault, memory, id.kind.prefix(), id.number)
    }
}

/// A record that is there (again) is active and reads as the document says; its birth stays. Says of each row, which
/// come in the order of their keys, in which version its record was born.
async fn upsert(connection: &mut PgConnection, rows: &[Present<'_>]) -> Result<Vec<i64>, StorageError> {
    let places = || rows.iter().map(|row| row.place);
    let vaults: Vec<&str> = places().map(|place| place.vault.as_str()).collect();
    let memories: Vec<&str> = places().map(|place| place.memory.as_str()).collect();
    let versions: Vec<i64> = places().map(|place| place.version).collect();
    let times: Vec<DateTime<Utc>> = places().map(|place| place.at).collect();
    let writers: Vec<&str> = places().map(|place| place.by.as_str()).collect();
    let records = || rows.iter().map(|row| row.record);
    let kinds: Vec<&str> = records().map(|record| record.id.kind.prefix()).collect();
    let numbers: Vec<i64> = records().map(|record| record.id.number).collect();
    let labels: Vec<Option<&str>> = records().map(|record| record.label.as_deref()).collect();
    let reasons: Vec<Option<&str>> = records().map(|record| record.reason.as_deref()).collect();
    let contents: Vec<&str> = records().map(|record| record.content.as_str()).collect();
    let written: Vec<Option<DateTime<Utc>>> = records().map(|record| record.time).collect();
    let mut saved = sqlx::query!(
        "INSERT INTO records (vault_id, memory_id, kind, number, status, label, reason, content, created_version,
                              created_at, created_by, written_at)
         SELECT vault_id, memory_id, kind, number, 'active', label, reason, content, version, at, by, written_at
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                     $8::bigint[], $9::timestamptz[], $10::text[], $11::timestamptz[])
              AS new (vault_id, memory_id, kind, number, label, reason, content, version, at, by, written_at)
         ON CONFLICT (vault_id, memory_id, kind, number) DO UPDATE
         SET status = excluded.status, label = excluded.label, reason = excluded.reason,
             content = excluded.content, written_at = excluded.written_at, ended_version = NULL, ended_at = NULL,
             ended_by = NULL, archive_reason = NULL, superseded_by = NULL
         RETURNING vault_id, memory_id, kind, number, created_version",
        &vaults as &[&str],
        &memories as &[&str],
        &kinds as &[&str],
        &numbers,
        &labels as &[Option<&str>],
        &reasons as &[Option<&str>],
        &contents as &[&str],
        &versions,
        &times,
        &writers as &[&str],
        &written as &[Option<DateTime<Utc>>],
    )
    .fetch_all(connection)
    .await?;
    if saved.len() != rows.len() {
        return Err(StorageError::WrongRowCount {
            statement: "db.records.upsert",
            expected: rows.len() as u64,
            actual: saved.len() as u64,
        });
    }
    saved.sort_by(|one, other| {
        let numbers = one.number.cmp(&other.number);
        let kinds = one.kind.cmp(&other.kind).then(numbers);
        let memories = one.memory_id.cmp(&other.memory_id).then(kinds);
        one.vault_id.cmp(&other.vault_id).then(memories)
    });
    Ok(saved.into_iter().map(|row| row.created_version).collect())
}

/// Why operations archive what they archive.
pub(super) fn archive_reasons(operations: &[AppliedOperation]) -> HashMap<RecordId, &str> {
    operations
        .iter()
        .filter(|operation| operation.op == OperationName::Archive)
        .filter_map(|operation| Some((operation.id?, operation.reason.as_deref()?)))
        .collect()
}

/// Ends the records that a version archives, and says of each how.
async fn archive_all<'a>(
    connection: &mut PgConnection,
    version: &VersionChanges<'a>,
) -> Result<Vec<Changed<'a>>, StorageError> {
    let ids = version.changes.iter().filter_map(|change| match change {
        RecordChange::Archived(id) => Some(*id),
        RecordChange::Added(_) | RecordChange::Changed(_) => None,
    });
    let mut ids: Vec<RecordId> = ids.collect();
    ids.sort_by_key(|id| (id.kind.prefix(), id.number));
    let mut history = Vec::new();
    for rows in ids.chunks(ROWS_PER_STATEMENT) {
        for of_kind in rows.chunk_by(|one, next| one.kind == next.kind) {
            history.extend(archive(connection, version, of_kind).await?);
        }
    }
    Ok(history)
}

/// Ends records of one kind, sorted by number, and says of each how.
///
/// The bounds of the numbers say nothing new, but with them the index finds the rows however many others the memory
/// has: a planner that thinks the memory small reads all of it otherwise, ten thousand archived records for one.
async fn archive<'a>(
    connection: &mut PgConnection,
    version: &VersionChanges<'a>,
    ids: &[RecordId],
) -> Result<Vec<Changed<'a>>, StorageError> {
    let place = &version.place;
    let reasons = archive_reasons(version.operations);
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
        return Ok(Vec::new());
    };
    let numbers: Vec<i64> = ids.iter().map(|id| id.number).collect();
    let reasons: Vec<Option<String>> = ids
        .iter()
        .map(|id| reasons.get(id).map(|reason| (*reason).to_owned()))
        .collect();
    let by = |id: &RecordId| {
        version
            .superseded
            .filter(|(old, _)| old == id)
            .map(|(_, new)| new)
    };
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
    Ok(ids.iter().map(|id| place.changed(*id, change(id))).collect())
}
