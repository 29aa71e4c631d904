//! The one way a memory changes: a transaction that locks its row, asks a pure function what to do with
//! the head, and stores the new version with everything derived from it.

use super::contexts::{Context, ContextMetadata, ContextRef, Source, find_context};
use super::events::{self, EventKind, NewEvent};
use super::records::{StoredRecord, archived_among, find_task};
use super::updates::{Run, insert_run, lives_on, resolve_run};
use super::window::{self, WindowRows};
use super::{Storage, StorageError, error, origins, record_changes};
use crate::domain::document::Origins;
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, RecordKind, TaskId, UpdateId, VaultId};
use crate::domain::memory::{AppliedOperation, Counters, RecordChange, project};
use crate::domain::window::Known;
use crate::telemetry::meters;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::collections::BTreeSet;

/// How often a transaction that lost a race (40001, 40P01) is run again.
const MAX_REPEATS: u32 = 5;

/// The memory as it stands while its row is locked.
#[derive(Debug, Clone)]
pub struct Head {
    /// The newest version's number; 0 if the memory does not exist.
    pub version: i64,
    /// The newest version's id.
    pub context_id: Option<ContextId>,
    /// The newest version's text; empty if the memory does not exist.
    pub text: String,
    /// Where its lines come from, if that is known.
    pub(super) origins: Option<Origins>,
    /// The largest numbers ever given.
    pub counters: Counters,
    /// Which of the ids that the caller mentioned are archived.
    pub archived: BTreeSet<RecordId>,
    /// The time of the change: now, but never before the newest version's.
    pub now: DateTime<Utc>,
    /// The id that a new version will have.
    pub next_context_id: ContextId,
    /// The id that the event of a new version will have.
    pub(super) next_event_id: String,
}

impl Head {
    /// Whether the memory exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > 0
    }
}

/// A version to be saved on top of the head.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The whole text.
    pub text: String,
    /// The counters after it; never lower than the head's.
    pub counters: Counters,
    /// What makes it.
    pub source: Source,
    /// Who makes it.
    pub actor: ActorId,
    /// What it does, where the service knows (reasons of archivings come from here).
    pub operations: Vec<AppliedOperation>,
    /// What it does to the records: [`project`] of the head's text and the new one.
    pub changes: Vec<RecordChange>,
    /// The change in words.
    pub log: String,
    /// The run that makes it, kept in the same transaction.
    pub run: Option<Box<Run>>,
    /// An invalid run that this one finishes by hand.
    pub resolves: Option<UpdateId>,
    /// What it says of tasks and decisions that the text does not hold.
    pub window: WindowRows,
}

impl NewVersion {
    /// A version with this text, as anybody may put it: the records it names are taken as they are.
    #[must_use]
    pub fn of_text(head: &Head, text: String, source: Source, actor: ActorId) -> Self {
        let counters = head.counters.raised_by(&Counters::seen_in(&text));
        let changes = project(&head.text, &text);
        Self {
            text,
            counters,
            source,
            actor,
            operations: Vec::new(),
            changes,
            log: String::new(),
            run: None,
            resolves: None,
            window: WindowRows::default(),
        }
    }
}

/// What else of the memory a decision needs.
#[derive(Debug)]
pub(super) enum Wanted<'a> {
    /// Nothing.
    Nothing,
    /// A version.
    Version(&'a ContextRef),
    /// The task that has this id already.
    Task(&'a TaskId),
    /// What there is of tasks and decisions.
    Known,
}

/// What was found of it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) version: Option<Context>,
    pub(super) task: Option<StoredRecord>,
    pub(super) known: Known,
}

/// What to do with a head.
#[derive(Debug)]
pub enum Decision<T> {
    /// Leave it as it is.
    Keep(T),
    /// Save a new version.
    Save(Box<NewVersion>, T),
}

/// What a change came to.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The version that was saved, if any.
    pub saved: Option<ContextMetadata>,
    /// What the caller's function returned.
    pub result: T,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum ChangeError<E> {
    /// The caller's function refused.
    Refused(E),
    /// The database failed; nothing was saved.
    Storage(StorageError),
}

impl<E, S: Into<StorageError>> From<S> for ChangeError<E> {
    fn from(error: S) -> Self {
        Self::Storage(error.into())
    }
}

