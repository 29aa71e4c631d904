//! Runs of the pipeline: `updates`.

mod run;

pub(super) use run::Row;
pub use run::{Run, RunKind, RunStatus};

use super::events;
use super::exchanges::{self, Packed};
use super::idempotency::{IdempotencyClaim, Saved, note_one};
use super::pages::{Reading, Rows};
use super::proposals;
use super::{Storage, StorageError};
use crate::domain::ids::{MemoryId, UpdateId, VaultId};
use crate::storage::connection::Connection;
use serde_json::Value;

impl Storage {
    /// Keeps a run that made no version, unless its memory was deleted while it ran: what it quotes would
    /// outlive the memory.
    ///
    /// # Errors
    /// The database's.
    pub async fn save_run(&self, run: &Run, claim: Option<&IdempotencyClaim>) -> Result<(), StorageError> {
        let mut transaction = self.begin().await?;
        if lives_on(&mut transaction, run).await? {
            insert_run(&mut transaction, run).await?;
            note_one(&mut transaction, claim, || Saved::Run(run.update_id.clone())).await?;
            events::append(&mut transaction, &run.vault_id, &run.events).await?;
            transaction.commit().await?;
            self.appended(&run.vault_id, &run.events);
        }
        Ok(())
    }

    /// Runs of a memory, newest first, those older than `before`, at most `limit`. The exchanges are left
    /// out: they may be large.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.list", skip_all)]
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
            // Ids are texts, and no text is the last of all: the newest id with a letter behind it is behind it.
            let rows = sqlx::query_as!(
            Row,
            r#"SELECT vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                      base_version, version, context_id, resolved_by, request, '[]'::jsonb AS "exchanges!", outcome
               FROM updates
               WHERE vault_id = $1 AND memory_id = $2 AND update_id < COALESCE($3, (
                     SELECT max(update_id) || 'x' FROM updates WHERE vault_id = $1 AND memory_id = $2
                 ))
               ORDER BY update_id DESC
               LIMIT $4"#,
            vault.as_str(),
            memory.as_str(),
            before.map(UpdateId::as_str),
            batch,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
            page.add(rows.into_iter().map(Run::from).collect(), Run::size);
        }
        Ok(page.rows())
    }

    /// One run with its exchanges; `None` if there is none.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.updates.get", skip_all)]
    pub async fn run(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: &UpdateId,
    ) -> Result<Option<Run>, StorageError> {
        let row = sqlx::query!(
            "SELECT vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at, attempts,
                    base_version, version, context_id, resolved_by, request, exchanges, outcome,
                    (SELECT jsonb_object_agg(hash, text) FROM run_instructions
                     WHERE run_instructions.vault_id = $1 AND hash IN (
                               SELECT jsonb_path_query(updates.exchanges, '$.packed[*].system.instructions') #>> '{}'
                           )) AS instructions,
                    (SELECT context FROM memory_contexts
                     WHERE memory_contexts.vault_id = $1 AND memory_contexts.memory_id = $2
                       AND memory_contexts.version = (updates.exchanges ->> 'base')::bigint
                       AND redacted_at IS NULL) AS shown
             FROM updates
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3",
            vault.as_str(),
            memory.as_str(),
            id.as_str(),
        )
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let instructions = row.instructions.unwrap_or_default();
        let id = row.update_id.as_str();
        let exchanges = said(
            id,
            row.shown.as_deref(),
            &row.request,
            row.exchanges,
            &instructions,
        )?;
        Ok(Some(Run::from(Row {
            vault_id: row.vault_id,
            memory_id: row.memory_id,
            update_id: row.update_id,
            kind: row.kind,
            status: row.status,
            actor_id: row.actor_id,
            created_at: row.created_at,
            finished_at: row.finished_at,
            attempts: row.attempts,
            base_version: row.base_version,
            version: row.version,
            context_id: row.context_id,
            resolved_by: row.resolved_by,
            request: row.request,
            exchanges,
            outcome: row.outcome,
        })))
    }
}

/// What a run's stored exchanges say; `shown` is the text of the version that they name, if it is kept.
pub(super) fn said(
    id: &str,
    shown: Option<&str>,
    request: &Value,
    stored: Value,
    instructions: &Value,
) -> Result<Value, StorageError> {
    exchanges::unpack(shown, request, stored, instructions).map_err(|problem| StorageError::Corrupt {
        table: "updates",
        column: "exchanges",
        row: id.to_owned(),
        problem: problem.to_owned(),
    })
}

/// Whether the memory that a run captured is still there. Until the transaction ends nobody deletes it or
/// redacts a version of it. A run on a memory that did not exist captured nothing.
#[tracing::instrument(name = "db.memories.lives_on", skip_all)]
pub(super) async fn lives_on(connection: &mut Connection, run: &Run) -> Result<bool, StorageError> {
    if run.base_version == 0 {
        return Ok(true);
    }
    let head = sqlx::query_scalar!(
        "SELECT head_version FROM memories WHERE vault_id = $1 AND memory_id = $2 FOR KEY SHARE",
        run.vault_id.as_str(),
        run.memory_id.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(head.is_some_and(|head| head >= run.base_version))
}

/// Whether a version that a run may quote was redacted before the run came to its end.
#[tracing::instrument(name = "db.memory_contexts.redacted_under", skip_all)]
async fn redacted_under(connection: &mut Connection, run: &Run) -> Result<bool, StorageError> {
    let redacted = sqlx::query_scalar!(
        r#"SELECT EXISTS (
               SELECT 1 FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND redacted_at IS NOT NULL
                 AND (version = $3 OR (version > $3 AND redacted_at >= $4))
           ) AS "redacted!""#,
        run.vault_id.as_str(),
        run.memory_id.as_str(),
        run.base_version,
        run.created_at,
    )
    .fetch_one(connection)
    .await?;
    Ok(redacted)
}

