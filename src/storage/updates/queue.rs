//! The queue of updates: rows of `updates` with the status `queued` or `running`.
//!
//! Each memory has its own queue. Workers of all instances look for the first update of each queue without a lock
//! ([`Storage::due_updates`]) and claim one by its key ([`Storage::claim_update`]). A claim is a lease that the worker
//! renews; when it expires, the process is considered dead. A unique index allows one running update for each memory,
//! so updates of a memory run in order.
//!
//! An update takes effect exactly once, because the transaction that saves its version also ends the run, under its
//! claim (`insert_runs`): a worker that has lost its claim, or whose run was cancelled, saves nothing.

use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::lock_name;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::updates::insert::insert_rows;
use crate::storage::updates::{Run, RunJson, RunStatus, must_live_on, redacted_json};
use crate::storage::{Class, Storage, StorageError, error, events};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::types::Json;
use std::slice::from_ref;

/// The longest time that an update waits for its next attempt.
pub const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// The state of the queue of the whole database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueState {
    /// How many are queued.
    pub queued: i64,
    /// How many are running.
    pub running: i64,
    /// When the oldest queued update was created.
    pub oldest: Option<DateTime<Utc>>,
}

impl Storage {
    /// Reads the state of the queue. Reads unfinished updates of all vaults.
    ///
    /// # Errors
    /// Database errors.
    pub async fn queue_state(&self) -> Result<QueueState, StorageError> {
        let state = sqlx::query_as!(
            QueueState,
            r#"SELECT count(*) FILTER (WHERE status = 'queued') AS "queued!",
                      count(*) FILTER (WHERE status = 'running') AS "running!",
                      min(created_at) FILTER (WHERE status = 'queued') AS oldest
               FROM updates
               WHERE queue_place IS NOT NULL"#,
        )
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(state)
    }

    fn queue_event(
        &self,
        memory: &MemoryId,
        update_id: &UpdateId,
        actor: Option<&ActorId>,
        details: Value,
    ) -> NewEvent {
        NewEvent {
            actor: actor.cloned(),
            update_id: Some(update_id.clone()),
            details: Some(details),
            is_of_queue: true,
            ..self.event(memory, EventKind::Update)
        }
    }
}

/// Whether a claimed update's request was removed because a version that it quoted was redacted.
#[must_use]
pub fn is_redacted(request: &Value) -> bool {
    *request == redacted_json()
}

/// Maximum number of queued and running updates.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// Of one memory.
    pub per_memory: i64,
    /// Of one vault; concurrent requests may exceed it slightly.
    pub per_vault: i64,
    /// Of one memory no other one of its kind.
    pub is_alone: bool,
}

/// Which limit a queue has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueFull {
    /// That of the memory.
    Memory,
    /// That of the vault.
    Vault,
    /// Another one of its kind is queued or running.
    NotAlone,
}

impl Storage {
    /// Adds an update to the end of its memory's queue. It is stored when this returns.
    ///
    /// # Errors
    /// [`StorageError::MemoryDeleted`], or database errors. Inside: the limit that leaves no room; nothing was stored then.
    pub async fn enqueue_update(
        &self,
        run: &Run,
        preconditions: &Value,
        limits: QueueLimits,
        under: Option<&Answering<'_, Run>>,
    ) -> Result<Result<(), QueueFull>, StorageError> {
        let (vault, memory) = (&run.vault_id, &run.memory_id);
        let details = json!({"step": "queued"});
        let event = &self.queue_event(memory, &run.update_id, Some(&run.actor_id), details);
        self.transaction("db.updates.enqueue", |mut transaction| async move {
            must_live_on(&mut transaction, (vault, memory), run.identity.as_deref()).await?;
            let place = match next_place(&mut transaction, run, limits).await? {
                Ok(place) => place,
                Err(full) => return Ok((transaction.rollback().await?, Err(full))),
            };
            let (stored, place) = (RunJson::of(run), Some((place, preconditions)));
            insert_rows(&mut transaction, &[(run, &stored)], place).await?;
            events::append(&mut transaction, vault, from_ref(event)).await?;
            keep_one(&mut transaction, under, Some(memory), run).await?;
            Ok::<_, StorageError>((transaction, Ok(())))
        })
        .await
    }
}

