//! Saves versions and everything derived from them. No other code writes them. The rows have the form that the statement reads: JSON
//! objects whose members are the columns of `save_versions.sql`. A new column of a version or a record needs a member here and a
//! column there.

use super::new_version::Prepared;
use super::pieces::{PIECES, Pieces};
use crate::domain::ids::{ContextId, RecordKind};
use crate::domain::memory::Counters;
use crate::storage::StorageError;
use crate::storage::contexts::{ContextMetadata, origins};
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::notification::CHANNEL;
use crate::storage::events::NewEvent;
use crate::storage::idempotency::{Gone, keep_answers};
use crate::storage::memories::paths;
use crate::storage::records::projection::ChangedRecord;
use crate::storage::updates::{insert_runs, resolve_run};
use crate::telemetry::traces;
use serde::Serialize;
use serde_json::Value;
use sqlx::Arguments as _;
use sqlx::postgres::PgArguments;
use sqlx::types::Json;

/// Saves versions of different memories, with their records, runs and events. Returns the positions of the saved ones.
/// The others are unchanged: their memories are locked by another transaction or have a newer head.
///
/// For versions without runs and without claims of idempotency keys, this is one statement and thus its own transaction.
/// Others need a surrounding transaction.
///
/// # Errors
/// Database errors, a lost claim of a run or a key, or a run to be resolved that was resolved already. The transaction
/// must then be rolled back.
pub(in crate::storage) async fn save(
    connection: &mut Connection,
    all: &[Prepared],
) -> Result<Vec<usize>, StorageError> {
    let saved = traces::database("db.memory_contexts.save", save_versions(connection, all)).await?;
    let runs = saved.iter().filter_map(|&place| {
        let Prepared { new, run_json, .. } = &all[place];
        Some((new.run.as_deref()?, run_json.as_ref()?))
    });
    let is_redacted = insert_runs(connection, &runs.collect::<Vec<_>>()).await?;
    for Prepared { new, metadata, .. } in saved.iter().map(|&place| &all[place]) {
        if let Some((tree, path)) = &new.path {
            paths::insert(connection, tree, path, &metadata.memory_id).await?;
        }
        if let (Some(run), Some(resolved)) = (new.run.as_deref(), &new.resolves) {
            resolve_run(connection, run, resolved).await?;
        }
    }
    let answers = saved.iter().filter_map(|&place| {
        let Prepared { new, metadata, .. } = &all[place];
        Some((new.answer.as_ref()?, Some(&metadata.memory_id)))
    });
    // Such a run is saved alone: it needs the lock.
    let gone = is_redacted.then_some(Gone::Redacted);
    keep_answers(connection, &answers.collect::<Vec<_>>(), gone).await?;
    Ok(saved)
}

/// Whether versions are saved by one statement.
pub(super) fn is_one_statement(all: &[Prepared]) -> bool {
    all.iter()
        .all(|Prepared { new, .. }| new.run.is_none() && new.answer.is_none() && new.path.is_none())
}

async fn save_versions(connection: &mut Connection, all: &[Prepared]) -> Result<Vec<usize>, StorageError> {
    let rows = Rows::of(all);
    let places = if connection.is_distributed() {
        save_in_pieces(connection, &rows, all).await?
    } else {
        save_at_once(connection, &rows).await?
    };
    Ok(places
        .into_iter()
        .filter_map(|place| usize::try_from(place - 1).ok())
        .collect())
}

async fn save_at_once(connection: &mut Connection, rows: &Rows<'_>) -> Result<Vec<i64>, StorageError> {
    let saved = sqlx::query_file!(
        "src/storage/write/save_versions.sql",
        Json(&rows.versions) as _,
        &rows.texts as &[&str],
        Json(&rows.records) as _,
        CHANNEL,
        rows.versions.len() as i64,
        Json(&rows.steps) as _,
    )
    .fetch_all(connection)
    .await?;
    Ok(saved.into_iter().map(|saved| saved.place).collect())
}