impl Storage {
    /// Changes a memory: locks its row (making it if the memory is new), hands the head to `decide`, and
    /// saves what that says, all in one transaction. `mentioned` are the ids whose archived state
    /// `decide` needs in [`Head::archived`].
    ///
    /// `decide` may be called again on a newer head when the transaction lost a race, so it must not
    /// have effects.
    ///
    /// # Errors
    /// What `decide` refuses with, or the database's; in both cases nothing was saved.
    #[tracing::instrument(name = "db.memories.change", skip_all)]
    pub async fn change<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        mut decide: impl FnMut(&Head) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        self.change_from(vault, memory, mentioned, None, |head, _| decide(head))
            .await
    }

    /// As [`Self::change`], with what `wanted` names of the tasks of the memory as they stand while its row is
    /// locked.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(super) async fn change_window<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        wanted: &Wanted<'_>,
        mut decide: impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        self.change_reading(vault, memory, &[], wanted, &mut decide).await
    }

    /// As [`Self::change`], with the version of `reference` as it stands while the memory's row is locked;
    /// `None` if there is no such version.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(super) async fn change_from<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        reference: Option<&ContextRef>,
        mut decide: impl FnMut(&Head, Option<Context>) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let wanted = reference.map_or(Wanted::Nothing, Wanted::Version);
        let mut decide = |head: &Head, found: Found| decide(head, found.version);
        self.change_reading(vault, memory, mentioned, &wanted, &mut decide)
            .await
    }

    async fn change_reading<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        wanted: &Wanted<'_>,
        decide: &mut impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let mut repeats = 0;
        loop {
            match self.try_change(vault, memory, mentioned, wanted, decide).await {
                Err(ChangeError::Storage(error)) if error::may_repeat(&error) && repeats < MAX_REPEATS => {
                    repeats += 1;
                    tracing::debug!(repeats, error = %error, "transaction lost a race, running it again");
                }
                other => return other,
            }
        }
    }

    async fn try_change<T, E>(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
        wanted: &Wanted<'_>,
        decide: &mut impl FnMut(&Head, Found) -> Result<Decision<T>, E>,
    ) -> Result<Outcome<T>, ChangeError<E>> {
        let mut transaction = self.begin().await?;
        let head = self.lock_head(&mut transaction, vault, memory, mentioned).await?;
        let mut found = Found::default();
        match wanted {
            Wanted::Nothing => {}
            Wanted::Version(reference) => {
                found.version = find_context(&mut transaction, vault, memory, reference).await?;
            }
            Wanted::Task(id) => found.task = find_task(&mut transaction, vault, memory, id).await?,
            Wanted::Known => found.known = window::known(&mut transaction, vault, memory).await?,
        }
        let (version, result) = match decide(&head, found).map_err(ChangeError::Refused)? {
            Decision::Keep(result) => {
                // Nothing was written but perhaps the row of a memory that does not come to be.
                transaction.rollback().await?;
                return Ok(Outcome { saved: None, result });
            }
            Decision::Save(version, result) => (*version, result),
        };
        let mut events = version
            .run
            .as_ref()
            .map_or_else(Vec::new, |run| run.events.clone());
        let saved = save_version(&mut transaction, vault, memory, &head, version).await?;
        events.push(version_event(&head, &saved));
        events::append(&mut transaction, vault, &events).await?;
        transaction.commit().await?;
        self.written.notify_one();
        meters::version_made(saved.source.name());
        self.appended(vault, &events);
        Ok(Outcome {
            saved: Some(saved),
            result,
        })
    }

    /// Locks the memory's row, making it first where there is none, and reads the head.
    pub(super) async fn lock_head(
        &self,
        connection: &mut PgConnection,
        vault: &VaultId,
        memory: &MemoryId,
        mentioned: &[RecordId],
    ) -> Result<Head, StorageError> {
        let row = self.lock_or_insert(connection, vault, memory).await?;
        // Read after the lock was granted: a writer that waited is later than the one it waited for.
        let now = self.clock.now().max(row.changed_at);
        let (text, origins) = match row.context_id {
            Some(_) => read_text(connection, vault, memory, row.version).await?,
            None => (String::new(), Some(Origins::default())),
        };
        Ok(Head {
            version: row.version,
            context_id: row.context_id,
            text,
            origins,
            counters: row.counters,
            archived: archived_among(connection, vault, memory, mentioned).await?,
            now,
            next_context_id: self.clock.new_id().into(),
            next_event_id: self.clock.new_id().to_string(),
        })
    }

    /// A row that is there when it is looked for may be deleted while the lock is waited for, and one that
    /// was in the way of an insertion may be deleted before it is locked: then it is made anew.
    async fn lock_or_insert(
        &self,
        connection: &mut PgConnection,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<LockedMemory, StorageError> {
        for _ in 0..=MAX_REPEATS {
            if let Some(row) = lock_memory(connection, vault, memory).await? {
                return Ok(row);
            }
            insert_memory(connection, vault, memory, self.clock.now()).await?;
        }
        lock_memory(connection, vault, memory)
            .await?
            .ok_or(StorageError::WrongRowCount {
                statement: "db.memories.lock",
                expected: 1,
                actual: 0,
            })
    }

    /// Marks an invalid run as resolved by a run that changed nothing, and keeps that run; nothing of a memory
    /// that was deleted meanwhile.
    ///
    /// # Errors
    /// [`StorageError::AlreadyResolved`], or the database's.
    pub async fn save_resolving_run(&self, run: &Run, resolves: &UpdateId) -> Result<(), StorageError> {
        let mut transaction = self.begin().await?;
        if !lives_on(&mut transaction, run).await? {
            return Ok(());
        }
        insert_run(&mut transaction, run).await?;
        resolve(&mut transaction, run, resolves).await?;
        events::append(&mut transaction, &run.vault_id, &run.events).await?;
        transaction.commit().await?;
        self.appended(&run.vault_id, &run.events);
        Ok(())
    }
}

