//! Many puts in one statement.

use super::super::heads::Ticket;
use super::super::listen::{CHANNEL, words};
use super::super::put::{Put, PutError};
use super::super::record_changes::{self, Place, VersionChanges};
use super::super::{Storage, StorageError, error, events, origins};
use super::prepared::Prepared;
use super::unanswered;
use crate::domain::ids::RecordKind;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use std::slice::from_ref;

/// Why puts were not saved.
#[derive(Debug)]
enum NotSaved {
    /// The database refused.
    Refused(StorageError),
    /// It does not say whether they were.
    Unknown(StorageError),
}

impl Storage {
    /// Saves versions of different memories in one transaction that waits for no lock. In their order it tells what
    /// each came to; `None` of one that has to go alone, of which nothing was done.
    #[tracing::instrument(name = "db.memory_contexts.put_together", skip_all, fields(puts = prepared.len()))]
    pub(super) async fn put_together(&self, prepared: Vec<Prepared>) -> Vec<Option<Result<Put, PutError>>> {
        let tickets: Vec<Ticket> = prepared
            .iter()
            .map(|put| self.heads.ticket(&put.metadata.vault_id, &put.metadata.memory_id))
            .collect();
        let saved = self.save_together(&prepared).await;
        if let Err(NotSaved::Refused(error)) = &saved {
            tracing::debug!(%error, puts = prepared.len(), "puts go alone");
        }
        let answer = |(place, (put, ticket)): (usize, (Prepared, Ticket))| match &saved {
            Ok(saved) => saved.contains(&place).then(|| Ok(self.was_put(put, ticket))),
            Err(NotSaved::Refused(_)) => None,
            Err(NotSaved::Unknown(error)) => Some(Err(unanswered(error).into())),
        };
        let answers = prepared
            .into_iter()
            .zip(tickets)
            .enumerate()
            .map(answer)
            .collect();
        self.written.notify_one();
        answers
    }

    /// The places of those that were saved.
    async fn save_together(&self, prepared: &[Prepared]) -> Result<Vec<usize>, NotSaved> {
        let leave_records = prepared.iter().all(|put| put.changes.is_empty());
        let connection = match leave_records {
            true => self.autocommit().await.map_err(NotSaved::Refused)?,
            false => None,
        };
        match connection {
            Some(mut connection) => {
                let saved = save_versions(&mut connection, prepared).await;
                saved.map_err(NotSaved::of_autocommit)
            }
            None => {
                let mut transaction = self.begin().await.map_err(NotSaved::Refused)?;
                let saved = async {
                    let saved = save_versions(&mut transaction, prepared).await?;
                    let changes: Vec<_> = saved.iter().map(|&place| changes_of(&prepared[place])).collect();
                    record_changes::save(&mut transaction, &changes).await?;
                    Ok::<_, StorageError>(saved)
                };
                let saved = saved.await.map_err(NotSaved::Refused)?;
                let committed = transaction.commit().await;
                committed.map_err(|error| NotSaved::Unknown(error.into()))?;
                Ok(saved)
            }
        }
    }
}

impl NotSaved {
    /// An error of the statement rolls it back. Any other may have come after the commit.
    fn of_autocommit(error: StorageError) -> Self {
        if error::is_of_a_statement(&error) {
            Self::Refused(error)
        } else {
            Self::Unknown(error)
        }
    }
}

