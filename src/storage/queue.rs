//! Updates that are accepted before they are run: rows of `updates` that are `queued` or `running`.
//!
//! Each stands at a place in its memory's line. Workers of all instances look at the heads of the lines without a lock
//! ([`Storage::due_updates`]) and claim one by its key ([`Storage::claim_update`]). A claim is a lease: its worker
//! renews it, and of one that is not renewed any more the process has died. Of one memory one update runs at a time, by
//! a unique index, so nobody overtakes.
//!
//! An update takes effect exactly once because the transaction that saves its version is the one that ends the run,
//! under its claim (`insert_run`): whoever has lost the claim, or whose run was called off, saves nothing.

use super::events::{self, EventKind, NewEvent};
use super::updates::{Row, Run, RunStatus, redacted_json};
use super::{Storage, StorageError, listen};
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sqlx::PgConnection;

/// How often a place in a line is looked for when others take it at the same time.
const MAX_TRIES: u32 = 50;

/// How many updates may be queued or running.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// Of one memory.
    pub per_memory: i64,
    /// Of one vault; when many come at the same moment it may become a few more.
    pub per_vault: i64,
}

/// An update to be queued.
#[derive(Debug, Clone)]
pub struct NewUpdate {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it need not exist.
    pub memory: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
    /// Who asks.
    pub actor: ActorId,
    /// When it came.
    pub created_at: DateTime<Utc>,
    /// The head's version when it was accepted.
    pub base_version: i64,
    /// What is asked for, as it is shown.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
}

/// Why an update was not queued.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    /// The memory's line is full.
    #[error("{limit} updates of this memory are queued")]
    MemoryFull {
        /// How long a line may be.
        limit: i64,
    },
    /// The vault's lines are full.
    #[error("{limit} updates of this vault are queued")]
    VaultFull {
        /// How many updates of a vault may be queued.
        limit: i64,
    },
    /// The database failed; nothing was queued.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<sqlx::Error> for EnqueueError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// The key of an update that may be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
}

/// An update under a claim.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Which one.
    pub due: Due,
    /// The claim's id.
    pub claim: String,
    /// Who asked for it.
    pub actor: ActorId,
    /// When it came.
    pub created_at: DateTime<Utc>,
    /// How often it was begun, this time included.
    pub attempts: i32,
    /// What is asked for.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
}

/// What an update that is handed back waits for.
#[derive(Debug, Clone)]
pub struct HandBack {
    /// How long it is not to be begun again.
    pub wait: TimeDelta,
    /// Whether the attempt counts.
    pub counts: bool,
    /// Why it came to nothing.
    pub problem: Option<String>,
}

/// What calling an update off came to.
#[derive(Debug)]
pub enum Cancelled {
    /// It is cancelled; this is its run now.
    Done(Box<Run>),
    /// It had ended already, like this.
    Ended(RunStatus),
    /// There is no such run.
    Unknown,
}

/// The queue of the whole database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueState {
    /// How many are queued.
    pub queued: i64,
    /// How many are running.
    pub running: i64,
    /// When the one came that has waited longest.
    pub oldest: Option<DateTime<Utc>>,
}

impl Storage {
    /// Queues an update at the end of its memory's line. When this returns it is stored.
    ///
    /// # Errors
    /// As [`EnqueueError`] says.
    #[tracing::instrument(name = "db.updates.enqueue", skip_all)]
    pub async fn enqueue_update(&self, new: &NewUpdate, limits: &QueueLimits) -> Result<Run, EnqueueError> {
        for _ in 0..MAX_TRIES {
            let mut transaction = self.begin().await?;
            let place = next_place(&mut transaction, new, limits).await?;
            let Some(run) = insert_queued(&mut transaction, new, place).await? else {
                continue;
            };
            let event = self.queue_event(
                &new.memory,
                &new.update_id,
                Some(&new.actor),
                json!({"step": "queued"}),
            );
            events::append(&mut transaction, &new.vault, std::slice::from_ref(&event)).await?;
            let notification = changed(&new.vault, &new.memory);
            listen::notify(&mut transaction, &notification).await?;
            transaction.commit().await?;
            self.appended(&new.vault, &[event]);
            self.notifications.tell(notification);
            return Ok(run);
        }
        Err(EnqueueError::MemoryFull {
            limit: limits.per_memory,
        })
    }

