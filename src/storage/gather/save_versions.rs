//! The statement that saves many versions (`save_versions.sql`), and what it is given.

use super::super::listen::{CHANNEL, words};
use super::super::record_changes::archive_reasons;
use super::super::updates::{Run, RunJson};
use super::super::{StorageError, events, origins};
use super::prepared::Prepared;
use crate::domain::document::Record;
use crate::domain::history::ChangeKind;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::RecordChange;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use std::slice::from_ref;

/// Saves the versions whose memories nobody holds and whose bases are still the newest ones, with their runs and
/// events, and what those that are whole do to records. Says of which places; all others are passed over.
#[tracing::instrument(name = "db.memory_contexts.save_many", skip_all)]
pub(super) async fn save_versions(
    connection: &mut PgConnection,
    all: &[Prepared],
) -> Result<Vec<usize>, StorageError> {
    let of = || all.iter().map(|version| &version.metadata);
    let vaults: Vec<&str> = of().map(|of| of.vault_id.as_str()).collect();
    let memories: Vec<&str> = of().map(|of| of.memory_id.as_str()).collect();
    let bases: Vec<&str> = all.iter().map(|version| version.base.as_str()).collect();
    let counted: Vec<Option<String>> = all.iter().map(counted).collect();
    let contexts: Vec<&str> = of().map(|of| of.context_id.as_str()).collect();
    let versions: Vec<i64> = of().map(|of| of.version).collect();
    let times: Vec<DateTime<Utc>> = of().map(|of| of.creation_time).collect();
    let counters = |kind| -> Vec<i64> {
        let counters = all.iter().map(|version| version.new.counters.get(kind));
        counters.collect()
    };
    let actors: Vec<&str> = of().map(|of| of.actor_id.as_str()).collect();
    let texts: Vec<&str> = all.iter().map(|version| version.new.text.as_str()).collect();
    let sources: Vec<&str> = of().map(|of| of.source.name()).collect();
    let bytes: Vec<i32> = of().map(|of| of.bytes).collect();
    let logs: Vec<&str> = of().map(|of| of.log.as_str()).collect();
    let operations: Vec<Option<&str>> = all.iter().map(|version| version.operations.as_deref()).collect();
    let line_origins: Vec<Option<String>> = all.iter().map(line_origins).collect();
    let events: Vec<&str> = all
        .iter()
        .map(|version| version.event.event_id.as_str())
        .collect();
    let (told_in, lines) = told(all);
    let runs = Runs::of(all);
    let steps = Steps::of(all);
    let touched = TouchedRecords::of(all);
    let saved = sqlx::query_file!(
        "src/storage/gather/save_versions.sql",
        &vaults as &[&str],
        &memories as &[&str],
        &bases as &[&str],
        &counted as &[Option<String>],
        &contexts as &[&str],
        &versions,
        &times,
        &counters(RecordKind::Learning),
        &counters(RecordKind::Verbatim),
        &counters(RecordKind::Task),
        &counters(RecordKind::Decision),
        &actors as &[&str],
        &texts as &[&str],
        &sources as &[&str],
        &bytes,
        &logs as &[&str],
        &operations as &[Option<&str>],
        &line_origins as &[Option<String>],
        &events as &[&str],
        &told_in,
        &lines,
        &runs.ids as &[Option<&str>],
        &runs.kinds as &[Option<&str>],
        &runs.statuses as &[Option<&str>],
        &runs.begun as &[Option<DateTime<Utc>>],
        &runs.ended as &[Option<DateTime<Utc>>],
        &runs.requests as &[Option<&str>],
        &runs.exchanges as &[Option<&str>],
        &runs.outcomes as &[Option<&str>],
        &steps.places,
        &steps.ids as &[&str],
        &steps.times,
        &steps.details as &[Option<String>],
        &touched.places,
        &touched.kinds as &[&str],
        &touched.numbers,
        &touched.changes as &[&str],
        &touched.labels as &[Option<&str>],
        &touched.reasons as &[Option<&str>],
        &touched.contents as &[Option<&str>],
        &touched.written as &[Option<DateTime<Utc>>],
        CHANNEL,
    )
    .fetch_all(connection)
    .await?;
    let places = saved.into_iter().flat_map(|word| word.places);
    Ok(places
        .filter_map(|place| usize::try_from(place - 1).ok())
        .collect())
}

/// Versions are counted from 1 in the statement.
fn placed(all: &[Prepared]) -> impl Iterator<Item = (i64, &Prepared)> {
    (1..).zip(all)
}

/// The runs that make the versions, column by column.
#[derive(Default)]
struct Runs<'a> {
    ids: Vec<Option<&'a str>>,
    kinds: Vec<Option<&'a str>>,
    statuses: Vec<Option<&'a str>>,
    begun: Vec<Option<DateTime<Utc>>>,
    ended: Vec<Option<DateTime<Utc>>>,
    requests: Vec<Option<&'a str>>,
    exchanges: Vec<Option<&'a str>>,
    outcomes: Vec<Option<&'a str>>,
}