/// The same for versions of one vault, in a transaction.
async fn save_in_pieces(
    connection: &mut Connection,
    rows: &Rows<'_>,
    all: &[Prepared],
) -> Result<Vec<i64>, StorageError> {
    let Pieces { moves, inserts } = &*PIECES;
    let moved: Option<Vec<i64>> = sqlx::query_scalar_with(&**moves, rows.arguments(moves)?)
        .fetch_one(&mut *connection)
        .await?;
    let moved = moved.unwrap_or_default();
    if moved.is_empty() {
        return Ok(moved);
    }
    for insert in inserts {
        // Most versions change no record.
        if rows.records.is_empty() && insert.contains("$3::") {
            continue;
        }
        sqlx::query_with(&**insert, rows.arguments(insert)?)
            .execute(&mut *connection)
            .await?;
    }
    let saved = (1..).zip(all).filter(|(place, _)| moved.contains(place));
    let notifications: Vec<_> = saved.map(|(_, version)| version.notification()).collect();
    listen::notify(connection, &notifications).await?;
    Ok(moved)
}

/// The data to save, in the form of the statement's parameters.
struct Rows<'a> {
    versions: Vec<VersionRow<'a>>,
    texts: Vec<&'a str>,
    records: Vec<Placed<'a, ChangedRecord>>,
    steps: Vec<Placed<'a, NewEvent>>,
}

impl<'a> Rows<'a> {
    fn of(all: &'a [Prepared]) -> Self {
        let versions: Vec<VersionRow<'_>> = placed(all)
            .map(|(place, version)| VersionRow::of(place, version))
            .collect();
        let records = placed(all).flat_map(|(place, version)| {
            let changed = version.records.iter();
            changed.map(move |row| Placed { place, row })
        });
        let steps = placed(all).flat_map(|(place, version)| {
            let run = version.new.run.iter();
            run.flat_map(move |run| run.events.iter().map(move |row| Placed { place, row }))
        });
        Self {
            versions,
            texts: all.iter().map(|version| version.new.text.as_str()).collect(),
            records: records.collect(),
            steps: steps.collect(),
        }
    }

    /// The parameters of a piece: those of [`save_at_once`], and the vault. Only the piece that reads the texts gets them: they
    /// are long, and each piece is sent separately.
    fn arguments(&self, piece: &str) -> Result<PgArguments, StorageError> {
        let texts = piece.contains("$2::").then_some(&self.texts);
        let vault = self
            .versions
            .first()
            .map(|version| version.metadata.vault_id.as_str());
        let mut arguments = PgArguments::default();
        let added = (|| {
            arguments.add(Json(&self.versions))?;
            arguments.add(texts)?;
            arguments.add(Json(&self.records))?;
            arguments.add(CHANNEL)?;
            arguments.add(self.versions.len() as i64)?;
            arguments.add(Json(&self.steps))?;
            arguments.add(vault)
        })();
        added.map_err(sqlx::Error::Encode)?;
        Ok(arguments)
    }
}

/// The statement counts versions from 1.
fn placed(all: &[Prepared]) -> impl Iterator<Item = (usize, &Prepared)> {
    (1..).zip(all)
}

/// A version and the new values of its memory's row. Its text is sent separately.
#[derive(Serialize)]
struct VersionRow<'a> {
    /// Its position among the versions saved together, from 1.
    place: usize,
    #[serde(flatten)]
    metadata: &'a ContextMetadata,
    /// The head that it is based on; `None` if the memory has no version yet.
    base: Option<&'a ContextId>,
    /// The counters that it is based on, if it assigns numbers.
    counted: Option<[i64; RecordKind::ALL.len()]>,
    counters: [i64; RecordKind::ALL.len()],
    operations: Option<&'a Value>,
    line_origins: Option<Vec<i64>>,
    event_id: &'a str,
    /// Sent when it is saved.
    notification: String,
}

impl<'a> VersionRow<'a> {
    fn of(place: usize, prepared: &'a Prepared) -> Self {
        Self {
            place,
            metadata: &prepared.metadata,
            base: prepared.base.as_ref(),
            counted: prepared.counted.as_ref().map(Counters::numbers),
            counters: prepared.new.counters.numbers(),
            operations: prepared.operations.as_ref(),
            line_origins: prepared.origins.as_ref().and_then(origins::to_stored),
            event_id: &prepared.event_id,
            notification: prepared.notification().payload(),
        }
    }
}

/// A record that a version changed, or a step of the run that created it.
#[derive(Serialize)]
struct Placed<'a, T> {
    /// The position of its version.
    place: usize,
    #[serde(flatten)]
    row: &'a T,
}