    /// The heads of the lines that may be claimed, those that came first first, at most `limit`; none of the vaults in
    /// `busy`. A read over all vaults that touches unfinished updates only.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.due", skip_all)]
    pub async fn due_updates(&self, busy: &[String], limit: i64) -> Result<Vec<Due>, StorageError> {
        let rows = sqlx::query!(
            r#"SELECT vault_id AS "vault_id!", memory_id AS "memory_id!", update_id AS "update_id!"
               FROM (SELECT DISTINCT ON (vault_id, memory_id) vault_id, memory_id, update_id, status, created_at,
                            not_before, lease_until
                     FROM updates
                     WHERE queue_place IS NOT NULL
                     ORDER BY vault_id, memory_id, status = 'queued', queue_place) AS heads
               WHERE ((status = 'queued' AND not_before <= $1) OR (status = 'running' AND lease_until <= $1))
                 AND vault_id <> ALL ($2)
               ORDER BY created_at
               LIMIT $3"#,
            self.clock.now(),
            busy,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        rows.into_iter()
            .map(|row| {
                let corrupt = |column| StorageError::Corrupt {
                    table: "updates",
                    column,
                    row: format!("({}, {}, {})", row.vault_id, row.memory_id, row.update_id),
                    problem: "not an id".to_owned(),
                };
                Ok(Due {
                    vault: row.vault_id.parse().map_err(|_| corrupt("vault_id"))?,
                    memory: row.memory_id.parse().map_err(|_| corrupt("memory_id"))?,
                    update_id: row.update_id.parse().map_err(|_| corrupt("update_id"))?,
                })
            })
            .collect()
    }

    /// Claims an update for `lease`. `None` if somebody else was faster.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.claim", skip_all)]
    pub async fn claim_update(
        &self,
        due: &Due,
        claim: &str,
        lease: TimeDelta,
    ) -> Result<Option<Claimed>, StorageError> {
        let now = self.clock.now();
        let mut transaction = self.begin().await?;
        let claimed = sqlx::query!(
            "UPDATE updates
             SET status = 'running', claim_id = $4, lease_until = $5, not_before = NULL, attempts = attempts + 1
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3
               AND ((status = 'queued' AND not_before <= $6) OR (status = 'running' AND lease_until <= $6))
             RETURNING actor_id, created_at, attempts, request, preconditions",
            due.vault.as_str(),
            due.memory.as_str(),
            due.update_id.as_str(),
            claim,
            now + lease,
            now,
        )
        .fetch_optional(&mut *transaction)
        .await
        .map_err(StorageError::from);
        let row = match claimed {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            // Another one of the memory began to run in this moment.
            Err(error) if super::error::is_taken(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        transaction.commit().await?;
        Ok(Some(Claimed {
            actor: row.actor_id.parse().map_err(|_| StorageError::Corrupt {
                table: "updates",
                column: "actor_id",
                row: due.update_id.to_string(),
                problem: "not an id".to_owned(),
            })?,
            due: due.clone(),
            claim: claim.to_owned(),
            created_at: row.created_at,
            attempts: row.attempts,
            request: row.request,
            preconditions: row.preconditions.unwrap_or(Value::Null),
        }))
    }

    /// Keeps a claim from being taken for dead. `false` if it is lost: taken over, called off, or deleted.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.renew", skip_all)]
    pub async fn renew_update(&self, claimed: &Claimed, lease: TimeDelta) -> Result<bool, StorageError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query!(
            "UPDATE updates SET lease_until = $5
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
            claimed.due.vault.as_str(),
            claimed.due.memory.as_str(),
            claimed.due.update_id.as_str(),
            claimed.claim,
            self.clock.now() + lease,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Puts an update back to its place in the line. `false` if the claim was lost.
    ///
    /// # Errors
    /// The database's; then the claim runs out by itself.
    #[tracing::instrument(name = "db.updates.hand_back", skip_all)]
    pub async fn hand_back_update(&self, claimed: &Claimed, back: &HandBack) -> Result<bool, StorageError> {
        let outcome = back.problem.as_ref().map(|problem| json!({"problem": problem}));
        let mut transaction = self.begin().await?;
        let done = sqlx::query!(
            "UPDATE updates
             SET status = 'queued', claim_id = NULL, lease_until = NULL, not_before = $5,
                 attempts = attempts - $6, outcome = COALESCE($7, outcome)
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
            claimed.due.vault.as_str(),
            claimed.due.memory.as_str(),
            claimed.due.update_id.as_str(),
            claimed.claim,
            self.clock.now() + back.wait,
            i32::from(!back.counts),
            outcome,
        )
        .execute(&mut *transaction)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let Due {
            vault,
            memory,
            update_id,
        } = &claimed.due;
        let details = json!({"step": "queued", "attempts": claimed.attempts - i32::from(!back.counts)});
        let event = self.queue_event(memory, update_id, Some(&claimed.actor), details);
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        let notification = changed(vault, memory);
        listen::notify(&mut transaction, &notification).await?;
        transaction.commit().await?;
        self.appended(vault, &[event]);
        self.notifications.tell(notification);
        Ok(true)
    }

    /// Ends an update without a version. `false` if the claim was lost.
    ///
    /// # Errors
    /// The database's; then the claim runs out by itself.
    #[tracing::instrument(name = "db.updates.give_up", skip_all)]
    pub async fn give_up_update(
        &self,
        claimed: &Claimed,
        status: RunStatus,
        problem: &str,
    ) -> Result<bool, StorageError> {
        let Due {
            vault,
            memory,
            update_id,
        } = &claimed.due;
        let mut transaction = self.begin().await?;
        let done = sqlx::query!(
            "UPDATE updates
             SET status = $5, finished_at = $6, outcome = $7, queue_place = NULL, not_before = NULL, claim_id = NULL,
                 lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
            vault.as_str(),
            memory.as_str(),
            update_id.as_str(),
            claimed.claim,
            status.name(),
            self.clock.now().max(claimed.created_at),
            json!({"problem": problem}),
        )
        .execute(&mut *transaction)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let details = json!({"step": "finished", "status": status.name()});
        let event = self.queue_event(memory, update_id, Some(&claimed.actor), details);
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        transaction.commit().await?;
        self.appended(vault, &[event]);
        Ok(true)
    }

    /// Calls an update off. Queued or running, it is cancelled at once and will never save anything; a worker that has
    /// begun it stops as soon as it notices.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.cancel", skip_all)]
    pub async fn cancel_update(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<Cancelled, StorageError> {
        let mut transaction = self.begin().await?;
        let row = sqlx::query_as!(
            Row,
            "UPDATE updates
             SET status = 'cancelled', finished_at = GREATEST($4, created_at), queue_place = NULL, not_before = NULL,
                 claim_id = NULL, lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status IN ('queued', 'running')
             RETURNING vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                       base_version, version, context_id, resolved_by, request, exchanges, outcome",
            vault.as_str(),
            memory.as_str(),
            id.as_str(),
            self.clock.now(),
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else {
            drop(transaction);
            let run = self.run(vault, memory, id).await?;
            return Ok(run.map_or(Cancelled::Unknown, |run| Cancelled::Ended(run.status)));
        };
        let event = self.queue_event(memory, id, None, json!({"step": "cancelled"}));
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        let notification = changed(vault, memory);
        listen::notify(&mut transaction, &notification).await?;
        transaction.commit().await?;
        self.appended(vault, &[event]);
        self.notifications.tell(notification);
        Ok(Cancelled::Done(Box::new(row.into_run()?)))
    }

    /// How much waits. A read over all vaults that touches unfinished updates only.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.queue_state", skip_all)]
    pub async fn queue_state(&self) -> Result<QueueState, StorageError> {
        let state = sqlx::query_as!(
            QueueState,
            r#"SELECT count(*) FILTER (WHERE status = 'queued') AS "queued!",
                      count(*) FILTER (WHERE status = 'running') AS "running!",
                      min(created_at) FILTER (WHERE status = 'queued') AS oldest
               FROM updates
               WHERE queue_place IS NOT NULL"#,
        )
        .fetch_one(&mut *self.reader().await?)
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
            ..self.event(memory, EventKind::Update)
        }
    }
}

fn changed(vault: &VaultId, memory: &MemoryId) -> listen::Notification {
    listen::Notification {
        vault: vault.clone(),
        memory: memory.clone(),
        version: None,
        gone: false,
        queue: true,
    }
}

/// The place behind the last in the memory's line.
async fn next_place(
    connection: &mut PgConnection,
    new: &NewUpdate,
    limits: &QueueLimits,
) -> Result<i64, EnqueueError> {
    let line = sqlx::query!(
        r#"SELECT count(*) AS "length!", COALESCE(max(queue_place), 0) AS "last!"
           FROM updates
           WHERE vault_id = $1 AND memory_id = $2 AND queue_place IS NOT NULL"#,
        new.vault.as_str(),
        new.memory.as_str(),
    )
    .fetch_one(&mut *connection)
    .await?;
    if line.length >= limits.per_memory {
        return Err(EnqueueError::MemoryFull {
            limit: limits.per_memory,
        });
    }
    let all = sqlx::query_scalar!(
        r#"SELECT count(*) AS "all!" FROM updates WHERE vault_id = $1 AND queue_place IS NOT NULL"#,
        new.vault.as_str(),
    )
    .fetch_one(connection)
    .await?;
    if all >= limits.per_vault {
        return Err(EnqueueError::VaultFull {
            limit: limits.per_vault,
        });
    }
    Ok(line.last + 1)
}

/// `None` if somebody else took the place.
async fn insert_queued(
    connection: &mut PgConnection,
    new: &NewUpdate,
    place: i64,
) -> Result<Option<Run>, StorageError> {
    let row = sqlx::query_as!(
        Row,
        "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, base_version,
                              request, exchanges, outcome, attempts, queue_place, not_before, preconditions)
         VALUES ($1, $2, $3, 'update', 'queued', $4, $5, $6, $7, '[]', '{}', 0, $8, $5, $9)
         ON CONFLICT (vault_id, memory_id, queue_place) WHERE queue_place IS NOT NULL DO NOTHING
         RETURNING vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                   base_version, version, context_id, resolved_by, request, exchanges, outcome",
        new.vault.as_str(),
        new.memory.as_str(),
        new.update_id.as_str(),
        new.actor.as_str(),
        new.created_at,
        new.base_version,
        new.request,
        place,
        new.preconditions,
    )
    .fetch_optional(connection)
    .await?;
    row.map(Row::into_run).transpose()
}

/// Whether a claimed update's request was taken out with a version that it quoted.
#[must_use]
pub fn is_redacted(request: &Value) -> bool {
    *request == redacted_json()
}
