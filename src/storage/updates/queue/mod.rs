//! Updates that are accepted before they are run: rows of `updates` that are `queued` or `running`.
//!
//! Each stands at a place in its memory's line. Workers of all instances look at the heads of the lines without a lock
//! ([`Storage::due_updates`]) and claim one by its key ([`Storage::claim_update`]). A claim is a lease: its worker
//! renews it, and of one that is not renewed any more the process has died. Of one memory one update runs at a time, by
//! a unique index, so nobody overtakes.
//!
//! An update takes effect exactly once because the transaction that saves its version is the one that ends the run,
//! under its claim (`insert_run`): whoever has lost the claim, or whose run was called off, saves nothing.

mod claim;
mod end;
mod enqueue;

pub use claim::{Claimed, Due};
pub use end::{Cancelled, HandBack};
pub use enqueue::{EnqueueError, NewUpdate, QueueLimits};

use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::storage::database::notification::Notification;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::redacted_json;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde_json::Value;

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

fn changed(vault: &VaultId, memory: &MemoryId) -> Notification {
    Notification {
        queue: true,
        ..Notification::of(vault, memory)
    }
}

/// Whether a claimed update's request was taken out with a version that it quoted.
#[must_use]
pub fn is_redacted(request: &Value) -> bool {
    *request == redacted_json()
}
