//! How a claimed update ends without a version: it is requeued, fails, or is cancelled. An update that creates a
//! version ends in the transaction that saves it.

use super::{Claimed, Due, LONGEST_WAIT, changed};
use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::transaction::Ending;
use crate::storage::events::{self, NewEvent};
use crate::storage::updates::{Row, Run, RunStatus};
use crate::storage::{Storage, StorageError};
use chrono::TimeDelta;
use serde_json::json;

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
        let handed_back = self
            .transaction("db.updates.hand_back", |transaction| {
                self.hand_back_in(transaction, claimed, back)
            })
            .await?;
        let Some(event) = handed_back else {
            return Ok(false);
        };
        let Due { vault, memory, .. } = &claimed.due;
        self.appended(vault, &[event]);
        self.notifications.publish(changed(vault, memory));
        Ok(true)
    }

    /// Returns the event to publish; `None` if the claim was lost.
    async fn hand_back_in(
        &self,
        mut transaction: Connection,
        claimed: &Claimed,
        back: &HandBack,
    ) -> Result<Ending<Option<NewEvent>>, StorageError> {
        // An interval of the database counts microseconds.
        let wait = back.wait.min(LONGEST_WAIT).num_microseconds().unwrap_or_default();
        let outcome = back.problem.as_ref().map(|problem| json!({"problem": problem}));
        let done = sqlx::query!(
            "UPDATE updates
             SET status = 'queued', claim_id = NULL, lease_until = NULL, not_before = now() + $5::interval,
                 attempts = attempts - $6, outcome = COALESCE($7, outcome)
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
            claimed.due.vault.as_str(),
            claimed.due.memory.as_str(),
            claimed.due.update_id.as_str(),
            claimed.claim,
            TimeDelta::microseconds(wait) as _,
            i32::from(!back.counts),
            outcome,
        )
        .execute(&mut transaction)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(transaction.roll_back_with(None));
        }
        let Due {
            vault,
            memory,
            update_id,
        } = &claimed.due;
        let details = json!({"step": "queued", "attempts": claimed.attempts - i32::from(!back.counts)});
        let event = self.queue_event(memory, update_id, Some(&claimed.actor), details);
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        listen::notify(&mut transaction, &[changed(vault, memory)]).await?;
        Ok(transaction.commit_with(Some(event)))
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
        let given_up = self
            .transaction("db.updates.give_up", |transaction| {
                self.give_up_in(transaction, claimed, status, problem)
            })
            .await?;
        let Some(event) = given_up else { return Ok(false) };
        self.appended(&claimed.due.vault, &[event]);
        Ok(true)
    }

    /// Returns the event to publish; `None` if the claim was lost.
    async fn give_up_in(
        &self,
        mut transaction: Connection,
        claimed: &Claimed,
        status: RunStatus,
        problem: &str,
    ) -> Result<Ending<Option<NewEvent>>, StorageError> {
        let Due {
            vault,
            memory,
            update_id,
        } = &claimed.due;
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
        .execute(&mut transaction)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(transaction.roll_back_with(None));
        }
        let details = json!({"step": "finished", "status": status.name()});
        let event = self.queue_event(memory, update_id, Some(&claimed.actor), details);
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        Ok(transaction.commit_with(Some(event)))
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
        let of = (vault, memory, id);
        let cancelled = self
            .transaction("db.updates.cancel", |transaction| self.cancel_in(transaction, of))
            .await?;
        let Some((run, event)) = cancelled else {
            let run = self.run(vault, memory, id).await?;
            return Ok(run.map_or(Cancelled::Unknown, |run| Cancelled::Ended(run.status)));
        };
        self.appended(vault, &[event]);
        self.notifications.publish(changed(vault, memory));
        Ok(Cancelled::Done(run))
    }

    /// The cancelled run and the event to publish; `None` if it is neither queued nor running.
    async fn cancel_in(
        &self,
        mut transaction: Connection,
        (vault, memory, id): (&VaultId, &MemoryId, &UpdateId),
    ) -> Result<Ending<Option<(Box<Run>, NewEvent)>>, StorageError> {
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
        let run = Box::new(row.try_into()?);
        let event = self.queue_event(memory, id, None, json!({"step": "cancelled"}));
        events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
        listen::notify(&mut transaction, &[changed(vault, memory)]).await?;
        Ok(transaction.commit_with(Some((run, event))))
    }
}
