//! Many puts in one transaction.

use super::super::change::Decision;
use super::super::contexts::{Context, ContextMetadata};
use super::super::events::{self, NewEvent};
use super::super::head::Head;
use super::super::heads::Ticket;
use super::super::new_version::{NewVersion, version_event};
use super::super::put::{Put, PutError, PutJob, decide};
use super::super::record_changes::{self, Place};
use super::super::{Storage, StorageError, origins};
use super::nobody_answers;
use crate::domain::ids::{ContextId, MemoryId, RecordKind, VaultId};
use crate::domain::memory::{Collapse, Counters};
use crate::telemetry::meters;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A version that one of the puts makes.
struct Made<'j> {
    place: usize,
    job: &'j PutJob,
    head: Head,
    ticket: Ticket,
    new: NewVersion,
    lost: Vec<Collapse>,
}

/// A memory by its key.
type Key = (VaultId, MemoryId);

impl Storage {
    /// Puts texts of different memories in one transaction that waits for no lock. In the order of `jobs` it tells what
    /// each came to; `None` of one that has to go alone, of which nothing was done.
    #[tracing::instrument(name = "db.memory_contexts.put_together", skip_all, fields(puts = jobs.len()))]
    pub(super) async fn put_together(&self, jobs: &[&PutJob]) -> Vec<Option<Result<Put, PutError>>> {
        let mut answers = Vec::from_iter(jobs.iter().map(|_| None));
        match self.try_together(jobs, &mut answers).await {
            Ok(()) => answers,
            Err(error) => {
                tracing::debug!(%error, puts = jobs.len(), "puts go alone");
                jobs.iter().map(|_| None).collect()
            }
        }
    }