/// What stands in a run instead of what it quoted of a redacted version.
pub(super) fn redacted_json() -> Value {
    serde_json::json!({ "redacted": true })
}

/// Stores a run, inside the writer's transaction where there is one; a run that was queued ends here, under its claim
/// or not at all. What it quotes of a version that was
/// redacted while it ran is left out.
#[tracing::instrument(name = "db.updates.insert", skip_all)]
pub(super) async fn insert_run(connection: &mut Connection, run: &Run) -> Result<(), StorageError> {
    if run.status == RunStatus::Approved {
        return proposals::decide(connection, run).await;
    }
    // A run that made the version behind the one that it captured quotes no other: that was the head.
    let is_of_the_head = run
        .version
        .as_ref()
        .is_some_and(|(made, _)| *made == run.base_version + 1);
    let said = match !is_of_the_head && redacted_under(connection, run).await? {
        true => RunJson::redacted(),
        false => RunJson::of(run),
    };
    let (version, context_id) = run
        .version
        .as_ref()
        .map(|(version, id)| (*version, id.as_str()))
        .unzip();
    if let Some(claim) = &run.claim {
        let ended = sqlx::query!(
            "WITH instructed AS (
                 INSERT INTO run_instructions (vault_id, hash, text)
                 SELECT $1, hash, text FROM unnest($13::text[], $14::text[]) AS given (hash, text)
                 ON CONFLICT (vault_id, hash) DO NOTHING
             )
             UPDATE updates
             SET status = $5, finished_at = $6, base_version = $7, version = $8, context_id = $9,
                 request = $10::text::jsonb, exchanges = $11::text::jsonb, outcome = $12::text::jsonb,
                 queue_place = NULL, not_before = NULL, claim_id = NULL, lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
            run.vault_id.as_str(),
            run.memory_id.as_str(),
            run.update_id.as_str(),
            claim,
            run.status.name(),
            run.finished_at,
            run.base_version,
            version,
            context_id,
            said.request,
            said.exchanges,
            said.outcome,
            &said.hashes,
            &said.instructions,
        )
        .execute(connection)
        .await?;
        return match ended.rows_affected() {
            1 => Ok(()),
            _ => Err(StorageError::ClaimLost(run.update_id.clone())),
        };
    }
    sqlx::query!(
        "WITH instructed AS (
             INSERT INTO run_instructions (vault_id, hash, text)
             SELECT $1, hash, text FROM unnest($16::text[], $17::text[]) AS given (hash, text)
             ON CONFLICT (vault_id, hash) DO NOTHING
         )
         INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at,
                              base_version, version, context_id, resolved_by, request, exchanges, outcome)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::jsonb, $14::text::jsonb,
                 $15::text::jsonb)",
        run.vault_id.as_str(),
        run.memory_id.as_str(),
        run.update_id.as_str(),
        run.kind.name(),
        run.status.name(),
        run.actor_id.as_str(),
        run.created_at,
        run.finished_at,
        run.base_version,
        version,
        context_id,
        run.resolved_by.as_ref().map(UpdateId::as_str),
        said.request,
        said.exchanges,
        said.outcome,
        &said.hashes,
        &said.instructions,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What a run says, as JSON; the instructions that it names, in the order of their hashes, so that no two transactions
/// wait for each other.
#[derive(Debug)]
pub(super) struct RunJson {
    pub(super) request: String,
    pub(super) exchanges: String,
    pub(super) outcome: String,
    hashes: Vec<String>,
    instructions: Vec<String>,
}

impl RunJson {
    pub(super) fn of(run: &Run) -> Self {
        let shown = run.shown.as_ref().map(|(version, text)| (*version, &**text));
        let packed = Packed::of(shown, &run.request, &run.exchanges);
        let (hashes, instructions) = packed.instructions.into_iter().unzip();
        Self {
            request: run.request.to_string(),
            exchanges: packed.exchanges.to_string(),
            outcome: run.outcome.to_string(),
            hashes,
            instructions,
        }
    }

    /// Of a run that quotes what was redacted.
    fn redacted() -> Self {
        Self {
            request: redacted_json().to_string(),
            exchanges: "[]".to_owned(),
            outcome: redacted_json().to_string(),
            hashes: Vec::new(),
            instructions: Vec::new(),
        }
    }
}

/// Marks an invalid run as finished by hand by another. `false` if it is not there or not invalid any more.
#[tracing::instrument(name = "db.updates.resolve", skip_all)]
pub(super) async fn resolve_run(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    id: &UpdateId,
    by: &UpdateId,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "UPDATE updates SET status = 'resolved', resolved_by = $4
         WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND status = 'invalid'",
        vault.as_str(),
        memory.as_str(),
        id.as_str(),
        by.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