/// What is told of a new version.
fn version_event(head: &Head, saved: &ContextMetadata) -> NewEvent {
    NewEvent {
        version: Some((saved.version, saved.context_id.clone())),
        actor: Some(saved.actor_id.clone()),
        source: Some(saved.source),
        update_id: saved.update_id.clone(),
        ..NewEvent::new(
            head.next_event_id.clone(),
            saved.memory_id.clone(),
            EventKind::Version,
            saved.creation_time,
        )
    }
}

/// Marks an invalid run as finished by another; of several that try, one does.
async fn resolve(connection: &mut PgConnection, by: &Run, resolved: &UpdateId) -> Result<(), StorageError> {
    if resolve_run(connection, &by.vault_id, &by.memory_id, resolved, &by.update_id).await? {
        Ok(())
    } else {
        Err(StorageError::AlreadyResolved(resolved.clone()))
    }
}

/// The row of a memory, locked until the transaction ends.
pub(super) struct LockedMemory {
    pub(super) version: i64,
    pub(super) context_id: Option<ContextId>,
    counters: Counters,
    pub(super) changed_at: DateTime<Utc>,
}

/// Locks a memory's row; `None` if there is none, also when it is deleted while the lock is waited for.
#[tracing::instrument(name = "db.memories.lock", skip_all)]
pub(super) async fn lock_memory(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<LockedMemory>, StorageError> {
    let row = sqlx::query!(
        "SELECT head_version, head_context_id, learning_counter, verbatim_counter, task_counter,
                decision_counter, changed_at
         FROM memories
         WHERE vault_id = $1 AND memory_id = $2
         FOR UPDATE",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let context_id = match row.head_context_id {
        Some(id) => Some(id.parse().map_err(|_| StorageError::Corrupt {
            table: "memories",
            column: "head_context_id",
            row: format!("({vault}, {memory})"),
            problem: "not an id".to_owned(),
        })?),
        None => None,
    };
    let mut counters = Counters::default();
    counters.raise(RecordKind::Learning, row.learning_counter);
    counters.raise(RecordKind::Verbatim, row.verbatim_counter);
    counters.raise(RecordKind::Task, row.task_counter);
    counters.raise(RecordKind::Decision, row.decision_counter);
    Ok(Some(LockedMemory {
        version: row.head_version,
        context_id,
        counters,
        changed_at: row.changed_at,
    }))
}

#[tracing::instrument(name = "db.memories.insert", skip_all)]
async fn insert_memory(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    now: DateTime<Utc>,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, learning_counter,
                               verbatim_counter, task_counter, decision_counter, created_at, changed_at)
         VALUES ($1, $2, 0, NULL, 0, 0, 0, 0, $3, $3)
         ON CONFLICT (vault_id, memory_id) DO NOTHING",
        vault.as_str(),
        memory.as_str(),
        now,
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[tracing::instrument(name = "db.memory_contexts.text", skip_all)]
async fn read_text(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    version: i64,
) -> Result<(String, Option<Origins>), StorageError> {
    let row = sqlx::query!(
        "SELECT context, line_origins
         FROM memory_contexts
         WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
        vault.as_str(),
        memory.as_str(),
        version,
    )
    .fetch_optional(connection)
    .await?;
    let row = row.ok_or_else(|| StorageError::Corrupt {
        table: "memories",
        column: "head_version",
        row: format!("({vault}, {memory})"),
        problem: format!("version {version} is not there"),
    })?;
    let origins = row
        .line_origins
        .and_then(|stored| origins::from_stored(&stored, &row.context));
    Ok((row.context, origins))
}

/// Stores a version on top of a head whose row is locked, with everything derived from it.
pub(super) async fn save_version(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    head: &Head,
    new: NewVersion,
) -> Result<ContextMetadata, StorageError> {
    let version = head.version + 1;
    let bytes = i32::try_from(new.text.len()).unwrap_or(i32::MAX);
    let line_origins = head
        .origins
        .as_ref()
        .and_then(|origins| origins::to_stored(&origins.after(&head.text, &new.text, version)));
    move_head(connection, vault, memory, head, &new.counters).await?;
    let update_id = new.run.as_ref().map(|run| run.update_id.clone());
    let operations = operations_json(&new);
    sqlx::query!(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, update_id, operations, log, line_origins)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        vault.as_str(),
        memory.as_str(),
        head.next_context_id.as_str(),
        new.actor.as_str(),
        new.text,
        head.now,
        version,
        new.source.name(),
        bytes,
        update_id.as_ref().map(UpdateId::as_str),
        operations,
        new.log,
        line_origins.as_deref(),
    )
    .execute(&mut *connection)
    .await?;
    let place = record_changes::Place {
        vault,
        memory,
        version,
        at: head.now,
        by: &new.actor,
    };
    let superseded = new.window.superseded;
    record_changes::save(connection, &place, &new.changes, &new.operations, superseded).await?;
    window::save(connection, &place, &new.window).await?;
    if let Some(run) = &new.run {
        insert_run(connection, run).await?;
        if let Some(resolved) = &new.resolves {
            resolve(connection, run, resolved).await?;
        }
    }
    Ok(ContextMetadata {
        vault_id: vault.clone(),
        memory_id: memory.clone(),
        context_id: head.next_context_id.clone(),
        version,
        actor_id: new.actor,
        creation_time: head.now,
        source: new.source,
        bytes,
        update_id,
        log: new.log,
        redaction: None,
    })
}