    /// An error says that nothing was done; after the commit there is none.
    async fn try_together(
        &self,
        jobs: &[&PutJob],
        answers: &mut [Option<Result<Put, PutError>>],
    ) -> Result<(), StorageError> {
        let mut transaction = self.begin().await?;
        let mut heads = self.lock_heads(&mut transaction, jobs).await?;
        let mut made = Vec::new();
        for (place, job) in jobs.iter().enumerate() {
            let Some((head, ticket)) = heads.remove(&(job.vault.clone(), job.memory.clone())) else {
                continue;
            };
            match decide(job, &head) {
                Ok(Decision::Save(new, lost)) => made.push(Made {
                    place,
                    job,
                    head,
                    ticket,
                    new: *new,
                    lost,
                }),
                Ok(Decision::Keep(_)) => {}
                Err(refused) => answers[place] = Some(Err(refused)),
            }
        }
        if made.is_empty() {
            return Ok(transaction.rollback().await?);
        }
        move_heads(&mut transaction, &made).await?;
        insert_versions(&mut transaction, &made).await?;
        for made in &made {
            save_records(&mut transaction, made).await?;
        }
        let saved: Vec<(Made<'_>, Arc<Context>)> = made.into_iter().map(Made::into_context).collect();
        let told: Vec<(&VaultId, NewEvent)> = saved
            .iter()
            .map(|(made, context)| (&made.job.vault, version_event(&made.head, &context.metadata)))
            .collect();
        events::append_all(&mut transaction, &told).await?;
        let committed = transaction.commit().await;
        for ((made, context), (vault, event)) in saved.iter().zip(told) {
            answers[made.place] = Some(match &committed {
                Ok(()) => {
                    self.heads.wrote(made.ticket, context.clone());
                    meters::version_made(context.metadata.source.name());
                    self.appended(vault, &[event]);
                    let metadata = ContextMetadata {
                        log: made.new.log.clone(),
                        ..context.metadata.clone()
                    };
                    Ok(Put::Created(metadata, made.lost.clone()))
                }
                // It may be there all the same.
                Err(_) => Err(nobody_answers().into()),
            });
        }
        self.written.notify_one();
        Ok(())
    }

    /// Locks those of the memories that exist and that nobody else holds, and reads their newest versions.
    ///
    /// The version is joined as it was when the statement began. If the memory has moved since, the joined row is not
    /// its newest any more, and the memory is left out like one that is locked.
    #[tracing::instrument(name = "db.memories.lock_many", skip_all)]
    async fn lock_heads(
        &self,
        connection: &mut PgConnection,
        jobs: &[&PutJob],
    ) -> Result<HashMap<Key, (Head, Ticket)>, StorageError> {
        let vaults: Vec<&str> = jobs.iter().map(|job| job.vault.as_str()).collect();
        let memories: Vec<&str> = jobs.iter().map(|job| job.memory.as_str()).collect();
        let rows = sqlx::query!(
            r#"SELECT memories.vault_id, memories.memory_id, memories.head_version,
                      memories.head_context_id AS "head_context_id!", memories.learning_counter,
                      memories.verbatim_counter, memories.task_counter, memories.decision_counter,
                      memories.changed_at, memory_contexts.context, memory_contexts.line_origins
               FROM unnest($1::text[], $2::text[]) AS wanted (vault_id, memory_id)
               JOIN memories ON memories.vault_id = wanted.vault_id AND memories.memory_id = wanted.memory_id
               JOIN memory_contexts ON memory_contexts.vault_id = memories.vault_id
                                   AND memory_contexts.memory_id = memories.memory_id
                                   AND memory_contexts.version = memories.head_version
               WHERE memories.head_context_id IS NOT NULL
               FOR UPDATE OF memories SKIP LOCKED"#,
            &vaults as &[&str],
            &memories as &[&str],
        )
        .fetch_all(connection)
        .await?;
        let now = self.clock.now();
        let mut heads = HashMap::with_capacity(rows.len());
        for row in rows {
            let key = key(&row.vault_id, &row.memory_id)?;
            let mut counters = Counters::default();
            counters.raise(RecordKind::Learning, row.learning_counter);
            counters.raise(RecordKind::Verbatim, row.verbatim_counter);
            counters.raise(RecordKind::Task, row.task_counter);
            counters.raise(RecordKind::Decision, row.decision_counter);
            let ticket = self.heads.ticket(&key.0, &key.1);
            let head = Head {
                version: row.head_version,
                context_id: Some(context_id(&row.head_context_id, &key)?),
                origins: row
                    .line_origins
                    .and_then(|stored| origins::from_stored(&stored, &row.context)),
                text: row.context,
                counters,
                archived: BTreeSet::new(),
                now: now.max(row.changed_at),
                next_context_id: self.clock.new_id().into(),
                next_event_id: self.clock.new_id().to_string(),
            };
            heads.insert(key, (head, ticket));
        }
        Ok(heads)
    }
}

fn key(vault: &str, memory: &str) -> Result<Key, StorageError> {
    let corrupt = |column| StorageError::Corrupt {
        table: "memories",
        column,
        row: format!("({vault}, {memory})"),
        problem: "not an id".to_owned(),
    };
    Ok((
        vault.parse().map_err(|_| corrupt("vault_id"))?,
        memory.parse().map_err(|_| corrupt("memory_id"))?,
    ))
}

fn context_id(id: &str, (vault, memory): &Key) -> Result<ContextId, StorageError> {
    id.parse().map_err(|_| StorageError::Corrupt {
        table: "memories",
        column: "head_context_id",
        row: format!("({vault}, {memory})"),
        problem: "not an id".to_owned(),
    })
}

impl Made<'_> {
    fn version(&self) -> i64 {
        self.head.version + 1
    }

    fn bytes(&self) -> i32 {
        i32::try_from(self.new.text.len()).unwrap_or(i32::MAX)
    }

    fn line_origins(&self) -> Option<String> {
        let before = self.head.origins.as_ref()?;
        let after = before.after(&self.head.text, &self.new.text, self.version());
        let numbers: Vec<String> = origins::to_stored(&after)?.iter().map(i64::to_string).collect();
        Some(format!("{{{}}}", numbers.join(",")))
    }

    /// The version as it is read afterwards; its text is moved there.
    fn into_context(mut self) -> (Self, Arc<Context>) {
        let metadata = ContextMetadata {
            vault_id: self.job.vault.clone(),
            memory_id: self.job.memory.clone(),
            context_id: self.head.next_context_id.clone(),
            version: self.version(),
            actor_id: self.new.actor.clone(),
            creation_time: self.head.now,
            source: self.new.source,
            bytes: self.bytes(),
            update_id: None,
            // Kept in the process without it.
            log: String::new(),
            redaction: None,
        };
        let text = std::mem::take(&mut self.new.text);
        (self, Arc::new(Context { metadata, text }))
    }
}