/// Saves the versions whose memories nobody holds and whose bases are still the newest ones, and says of which; all
/// others of them are passed over.
///
/// A row that was changed since the statement began is looked at again when it is locked, so the base that is
/// compared is the newest one of all that are committed.
#[tracing::instrument(name = "db.memory_contexts.save_many", skip_all)]
async fn save_versions(connection: &mut PgConnection, puts: &[Prepared]) -> Result<Vec<usize>, StorageError> {
    let metadata = || puts.iter().map(|put| &put.metadata);
    let vaults: Vec<&str> = metadata().map(|of| of.vault_id.as_str()).collect();
    let memories: Vec<&str> = metadata().map(|of| of.memory_id.as_str()).collect();
    let bases: Vec<&str> = puts.iter().map(|put| put.base.as_str()).collect();
    let contexts: Vec<&str> = metadata().map(|of| of.context_id.as_str()).collect();
    let versions: Vec<i64> = metadata().map(|of| of.version).collect();
    let times: Vec<DateTime<Utc>> = metadata().map(|of| of.creation_time).collect();
    let counters = |kind| -> Vec<i64> { puts.iter().map(|put| put.counters.get(kind)).collect() };
    let actors: Vec<&str> = metadata().map(|of| of.actor_id.as_str()).collect();
    let texts: Vec<&str> = puts.iter().map(|put| put.text.as_str()).collect();
    let sources: Vec<&str> = metadata().map(|of| of.source.name()).collect();
    let bytes: Vec<i32> = metadata().map(|of| of.bytes).collect();
    let logs: Vec<&str> = metadata().map(|of| of.log.as_str()).collect();
    let line_origins: Vec<Option<String>> = puts.iter().map(line_origins).collect();
    let events: Vec<&str> = puts.iter().map(|put| put.event.event_id.as_str()).collect();
    let kinds: Vec<&str> = puts.iter().map(|put| put.event.kind.name()).collect();
    let (told_in, lines) = told(puts);
    let saved = sqlx::query!(
        r#"WITH new AS (
               SELECT *
               FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[],
                           $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[],
                           $13::text[], $14::integer[], $15::text[], $16::text[], $17::text[], $18::text[],
                           $19::bigint[], $20::text[])
                    WITH ORDINALITY
                    AS new (vault_id, memory_id, base, context_id, version, time, learning, verbatim, task, decision,
                            actor_id, context, source, bytes, log, line_origins, event_id, kind, told_in, line, place)
           ),
           locked AS (
               SELECT new.place
               FROM new
               CROSS JOIN LATERAL (
                   SELECT FROM memories
                   WHERE memories.vault_id = new.vault_id AND memories.memory_id = new.memory_id
                     AND memories.head_context_id = new.base AND memories.changed_at <= new.time
                   FOR UPDATE SKIP LOCKED
               ) AS memory
           ),
           moved AS (
               UPDATE memories
               SET head_version = new.version, head_context_id = new.context_id, changed_at = new.time,
                   learning_counter = GREATEST(memories.learning_counter, new.learning),
                   verbatim_counter = GREATEST(memories.verbatim_counter, new.verbatim),
                   task_counter = GREATEST(memories.task_counter, new.task),
                   decision_counter = GREATEST(memories.decision_counter, new.decision)
               FROM locked
               JOIN new ON new.place = locked.place
               WHERE memories.vault_id = new.vault_id AND memories.memory_id = new.memory_id
               RETURNING new.place
           ),
           saved AS (
               INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time,
                                            version, source, bytes, log, line_origins)
               SELECT new.vault_id, new.memory_id, new.context_id, new.actor_id, new.context, new.time, new.version,
                      new.source, new.bytes, new.log, new.line_origins::bigint[]
               FROM moved
               JOIN new ON new.place = moved.place
           ),
           happened AS (
               INSERT INTO events (vault_id, event_id, memory_id, kind, created_at, version, context_id, actor_id,
                                   source)
               SELECT new.vault_id, new.event_id, new.memory_id, new.kind, new.time, new.version, new.context_id,
                      new.actor_id, new.source
               FROM moved
               JOIN new ON new.place = moved.place
           )
           SELECT array_agg(new.place) AS "places!", pg_notify($21, string_agg(new.line, E'\n'))::text AS told
           FROM moved
           JOIN new ON new.place = moved.place
           GROUP BY new.told_in"#,
        &vaults as &[&str],
        &memories as &[&str],
        &bases as &[&str],
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
        &line_origins as &[Option<String>],
        &events as &[&str],
        &kinds as &[&str],
        &told_in,
        &lines,
        CHANNEL,
    )
    .fetch_all(connection)
    .await?;
    let places = saved.into_iter().flat_map(|word| word.places);
    // They are counted from 1.
    Ok(places
        .filter_map(|place| usize::try_from(place - 1).ok())
        .collect())
}

/// Origins as an array is written: PostgreSQL has no arrays of arrays of different lengths.
fn line_origins(put: &Prepared) -> Option<String> {
    let numbers = origins::to_stored(put.origins.as_ref()?)?;
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    Some(format!("{{{}}}", numbers.join(",")))
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

/// What a put does to the records.
fn changes_of(put: &Prepared) -> VersionChanges<'_> {
    VersionChanges {
        place: Place {
            vault: &put.metadata.vault_id,
            memory: &put.metadata.memory_id,
            version: put.metadata.version,
            at: put.metadata.creation_time,
            by: &put.metadata.actor_id,
        },
        changes: &put.changes,
        operations: &[],
        superseded: None,
    }
}
