//! Saves versions and everything derived from them. No other code writes them.

use super::pieces::{PIECES, Piece, Pieces, Written};
use super::prepared::Prepared;
use super::rows::{InstructionRow, RecordRow, RunRow, StepRow, VersionRow};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::notification::CHANNEL;
use crate::storage::idempotency::keep_answers;
use crate::storage::updates::{insert_run, resolve_run};
use sqlx::Arguments as _;
use sqlx::postgres::PgArguments;
use sqlx::types::Json;

/// Saves versions of different memories, with their records, runs and events. Returns the positions of the saved ones.
/// The others are unchanged: their memories are locked by another transaction or have a newer head.
///
/// For versions whose runs have no row yet, and without claims of idempotency keys, this is one statement and thus its
/// own transaction. Others need a surrounding transaction.
///
/// # Errors
/// Database errors, a lost claim of a run or a key, or a run to be resolved that was resolved already. The transaction
/// must then be rolled back.
pub(in crate::storage) async fn save(
    connection: &mut Connection,
    all: &[Prepared],
) -> Result<Vec<usize>, StorageError> {
    let saved = save_versions(connection, all).await?;
    for Prepared { new, ran, .. } in saved.iter().map(|&place| &all[place]) {
        let Some(run) = new.run.as_deref() else { continue };
        if ran.is_none() {
            insert_run(connection, run).await?;
        }
        if let Some(resolved) = &new.resolves {
            resolve_run(connection, run, resolved).await?;
        }
    }
    let answers = saved.iter().filter_map(|&place| {
        let Prepared { new, metadata, .. } = &all[place];
        Some((new.answer.as_ref()?, Some(&metadata.memory_id)))
    });
    keep_answers(connection, &answers.collect::<Vec<_>>()).await?;
    Ok(saved)
}

/// Whether versions are saved by one statement.
pub(super) fn is_one_statement(all: &[Prepared]) -> bool {
    all.iter().all(|Prepared { new, ran, .. }| {
        let is_stored_alone = new.run.is_some() && ran.is_none();
        !is_stored_alone && new.resolves.is_none() && new.answer.is_none()
    })
}

#[tracing::instrument(name = "db.memory_contexts.save", skip_all, fields(versions = all.len()))]
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
        &rows.vaults as &[&str],
        Json(&rows.versions) as _,
        &rows.texts as &[&str],
        Json(&rows.records) as _,
        CHANNEL,
        rows.versions.len() as i64,
        Json(&rows.runs) as _,
        Json(&rows.instructions) as _,
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
    let moved: Option<Vec<i64>> = sqlx::query_scalar_with(&*moves.text, rows.arguments(moves)?)
        .fetch_one(&mut *connection)
        .await?;
    let moved = moved.unwrap_or_default();
    if moved.is_empty() {
        return Ok(moved);
    }
    for (written, insert) in inserts {
        if rows.has(*written) {
            sqlx::query_with(&*insert.text, rows.arguments(insert)?)
                .execute(&mut *connection)
                .await?;
        }
    }
    let saved = (1..).zip(all).filter(|(place, _)| moved.contains(place));
    let notifications: Vec<_> = saved.map(|(_, version)| version.notification()).collect();
    listen::notify(connection, &notifications).await?;
    Ok(moved)
}

/// Minimum length of the array of vaults, padded by repetition: somewhat more than PostgreSQL assumes for an array of
/// unknown value. With fewer elements it would make a custom plan for each execution.
const PLANNED_VAULTS: usize = 16;

/// The data to save, in the form of the statement's parameters.
struct Rows<'a> {
    vaults: Vec<&'a str>,
    versions: Vec<VersionRow<'a>>,
    texts: Vec<&'a str>,
    records: Vec<RecordRow<'a>>,
    runs: Vec<RunRow<'a>>,
    instructions: Vec<InstructionRow<'a>>,
    steps: Vec<StepRow<'a>>,
}

impl<'a> Rows<'a> {
    fn of(all: &'a [Prepared]) -> Self {
        let versions: Vec<VersionRow<'_>> = placed(all)
            .map(|(place, version)| VersionRow::of(place, version))
            .collect();
        let vault = |version: &'a Prepared| version.metadata.vault_id.as_str();
        let mut vaults: Vec<&str> = all.iter().map(vault).collect();
        vaults.sort_unstable();
        vaults.dedup();
        let repeated: Vec<&str> = vaults.iter().copied().cycle().take(PLANNED_VAULTS).collect();
        vaults.extend(repeated.into_iter().skip(vaults.len()));
        let records: Vec<RecordRow<'_>> = placed(all)
            .flat_map(|(place, version)| RecordRow::all_of(place, version))
            .collect();
        let steps = placed(all).flat_map(|(place, version)| {
            let run = version.new.run.iter();
            run.flat_map(move |run| run.events.iter().map(move |step| StepRow::of(place, step)))
        });
        Self {
            vaults,
            versions,
            texts: all.iter().map(|version| version.new.text.as_str()).collect(),
            records,
            runs: placed(all)
                .filter_map(|(place, version)| RunRow::of(place, version))
                .collect(),
            instructions: placed(all)
                .flat_map(|(place, version)| InstructionRow::all_of(place, version))
                .collect(),
            steps: steps.collect(),
        }
    }

    fn has(&self, written: Written) -> bool {
        match written {
            Written::Versions => true,
            Written::Records => !self.records.is_empty(),
            Written::Runs => !self.runs.is_empty(),
            Written::Instructions => !self.instructions.is_empty(),
        }
    }

    /// The parameters in the order of [`save_at_once`]. Those that the piece does not read are empty, because texts are
    /// long and each piece is sent separately.
    fn arguments(&self, piece: &Piece) -> Result<PgArguments, StorageError> {
        fn if_read<T>(is_read: bool, value: T) -> Option<T> {
            is_read.then_some(value)
        }
        let mut arguments = PgArguments::default();
        let added = (|| {
            arguments.add(if_read(piece.reads(1), &self.vaults))?;
            arguments.add(if_read(piece.reads(2), Json(&self.versions)))?;
            arguments.add(if_read(piece.reads(3), &self.texts))?;
            arguments.add(if_read(piece.reads(4), Json(&self.records)))?;
            arguments.add(if_read(piece.reads(5), CHANNEL))?;
            arguments.add(if_read(piece.reads(6), self.versions.len() as i64))?;
            arguments.add(if_read(piece.reads(7), Json(&self.runs)))?;
            arguments.add(if_read(piece.reads(8), Json(&self.instructions)))?;
            arguments.add(if_read(piece.reads(9), Json(&self.steps)))
        })();
        added.map_err(sqlx::Error::Encode)?;
        Ok(arguments)
    }
}

/// The statement counts versions from 1.
fn placed(all: &[Prepared]) -> impl Iterator<Item = (usize, &Prepared)> {
    (1..).zip(all)
}