/// Operations as they are kept with their version; `None` if there are none.
fn operations_json(new: &NewVersion) -> Option<Value> {
    let all = new.operations.iter().map(|operation| {
        json!({
            "op": operation.op.name(),
            "id": operation.id.map(|id| id.to_string()),
            "label": operation.label,
            "reason": operation.reason,
            "content": operation.content,
        })
    });
    let mut all: Vec<Value> = all.collect();
    new.window.tell(&mut all);
    (!all.is_empty()).then_some(Value::Array(all))
}

#[tracing::instrument(name = "db.memories.move_head", skip_all)]
async fn move_head(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    head: &Head,
    counters: &Counters,
) -> Result<(), StorageError> {
    let done = sqlx::query!(
        "UPDATE memories
         SET head_version = $3, head_context_id = $4, learning_counter = $5, verbatim_counter = $6,
             task_counter = $7, decision_counter = $8, changed_at = $9
         WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
        head.version + 1,
        head.next_context_id.as_str(),
        counters.get(RecordKind::Learning),
        counters.get(RecordKind::Verbatim),
        counters.get(RecordKind::Task),
        counters.get(RecordKind::Decision),
        head.now,
    )
    .execute(connection)
    .await?;
    match done.rows_affected() {
        1 => Ok(()),
        actual => Err(StorageError::WrongRowCount {
            statement: "db.memories.move_head",
            expected: 1,
            actual,
        }),
    }
}