/// The next position in the memory's queue, and the time of the database. One request after another gets one.
async fn next_place(
    connection: &mut Connection,
    run: &Run,
    limits: QueueLimits,
) -> Result<Result<(i64, DateTime<Utc>), QueueFull>, StorageError> {
    let (vault, memory) = (run.vault_id.as_str(), run.memory_id.as_str());
    lock_name(connection, &format!("queue of {vault}/{memory}")).await?;
    let line = sqlx::query!(
        r#"SELECT count(*) AS "of_vault!", count(*) FILTER (WHERE memory_id = $2) AS "of_memory!",
                  count(*) FILTER (WHERE memory_id = $2 AND kind = $3) AS "of_kind!",
                  COALESCE(max(queue_place) FILTER (WHERE memory_id = $2), 0) AS "last!", now() AS "now!"
           FROM updates
           WHERE vault_id = $1 AND queue_place IS NOT NULL"#,
        vault,
        memory,
        run.kind.name(),
    )
    .fetch_one(connection)
    .await?;
    Ok(if limits.is_alone && line.of_kind > 0 {
        Err(QueueFull::NotAlone)
    } else if line.of_memory >= limits.per_memory {
        Err(QueueFull::Memory)
    } else if line.of_vault >= limits.per_vault {
        Err(QueueFull::Vault)
    } else {
        Ok((line.last + 1, line.now))
    })
}

/// The key of an update that can be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
}

/// A claimed update.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Its key.
    pub due: Due,
    /// The claim's id.
    pub claim: String,
    /// The actor that requested it.
    pub actor: ActorId,
    /// When it was queued.
    pub created_at: DateTime<Utc>,
    /// Number of attempts, including this one.
    pub attempts: i32,
    /// The request.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
}

/// Stored JSON. What cannot be read becomes the error as a string, so that this update fails instead of stopping the queue.
fn readable(Json(stored): &Json<Box<RawValue>>) -> Value {
    serde_json::from_str(stored.get()).unwrap_or_else(|error| error.to_string().into())
}

/// What is further in the future than anything waits or is claimed for `lease`, whenever its transaction began. Only the
/// database's clock counts, which may have been set back: a later time was written before that, so it counts as past.
fn beyond(lease: TimeDelta) -> TimeDelta {
    lease.max(LONGEST_WAIT) + TimeDelta::minutes(1)
}

