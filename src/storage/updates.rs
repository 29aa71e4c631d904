//! Runs of the pipeline: `updates`.

pub mod consolidations;
pub(in crate::storage) mod exchanges;
mod insert;
mod outcomes;
pub mod proposals;
pub mod queue;
mod run;

pub(super) use insert::must_live_on;
pub(super) use insert::redacted_json;
pub(super) use insert::{RunJson, insert_imported, insert_runs, quotes_the_head_only};
pub(super) use run::Row;
pub use run::{Run, RunKind, RunStatus};

use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::events;
use crate::storage::idempotency::{ClaimedAnswer, Gone, keep_answers};
use crate::storage::pages::{Reading, Rows};
use crate::storage::{Storage, StorageError};

/// A checked query for runs: their request and exchanges as they are wanted, and the condition after the name of the table.
macro_rules! run_rows {
    ($request:literal, $exchanges:literal, $condition:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            $crate::storage::updates::Row,
            r#"SELECT vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                      base_version, version, context_id, resolved_by, outcome,
                      CASE WHEN outcome ? 'in_version' THEN (
                          SELECT jsonb_build_object('log', made.log, 'operations', made.operations, 'text', made.context,
                                                    'before', before.context)
                          FROM memory_contexts AS made
                          LEFT JOIN memory_contexts AS before
                            ON before.vault_id = $1 AND before.memory_id = made.memory_id AND before.version = made.version - 1
                          WHERE made.vault_id = $1 AND made.memory_id = updates.memory_id AND made.version = updates.version
                      ) END AS made,
                      "# + $request + r#" AS "request!", "# + $exchanges + " FROM updates " + $condition,
            $($argument),+
        )
    };
}
pub(in crate::storage) use run_rows;

impl Storage {
    /// Saves a run without a version, with the answer to its request if that has an idempotency key. `resolves` is an invalid run
    /// that it completes by hand, without a change. Returns whether it was cleared, because it may quote a version that was
    /// redacted while it ran.
    ///
    /// # Errors
    /// [`StorageError::MemoryDeleted`] if its memory was deleted while it ran: the quotations in it would outlive the
    /// memory. [`StorageError::AlreadyResolved`]. Database errors.
    pub async fn save_run(
        &self,
        run: &Run,
        resolves: Option<&UpdateId>,
        answer: Option<&ClaimedAnswer>,
    ) -> Result<bool, StorageError> {
        let stored = &RunJson::of(run);
        self.transaction("db.updates.save", |mut transaction| async move {
            let of = (&run.vault_id, &run.memory_id);
            must_live_on(&mut transaction, of, run.identity.as_deref()).await?;
            let is_redacted = insert_runs(&mut transaction, &[(run, stored)]).await?;
            if let Some(resolves) = resolves {
                resolve_run(&mut transaction, run, resolves).await?;
            }
            if let Some(answer) = answer {
                // It says what the run does not say any more.
                let gone = is_redacted.then_some(Gone::Redacted);
                keep_answers(&mut transaction, &[(answer, Some(&run.memory_id))], gone).await?;
            }
            let mut events = run.events.clone();
            if run.kind == RunKind::Consolidation && run.status == RunStatus::Proposed && !is_redacted {
                events.extend(self.replace_proposals(&mut transaction, run).await?);
            }
            events::append(&mut transaction, &run.vault_id, &events).await?;
            Ok::<_, StorageError>((transaction, is_redacted))
        })
        .await
    }

    /// Lists the runs of a memory that are older than `before`, newest first, at most `limit`. Exchanges are omitted
    /// because they may be large.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_runs(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        before: Option<&UpdateId>,
        limit: i64,
    ) -> Result<Rows<Run>, StorageError> {
        let mut page = Reading::new(limit, 2);
        while let Some(batch) = page.next() {
            let before = page.items.last().map(|run: &Run| &run.update_id).or(before);
            // No text sorts last, but the newest id plus one letter sorts after every id.
            let rows = run_rows!(
                "request",
                r#"'null'::jsonb AS "exchanges!", NULL::jsonb AS instructions, NULL::text AS shown"#,
                "WHERE vault_id = $1 AND memory_id = $2 AND update_id < COALESCE($3, (
                     SELECT max(update_id) || 'x' FROM updates WHERE vault_id = $1 AND memory_id = $2
                 ))
                 ORDER BY update_id DESC
                 LIMIT $4",
                vault.as_str(),
                memory.as_str(),
                before.map(UpdateId::as_str),
                batch,
            )
            .fetch_all(&mut self.reader().await?)
            .await?;
            let runs: Result<Vec<Run>, _> = rows.into_iter().map(Run::try_from).collect();
            page.add(runs?, Run::size);
        }
        Ok(page.rows())
    }

    /// Returns a run with its exchanges; `None` if it does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn run(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<Option<Run>, StorageError> {
        find_run(&mut self.reader().await?, vault, memory, id).await
    }
}

/// As [`Storage::run`], on a connection, which may be in a transaction.
pub(super) async fn find_run(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    id: &UpdateId,
) -> Result<Option<Run>, StorageError> {
    let row = run_rows!(
        "request",
        "exchanges,
         (SELECT jsonb_object_agg(hash, text) FROM run_instructions
          WHERE run_instructions.vault_id = $1 AND hash IN (
                    SELECT jsonb_path_query(updates.exchanges, '$.packed[*].system.instructions') #>> '{}'
                )) AS instructions,
         (SELECT context FROM memory_contexts
          WHERE memory_contexts.vault_id = $1 AND memory_contexts.memory_id = $2
            AND memory_contexts.version = (updates.exchanges ->> 'base')::bigint
            AND redacted_at IS NULL) AS shown",
        "WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3",
        vault.as_str(),
        memory.as_str(),
        id.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    row.map(Run::try_from).transpose()
}

/// Marks an invalid run as completed by another one; of concurrent attempts one succeeds.
///
/// # Errors
/// [`StorageError::AlreadyResolved`] if it does not exist or is no longer invalid. Database errors.
pub(super) async fn resolve_run(
    connection: &mut Connection,
    by: &Run,
    id: &UpdateId,
) -> Result<(), StorageError> {
    let done = sqlx::query!(
        "UPDATE updates SET status = 'resolved', resolved_by = $4
         WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status = 'invalid'",
        by.vault_id.as_str(),
        by.memory_id.as_str(),
        id.as_str(),
        by.update_id.as_str(),
    )
    .execute(connection)
    .await?;
    match done.rows_affected() {
        1 => Ok(()),
        _ => Err(StorageError::AlreadyResolved(id.clone())),
    }
}