impl<'a> Runs<'a> {
    fn of(all: &'a [Prepared]) -> Self {
        let mut runs = Self::default();
        for version in all {
            let run: Option<&Run> = version.new.run.as_deref();
            runs.ids.push(run.map(|run| run.update_id.as_str()));
            runs.kinds.push(run.map(|run| run.kind.name()));
            runs.statuses.push(run.map(|run| run.status.name()));
            runs.begun.push(run.map(|run| run.created_at));
            runs.ended.push(run.and_then(|run| run.finished_at));
            let said: Option<&RunJson> = version.run.as_ref();
            runs.requests.push(said.map(|said| &*said.request));
            runs.exchanges.push(said.map(|said| &*said.exchanges));
            runs.outcomes.push(said.map(|said| &*said.outcome));
        }
        runs
    }
}

/// The steps of the runs, column by column.
#[derive(Default)]
struct Steps<'a> {
    places: Vec<i64>,
    ids: Vec<&'a str>,
    times: Vec<DateTime<Utc>>,
    details: Vec<Option<String>>,
}

impl<'a> Steps<'a> {
    fn of(all: &'a [Prepared]) -> Self {
        let mut steps = Self::default();
        for (place, version) in placed(all) {
            let run = version.new.run.as_deref();
            for step in run.map_or(&[][..], |run| &run.events) {
                steps.places.push(place);
                steps.ids.push(&step.event_id);
                steps.times.push(step.created_at);
                steps.details.push(step.details.as_ref().map(ToString::to_string));
            }
        }
        steps
    }
}

/// The records that whole versions touch, column by column.
#[derive(Default)]
struct TouchedRecords<'a> {
    places: Vec<i64>,
    kinds: Vec<&'a str>,
    numbers: Vec<i64>,
    changes: Vec<&'a str>,
    labels: Vec<Option<&'a str>>,
    /// Why it is kept, or why it was archived.
    reasons: Vec<Option<&'a str>>,
    contents: Vec<Option<&'a str>>,
    written: Vec<Option<DateTime<Utc>>>,
}

impl<'a> TouchedRecords<'a> {
    fn of(all: &'a [Prepared]) -> Self {
        let mut touched = Self::default();
        for (place, version) in placed(all).filter(|(_, version)| version.is_whole()) {
            let reasons = archive_reasons(&version.new.operations);
            for change in &version.new.changes {
                match change {
                    RecordChange::Added(record) => touched.present(place, ChangeKind::Added, record),
                    RecordChange::Changed(record) => touched.present(place, ChangeKind::Changed, record),
                    RecordChange::Archived(id) => touched.archived(place, *id, reasons.get(id).copied()),
                }
            }
        }
        touched
    }

    fn present(&mut self, place: i64, change: ChangeKind, record: &'a Record) {
        self.touch(place, record.id, change);
        self.labels.push(record.label.as_deref());
        self.reasons.push(record.reason.as_deref());
        self.contents.push(Some(&record.content));
        self.written.push(record.time);
    }

    fn archived(&mut self, place: i64, id: RecordId, reason: Option<&'a str>) {
        self.touch(place, id, ChangeKind::Archived);
        self.labels.push(None);
        self.reasons.push(reason);
        self.contents.push(None);
        self.written.push(None);
    }

    fn touch(&mut self, place: i64, id: RecordId, change: ChangeKind) {
        self.places.push(place);
        self.kinds.push(id.kind.prefix());
        self.numbers.push(id.number);
        self.changes.push(change.name());
    }
}

fn line_origins(put: &Prepared) -> Option<String> {
    Some(array(&origins::to_stored(put.origins.as_ref()?)?))
}

fn counted(put: &Prepared) -> Option<String> {
    let counters = put.counted?;
    let kinds = [
        RecordKind::Learning,
        RecordKind::Verbatim,
        RecordKind::Task,
        RecordKind::Decision,
    ];
    Some(array(&kinds.map(|kind| counters.get(kind))))
}

/// Numbers as an array is written: PostgreSQL has no arrays of arrays of different lengths.
fn array(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// What all instances are told of each, and in which word: as few as they fit in.
fn told(puts: &[Prepared]) -> (Vec<i64>, Vec<String>) {
    let lines = puts.iter().flat_map(|put| {
        let told = events::notifications(&put.metadata.vault_id, from_ref(&put.event));
        told.into_iter().map(|notification| notification.to_line())
    });
    let words = words(lines).into_iter().enumerate();
    let placed = |(word, lines): (usize, Vec<String>)| {
        let word = i64::try_from(word).unwrap_or(i64::MAX);
        lines.into_iter().map(move |line| (word, line))
    };
    words.flat_map(placed).unzip()
}