impl Storage {
    /// The first updates of all memories' queues that can be claimed, at most `limit`, without the vaults in `not_now`:
    /// the oldest of each vault first, then the second of each, so that the updates of one vault do not hide those of
    /// another. Reads unfinished updates of all vaults, or of one.
    ///
    /// # Errors
    /// Database errors.
    pub async fn due_updates(
        &self,
        vault: Option<&VaultId>,
        not_now: &[String],
        lease: TimeDelta,
        limit: i64,
    ) -> Result<Vec<Due>, StorageError> {
        if let Some(vault) = vault {
            return self.due_updates_of(vault, lease, limit).await;
        }
        Ok(sqlx::query_as!(
            Due,
            r#"SELECT vault_id AS "vault!", memory_id AS "memory!", update_id AS "update_id!"
               FROM (SELECT vault_id, memory_id, update_id, created_at,
                            row_number() OVER (PARTITION BY vault_id ORDER BY created_at, update_id) AS nth
                     FROM (SELECT DISTINCT ON (vault_id, memory_id) vault_id, memory_id, update_id, created_at,
                                  COALESCE(not_before, lease_until) AS due_at
                           FROM updates
                           WHERE queue_place IS NOT NULL
                           ORDER BY vault_id, memory_id, status = 'queued', queue_place) AS heads
                     WHERE (due_at <= now() OR due_at > now() + $1::interval) AND vault_id <> ALL ($2)) AS due
               ORDER BY nth, created_at
               LIMIT $3"#,
            beyond(lease) as _,
            not_now,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?)
    }

    async fn due_updates_of(
        &self,
        vault: &VaultId,
        lease: TimeDelta,
        limit: i64,
    ) -> Result<Vec<Due>, StorageError> {
        Ok(sqlx::query_as!(
            Due,
            r#"SELECT $1::text AS "vault!: VaultId", memory_id AS "memory!", update_id AS "update_id!"
               FROM (SELECT DISTINCT ON (memory_id) memory_id, update_id, created_at,
                            COALESCE(not_before, lease_until) AS due_at
                     FROM updates
                     WHERE vault_id = $1 AND queue_place IS NOT NULL
                     ORDER BY memory_id, status = 'queued', queue_place) AS heads
               WHERE due_at <= now() OR due_at > now() + $2::interval
               ORDER BY created_at
               LIMIT $3"#,
            vault.as_str(),
            beyond(lease) as _,
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?)
    }

    /// Claims an update for `lease`. `None` if another worker claimed it first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn claim_update(
        &self,
        due: &Due,
        claim: &str,
        lease: TimeDelta,
    ) -> Result<Option<Claimed>, StorageError> {
        let claimed = self.transaction_for(Class::Sweep, "db.updates.claim", |mut transaction| async move {
            let row = sqlx::query!(
                r#"UPDATE updates
                 SET status = 'running', claim_id = $4, lease_until = now() + $5::interval,
                     not_before = NULL, attempts = attempts + 1
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status IN ('queued', 'running')
                   AND (COALESCE(not_before, lease_until) <= now()
                        OR COALESCE(not_before, lease_until) > now() + $6::interval)
                 RETURNING actor_id, created_at, attempts,
                           request AS "request: Json<Box<RawValue>>", preconditions AS "preconditions: Json<Box<RawValue>>""#,
                due.vault.as_str(),
                due.memory.as_str(),
                due.update_id.as_str(),
                claim,
                lease as _,
                beyond(lease) as _,
            )
            .fetch_optional(&mut transaction)
            .await?;
            Ok((transaction, row))
        });
        let row = match claimed.await {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            // Another update of the memory has just been claimed.
            Err(error) if error::has_code(&error, error::UNIQUE_VIOLATION) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Claimed {
            actor: row.actor_id,
            due: due.clone(),
            claim: claim.to_owned(),
            created_at: row.created_at,
            attempts: row.attempts,
            request: readable(&row.request),
            preconditions: row.preconditions.as_ref().map_or(Value::Null, readable),
        }))
    }

    /// Renews a claim. `false` if it is lost: expired and taken over, cancelled, or deleted.
    ///
    /// # Errors
    /// Database errors.
    pub async fn renew_update(&self, claimed: &Claimed, lease: TimeDelta) -> Result<bool, StorageError> {
        let renew = || {
            sqlx::query!(
                "UPDATE updates SET lease_until = now() + $5::interval
                 WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
                claimed.due.vault.as_str(),
                claimed.due.memory.as_str(),
                claimed.due.update_id.as_str(),
                claimed.claim,
                lease as _,
            )
        };
        Ok(self.execute(Class::Write, "db.updates.renew", renew).await? == 1)
    }
}

/// The result of cancelling an update.
#[derive(Debug)]
pub enum Cancelled {
    /// It was cancelled; this is its run now.
    Done(Box<Run>),
    /// It had already ended with this status.
    Ended(RunStatus),
    /// No such run exists.
    Unknown,
}

