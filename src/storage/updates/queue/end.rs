//! How a claimed update ends without a version: it is requeued, fails, or is cancelled. An update that creates a
//! version ends in the transaction that saves it.

use super::{Claimed, Due, LONGEST_WAIT, changed};
use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::storage::database::listen;
use crate::storage::events;
use crate::storage::updates::{Row, Run, RunStatus};
use crate::storage::{Storage, StorageError};
use chrono::TimeDelta;
use serde_json::{Value, json};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use std::slice::from_ref;

/// How an update is requeued.
#[derive(Debug, Clone)]
pub struct HandBack {
    /// How long it is not claimed again, at most [`LONGEST_WAIT`].
    pub wait: TimeDelta,
    /// Whether the attempt counts.
    pub counts: bool,
    /// The error of the attempt.
    pub problem: Option<String>,
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
    /// Requeues an update at its place. `false` if the claim was lost.
    ///
    /// # Errors
    /// Database errors; then the claim expires.
    #[tracing::instrument(name = "db.updates.hand_back", skip_all)]
    pub async fn hand_back_update(&self, claimed: &Claimed, back: &HandBack) -> Result<bool, StorageError> {
        // An interval of the database counts microseconds.
        let wait = back.wait.min(LONGEST_WAIT).num_microseconds().unwrap_or_default();
        let uncounted = i32::from(!back.counts);
        let outcome = back.problem.as_ref().map(|problem| json!({"problem": problem}));
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
        self.end_claim("db.updates.hand_back", claimed, requeue, details)
            .await
    }

    /// Ends an update without a version. `false` if the claim was lost.
    ///
    /// # Errors
    /// Database errors; then the claim expires.
    #[tracing::instrument(name = "db.updates.give_up", skip_all)]
    pub async fn give_up_update(
        &self,
        claimed: &Claimed,
        status: RunStatus,
        problem: &str,
    ) -> Result<bool, StorageError> {
        let finish = || {
            sqlx::query!(
                "UPDATE updates
             SET status = $5, finished_at = $6, outcome = $7, queue_place = NULL, not_before = NULL, claim_id = NULL,
                 lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
                claimed.due.vault.as_str(),
                claimed.due.memory.as_str(),
                claimed.due.update_id.as_str(),
                claimed.claim,
                status.name(),
                self.clock.now().max(claimed.created_at),
                json!({"problem": problem}),
            )
        };
        let details = json!({"step": "finished", "status": status.name()});
        self.end_claim("db.updates.give_up", claimed, finish, details)
            .await
    }

    /// Ends a claim by this statement, and tells of it. `false` if the claim was lost.
    async fn end_claim<'q>(
        &self,
        name: &'static str,
        claimed: &Claimed,
        end: impl Fn() -> Query<'q, Postgres, PgArguments>,
        details: Value,
    ) -> Result<bool, StorageError> {
        let Due {
            vault,
            memory,
            update_id,
        } = &claimed.due;
        let (end, changed) = (&end, changed(vault, memory));
        let event = &self.queue_event(memory, update_id, Some(&claimed.actor), details);
        let notification = &changed;
        let is_held = self
            .transaction(name, |mut transaction| async move {
                if end().execute(&mut transaction).await?.rows_affected() == 0 {
                    return Ok(transaction.roll_back_with(false));
                }
                events::append(&mut transaction, vault, from_ref(event)).await?;
                listen::notify(&mut transaction, from_ref(notification)).await?;
                Ok::<_, StorageError>(transaction.commit_with(true))
            })
            .await?;
        if is_held {
            self.appended(vault, from_ref(event));
            self.notifications.publish(changed);
        }
        Ok(is_held)
    }

    /// Cancels a queued or running update at once: it never saves anything. A worker that runs it stops when it
    /// notices.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.updates.cancel", skip_all)]
    pub async fn cancel_update(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<Cancelled, StorageError> {
        let event = &self.queue_event(memory, id, None, json!({"step": "cancelled"}));
        let cancelled = self
            .transaction("db.updates.cancel", |mut transaction| async move {
                let row = sqlx::query_as!(
                    Row,
                    "UPDATE updates
             SET status = 'cancelled', finished_at = GREATEST($4, created_at), queue_place = NULL, not_before = NULL,
                 claim_id = NULL, lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status IN ('queued', 'running')
             RETURNING vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                       base_version, version, context_id, resolved_by, request, exchanges, outcome,
                       NULL::jsonb AS instructions, NULL::text AS shown, NULL::jsonb AS made",
                    vault.as_str(),
                    memory.as_str(),
                    id.as_str(),
                    self.clock.now(),
                )
                .fetch_optional(&mut transaction)
                .await?;
                let Some(row) = row else {
                    return Ok(transaction.roll_back_with(None));
                };
                let run = Box::new(Run::try_from(row)?);
                events::append(&mut transaction, vault, from_ref(event)).await?;
                listen::notify(&mut transaction, &[changed(vault, memory)]).await?;
                Ok::<_, StorageError>(transaction.commit_with(Some(run)))
            })
            .await?;
        let Some(run) = cancelled else {
            let run = self.run(vault, memory, id).await?;
            return Ok(run.map_or(Cancelled::Unknown, |run| Cancelled::Ended(run.status)));
        };
        self.appended(vault, from_ref(event));
        self.notifications.publish(changed(vault, memory));
        Ok(Cancelled::Done(run))
    }
}
