//! The queue of updates: rows of `updates` with the status `queued` or `running`.
//!
//! Each memory has its own queue. Workers of all instances look for the first update of each queue without a lock
//! ([`Storage::due_updates`]) and claim one by its key ([`Storage::claim_update`]). A claim is a lease that the worker
//! renews; when it expires, the process is considered dead. A unique index allows one running update for each memory,
//! so updates of a memory run in order.
//!
//! An update takes effect exactly once, because the transaction that saves its version also ends the run, under its
//! claim (`insert_run`): a worker that has lost its claim, or whose run was cancelled, saves nothing.

mod claim;
mod end;
mod enqueue;

pub use claim::{Claimed, Due, Lease};
pub use end::{Cancelled, HandBack};
pub use enqueue::{EnqueueError, NewUpdate, QueueLimits};

use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::database::notification::Notification;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::redacted_json;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

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
            ..self.event(memory, EventKind::Update)
        }
    }
}

fn changed(vault: &VaultId, memory: &MemoryId) -> Notification {
    Notification {
        queue: true,
        ..Notification::of(vault, memory)
    }
}

/// Whether a claimed update's request was removed because a version that it quoted was redacted.
#[must_use]
pub fn is_redacted(request: &Value) -> bool {
    *request == redacted_json()
}