impl Storage {
    /// Requeues an update at its place, where it is not claimed again for a time, at most [`LONGEST_WAIT`]. `problem` is the error
    /// of the attempt, which need not count. `false` if the claim was lost.
    ///
    /// # Errors
    /// Database errors; then the claim expires.
    pub async fn hand_back_update(
        &self,
        claimed: &Claimed,
        wait: TimeDelta,
        counts: bool,
        problem: Option<&str>,
    ) -> Result<bool, StorageError> {
        // An interval of the database counts microseconds.
        let wait = wait.min(LONGEST_WAIT).num_microseconds().unwrap_or_default();
        let uncounted = i32::from(!counts);
        let outcome = problem.map(|problem| json!({"problem": problem}));
        let requeue = || {
            sqlx::query!(
                "UPDATE updates
             SET status = 'queued', claim_id = NULL, lease_until = NULL, not_before = now() + $5::interval,
                 attempts = attempts - $6, outcome = COALESCE($7, outcome)
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
                claimed.due.vault.as_str(),
                claimed.due.memory.as_str(),
                claimed.due.update_id.as_str(),
                claimed.claim,
                TimeDelta::microseconds(wait) as _,
                uncounted,
                outcome,
            )
        };
        let details = json!({"step": "queued", "attempts": claimed.attempts - uncounted});
        let of = (&claimed.due, Some(&claimed.actor));
        self.end("db.updates.hand_back", of, requeue, details).await
    }

    /// Ends an update without a version. `false` if the claim was lost.
    ///
    /// # Errors
    /// Database errors; then the claim expires.
    pub async fn give_up_update(
        &self,
        claimed: &Claimed,
        status: RunStatus,
        problem: &str,
    ) -> Result<bool, StorageError> {
        let (now, outcome) = (self.clock.now(), json!({"problem": problem}));
        let end = || finish(&claimed.due, Some(&claimed.claim), status, now, Some(&outcome));
        let details = json!({"step": "finished", "status": status.name()});
        let of = (&claimed.due, Some(&claimed.actor));
        self.end("db.updates.give_up", of, end, details).await
    }

    /// Cancels a queued or running update at once: it never saves anything. A worker that runs it stops when it
    /// notices.
    ///
    /// # Errors
    /// Database errors.
    pub async fn cancel_update(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<Cancelled, StorageError> {
        let due = &Due {
            vault: vault.clone(),
            memory: memory.clone(),
            update_id: id.clone(),
        };
        let now = self.clock.now();
        let cancel = || finish(due, None, RunStatus::Cancelled, now, None);
        let details = json!({"step": "cancelled"});
        let is_cancelled = self
            .end("db.updates.cancel", (due, None), cancel, details)
            .await?;
        Ok(match self.run(vault, memory, id).await? {
            Some(run) if is_cancelled => Cancelled::Done(Box::new(run)),
            Some(run) => Cancelled::Ended(run.status),
            None => Cancelled::Unknown,
        })
    }

    /// Ends an update or its claim by this statement, and tells of it. `false` if nothing ended, since the claim was lost or the
    /// update had ended.
    async fn end<'q>(
        &self,
        name: &'static str,
        (due, actor): (&Due, Option<&ActorId>),
        end: impl Fn() -> Query<'q, Postgres, PgArguments>,
        details: Value,
    ) -> Result<bool, StorageError> {
        let end = &end;
        let event = &self.queue_event(&due.memory, &due.update_id, actor, details);
        self.transaction(name, |mut transaction| async move {
            if end().execute(&mut transaction).await?.rows_affected() == 0 {
                return Ok((transaction.rollback().await?, false));
            }
            events::append(&mut transaction, &due.vault, from_ref(event)).await?;
            Ok::<_, StorageError>((transaction, true))
        })
        .await
    }
}

/// Ends an update, the one with this claim if given, at `now`, but never before it was queued.
fn finish<'q>(
    due: &'q Due,
    claim: Option<&'q str>,
    status: RunStatus,
    now: DateTime<Utc>,
    outcome: Option<&'q Value>,
) -> Query<'q, Postgres, PgArguments> {
    sqlx::query!(
        "UPDATE updates
         SET status = $5, finished_at = GREATEST($6, created_at), outcome = COALESCE($7, outcome), queue_place = NULL,
             not_before = NULL, claim_id = NULL, lease_until = NULL
         WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status IN ('queued', 'running')
           AND ($4::text IS NULL OR claim_id = $4)",
        due.vault.as_str(),
        due.memory.as_str(),
        due.update_id.as_str(),
        claim,
        status.name(),
        now,
        outcome,
    )
}