#[tracing::instrument(name = "db.memories.move_heads", skip_all)]
async fn move_heads(connection: &mut PgConnection, made: &[Made<'_>]) -> Result<(), StorageError> {
    let vaults: Vec<&str> = made.iter().map(|made| made.job.vault.as_str()).collect();
    let memories: Vec<&str> = made.iter().map(|made| made.job.memory.as_str()).collect();
    let versions: Vec<i64> = made.iter().map(Made::version).collect();
    let contexts: Vec<&str> = made
        .iter()
        .map(|made| made.head.next_context_id.as_str())
        .collect();
    let counters = |kind| -> Vec<i64> { made.iter().map(|made| made.new.counters.get(kind)).collect() };
    let times: Vec<DateTime<Utc>> = made.iter().map(|made| made.head.now).collect();
    let moved = sqlx::query!(
        "UPDATE memories
         SET head_version = new.version, head_context_id = new.context_id, learning_counter = new.learning,
             verbatim_counter = new.verbatim, task_counter = new.task, decision_counter = new.decision,
             changed_at = new.changed_at
         FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::timestamptz[])
              AS new (vault_id, memory_id, version, context_id, learning, verbatim, task, decision, changed_at)
         WHERE memories.vault_id = new.vault_id AND memories.memory_id = new.memory_id",
        &vaults as &[&str],
        &memories as &[&str],
        &versions,
        &contexts as &[&str],
        &counters(RecordKind::Learning),
        &counters(RecordKind::Verbatim),
        &counters(RecordKind::Task),
        &counters(RecordKind::Decision),
        &times,
    )
    .execute(connection)
    .await?
    .rows_affected();
    all_of("db.memories.move_heads", made, moved)
}

#[tracing::instrument(name = "db.memory_contexts.insert_many", skip_all)]
async fn insert_versions(connection: &mut PgConnection, made: &[Made<'_>]) -> Result<(), StorageError> {
    let vaults: Vec<&str> = made.iter().map(|made| made.job.vault.as_str()).collect();
    let memories: Vec<&str> = made.iter().map(|made| made.job.memory.as_str()).collect();
    let contexts: Vec<&str> = made
        .iter()
        .map(|made| made.head.next_context_id.as_str())
        .collect();
    let actors: Vec<&str> = made.iter().map(|made| made.new.actor.as_str()).collect();
    let texts: Vec<&str> = made.iter().map(|made| made.new.text.as_str()).collect();
    let times: Vec<DateTime<Utc>> = made.iter().map(|made| made.head.now).collect();
    let versions: Vec<i64> = made.iter().map(Made::version).collect();
    let sources: Vec<&str> = made.iter().map(|made| made.new.source.name()).collect();
    let bytes: Vec<i32> = made.iter().map(Made::bytes).collect();
    let logs: Vec<&str> = made.iter().map(|made| made.new.log.as_str()).collect();
    let line_origins: Vec<Option<String>> = made.iter().map(Made::line_origins).collect();
    let inserted = sqlx::query!(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, log, line_origins)
         SELECT new.vault_id, new.memory_id, new.context_id, new.actor_id, new.context, new.creation_time,
                new.version, new.source, new.bytes, new.log, new.line_origins::bigint[]
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bigint[],
                     $8::text[], $9::integer[], $10::text[], $11::text[])
              AS new (vault_id, memory_id, context_id, actor_id, context, creation_time, version, source, bytes, log,
                      line_origins)",
        &vaults as &[&str],
        &memories as &[&str],
        &contexts as &[&str],
        &actors as &[&str],
        &texts as &[&str],
        &times,
        &versions,
        &sources as &[&str],
        &bytes,
        &logs as &[&str],
        &line_origins as &[Option<String>],
    )
    .execute(connection)
    .await?
    .rows_affected();
    all_of("db.memory_contexts.insert_many", made, inserted)
}

/// A put that leaves the records as they are costs nothing here.
async fn save_records(connection: &mut PgConnection, made: &Made<'_>) -> Result<(), StorageError> {
    if made.new.changes.is_empty() {
        return Ok(());
    }
    let place = Place {
        vault: &made.job.vault,
        memory: &made.job.memory,
        version: made.version(),
        at: made.head.now,
        by: &made.new.actor,
    };
    record_changes::save(connection, &place, &made.new.changes, &made.new.operations, None).await
}

fn all_of(statement: &'static str, made: &[Made<'_>], actual: u64) -> Result<(), StorageError> {
    let expected = made.len() as u64;
    if actual == expected {
        Ok(())
    } else {
        Err(StorageError::WrongRowCount {
            statement,
            expected,
            actual,
        })
    }
}
