//! Adds updates to the end of their memory's queue.

use super::changed;
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::transaction::TransactionError;
use crate::storage::events;
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::updates::{Row, Run, RunKind, must_live_on};
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

/// How often a position is tried if concurrent requests take it.
const MAX_TRIES: u32 = 50;

/// Maximum number of queued and running updates.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// Of one memory.
    pub per_memory: i64,
    /// Of one vault; concurrent requests may exceed it slightly.
    pub per_vault: i64,
}

/// An update to queue.
#[derive(Debug, Clone)]
pub struct NewUpdate {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it need not exist.
    pub memory: MemoryId,
    /// What it does.
    pub kind: RunKind,
    /// The run's id.
    pub update_id: UpdateId,
    /// The actor that requests it.
    pub actor: ActorId,
    /// When it was requested.
    pub created_at: DateTime<Utc>,
    /// The head's version when it was accepted.
    pub base_version: i64,
    /// The identity of the memory when it was accepted; `None` if there was none.
    pub identity: Option<String>,
    /// The request, as shown to clients.
    pub request: Value,
    /// Conditions on the head.
    pub preconditions: Value,
    /// Whether it is left out where another one of its kind is queued or running.
    pub is_alone: bool,
    /// The answer to store under the claim of the request's idempotency key.
    pub idempotency: Option<Answering<'static, Run>>,
}

/// Why an update was not queued.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    /// The memory's queue is full.
    #[error("{limit} updates of this memory are queued")]
    MemoryFull {
        /// The maximum length of a queue.
        limit: i64,
    },
    /// The vault has too many queued updates.
    #[error("{limit} updates of this vault are queued")]
    VaultFull {
        /// The maximum number of queued updates of a vault.
        limit: i64,
    },
    /// Another one of its kind is queued or running.
    #[error("one of its kind is queued or running")]
    NotAlone,
    /// The database failed; nothing was queued.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TransactionError for EnqueueError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::MemoryFull { .. } | Self::VaultFull { .. } | Self::NotAlone => None,
        }
    }
}

impl From<sqlx::Error> for EnqueueError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl Storage {
    /// Adds an update to the end of its memory's queue. It is stored when this returns.
    ///
    /// # Errors
    /// As [`EnqueueError`] says.
    #[tracing::instrument(name = "db.updates.enqueue", skip_all)]
    pub async fn enqueue_update(&self, new: &NewUpdate, limits: &QueueLimits) -> Result<Run, EnqueueError> {
        for _ in 0..MAX_TRIES {
            let queued = self
                .transaction("db.updates.enqueue", |mut transaction| async move {
                    let of = (&new.vault, &new.memory);
                    must_live_on(&mut transaction, of, new.identity.as_deref()).await?;
                    let place = next_place(&mut transaction, new, limits).await?;
                    let Some(run) = insert_queued(&mut transaction, new, place).await? else {
                        return Ok(transaction.roll_back_with(None));
                    };
                    let event = self.queue_event(
                        &new.memory,
                        &new.update_id,
                        Some(&new.actor),
                        json!({"step": "queued"}),
                    );
                    events::append(&mut transaction, &new.vault, std::slice::from_ref(&event)).await?;
                    keep_one(
                        &mut transaction,
                        new.idempotency.as_ref(),
                        Some(&new.memory),
                        &run,
                    )
                    .await?;
                    listen::notify(&mut transaction, &[changed(&new.vault, &new.memory)]).await?;
                    Ok::<_, EnqueueError>(transaction.commit_with(Some((run, event))))
                })
                .await?;
            if let Some((run, event)) = queued {
                self.appended(&new.vault, &[event]);
                self.notifications.publish(changed(&new.vault, &new.memory));
                return Ok(run);
            }
        }
        Err(EnqueueError::MemoryFull {
            limit: limits.per_memory,
        })
    }
}

/// The next free position in the memory's queue, and the time of the database.
async fn next_place(
    connection: &mut Connection,
    new: &NewUpdate,
    limits: &QueueLimits,
) -> Result<(i64, DateTime<Utc>), EnqueueError> {
    let line = sqlx::query!(
        r#"SELECT count(*) AS "length!", COALESCE(max(queue_place), 0) AS "last!", now() AS "now!",
                  COALESCE(bool_or(kind = $3), false) AS "has_other!"
           FROM updates
           WHERE vault_id = $1 AND memory_id = $2 AND queue_place IS NOT NULL"#,
        new.vault.as_str(),
        new.memory.as_str(),
        new.kind.name(),
    )
    .fetch_one(&mut *connection)
    .await?;
    if new.is_alone && line.has_other {
        return Err(EnqueueError::NotAlone);
    }
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
    Ok((line.last + 1, line.now))
}

/// `None` if a concurrent request took the position.
async fn insert_queued(
    connection: &mut Connection,
    new: &NewUpdate,
    (place, now): (i64, DateTime<Utc>),
) -> Result<Option<Run>, StorageError> {
    let row = sqlx::query_as!(
        Row,
        "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, base_version,
                              request, exchanges, outcome, attempts, queue_place, not_before, preconditions)
         VALUES ($1, $2, $3, $11, 'queued', $4, $5, $6, $7, '[]', '{}', 0, $8, $9, $10)
         ON CONFLICT (vault_id, memory_id, queue_place) WHERE queue_place IS NOT NULL DO NOTHING
         RETURNING vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                   base_version, version, context_id, resolved_by, request, exchanges, outcome,
                   NULL::jsonb AS instructions, NULL::text AS shown, NULL::jsonb AS made",
        new.vault.as_str(),
        new.memory.as_str(),
        new.update_id.as_str(),
        new.actor.as_str(),
        new.created_at,
        new.base_version,
        new.request,
        place,
        now,
        new.preconditions,
        new.kind.name(),
    )
    .fetch_optional(connection)
    .await?;
    row.map(Run::try_from).transpose()
}
