//! Runs as they are stored.

use super::run::{Run, RunStatus};
use crate::domain::ids::{ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::database::connection::{Connection, execute_rows};
use crate::storage::updates::exchanges::Packed;
use crate::storage::{StorageError, updates::proposals};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{Postgres, QueryBuilder};
use std::collections::BTreeMap;

/// Whether the head it started from is the only version that a run quotes: it created the next version.
pub(in crate::storage) fn quotes_the_head_only(run: &Run) -> bool {
    run.status == RunStatus::Applied && run.version == Some(run.base_version + 1)
}

/// Whether a version that a run may quote was redacted before the run ended: the one it started from, or while it ran a later
/// one, which it may have met as the head. The request of a run out of the queue was looked at when the version was redacted;
/// that of another may quote every version.
async fn redacted_under(connection: &mut Connection, run: &Run) -> Result<bool, StorageError> {
    let shown = run
        .shown
        .as_ref()
        .map_or(run.base_version, |(version, _)| *version);
    let redacted = sqlx::query_scalar!(
        r#"SELECT EXISTS (
               SELECT 1 FROM memory_contexts
               WHERE vault_id = $1 AND memory_id = $2 AND redacted_at IS NOT NULL
                 AND (version = $3 OR redacted_at >= $4 AND ($5 OR version > $3))
           ) AS "redacted!""#,
        run.vault_id.as_str(),
        run.memory_id.as_str(),
        run.base_version.min(shown),
        run.created_at,
        run.claim.is_none(),
    )
    .fetch_one(connection)
    .await?;
    Ok(redacted)
}

/// Stores runs, inside the writer's transaction if there is one. Of a decided proposal the row exists: it must still be
/// pending. A queued run ends here, and only while its claim is held; one that was cleared by a redaction while it ran stays
/// so. A run that may quote a version that was redacted while it ran is stored without its request, exchanges and outcome, and
/// has expired if it is a proposal, since nobody can see what it would change: returns whether there is one.
///
/// # Errors
/// Database errors, or a lost claim: then nothing of the transaction may be committed.
pub(in crate::storage) async fn insert_runs(
    connection: &mut Connection,
    runs: &[(&Run, &RunJson)],
) -> Result<bool, StorageError> {
    if runs.is_empty() {
        return Ok(false);
    }
    let redacted = RunJson::redacted();
    let mut any_is_redacted = false;
    let mut all = Vec::with_capacity(runs.len());
    for &(run, stored) in runs {
        if matches!(run.status, RunStatus::Approved | RunStatus::Rejected) {
            proposals::decide(connection, run).await?;
            continue;
        }
        let is_redacted = !quotes_the_head_only(run) && redacted_under(connection, run).await?;
        any_is_redacted |= is_redacted;
        all.push((run, if is_redacted { &redacted } else { stored }));
    }
    insert_instructions(connection, &all).await?;
    let (queued, new): (Vec<_>, Vec<_>) = all.into_iter().partition(|(run, _)| run.claim.is_some());
    for (run, stored) in queued {
        end_queued(connection, run, stored).await?;
    }
    insert_rows(connection, &new, None).await?;
    Ok(any_is_redacted)
}

/// The place of a run in the queue of its memory, the time from which on it may be begun, and conditions on the head.
pub(super) type QueuePlace<'a> = ((i64, DateTime<Utc>), &'a Value);

async fn end_queued(connection: &mut Connection, run: &Run, stored: &RunJson) -> Result<(), StorageError> {
    let ended = sqlx::query!(
        "UPDATE updates
             SET status = CASE WHEN request = $13 AND $5 = 'proposed' THEN 'expired' ELSE $5 END, finished_at = $6, base_version = $7, version = $8, context_id = $9,
                 request = CASE WHEN request = $13 THEN request ELSE $10::text::jsonb END,
                 exchanges = CASE WHEN request = $13 THEN exchanges ELSE $11::text::jsonb END,
                 outcome = CASE WHEN request = $13 THEN request ELSE $12::text::jsonb END,
                 queue_place = NULL, not_before = NULL, claim_id = NULL, lease_until = NULL
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = $3 AND claim_id = $4 AND status = 'running'",
        run.vault_id.as_str(),
        run.memory_id.as_str(),
        run.update_id.as_str(),
        run.claim,
        stored.status_of(run),
        run.finished_at,
        run.base_version,
        run.version,
        run.context_id.as_ref().map(ContextId::as_str),
        stored.request,
        stored.exchanges,
        stored.outcome,
        redacted_json(),
    )
    .execute(connection)
    .await?;
    match ended.rows_affected() {
        1 => Ok(()),
        _ => Err(StorageError::ClaimLost(run.update_id.clone())),
    }
}

/// Stores runs that have no row yet, in the queue of their memory if they have a place there.
pub(super) async fn insert_rows(
    connection: &mut Connection,
    runs: &[(&Run, &RunJson)],
    queued: Option<QueuePlace<'_>>,
) -> Result<(), StorageError> {
    match runs.is_empty() {
        true => Ok(()),
        false => execute_rows(connection, insertion(runs, queued), runs.len()).await,
    }
}

/// The statement that inserts rows of runs. Built at run time because their number varies; the text is constant except for
/// the placeholders.
fn insertion(runs: &[(&Run, &RunJson)], queued: Option<QueuePlace<'_>>) -> QueryBuilder<Postgres> {
    let (place, preconditions) = queued.unzip();
    let (place, not_before) = place.unzip();
    let mut statement = QueryBuilder::<Postgres>::new(
        "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, finished_at,
                              base_version, version, context_id, resolved_by, attempts, queue_place, not_before, preconditions,
                              request, exchanges, outcome) ",
    );
    statement.push_values(runs, |mut row, (run, stored)| {
        row.push_bind(run.vault_id.as_str())
            .push_bind(run.memory_id.as_str())
            .push_bind(run.update_id.as_str())
            .push_bind(run.kind.name())
            .push_bind(stored.status_of(run))
            .push_bind(run.actor_id.as_str())
            .push_bind(run.created_at)
            .push_bind(run.finished_at)
            .push_bind(run.base_version)
            .push_bind(run.version)
            .push_bind(run.context_id.as_ref().map(ContextId::as_str))
            .push_bind(run.resolved_by.as_ref().map(UpdateId::as_str))
            .push_bind(run.attempts)
            .push_bind(place)
            .push_bind(not_before)
            .push_bind(preconditions);
        for text in [&stored.request, &stored.exchanges, &stored.outcome] {
            row.push_bind(text).push_unseparated("::text::jsonb");
        }
    });
    statement
}

/// Stores a run of an imported memory, unless its id exists: a memory may have runs before it exists. Its exchanges are not
/// packed: the instructions of a file may be anything, and rows of `run_instructions` are never deleted.
pub(in crate::storage) async fn insert_imported(
    connection: &mut Connection,
    run: &Run,
) -> Result<(), StorageError> {
    let stored = RunJson {
        request: run.request.to_string(),
        exchanges: run.exchanges.to_string(),
        outcome: run.outcome.to_string(),
        instructions: BTreeMap::new(),
        is_redacted: false,
    };
    let mut statement = insertion(&[(run, &stored)], None);
    statement.push(" ON CONFLICT (vault_id, memory_id, update_id) DO NOTHING");
    execute_rows(connection, statement, 1).await
}

/// Stores the instructions that runs refer to, unless their vaults already have them; in one order, so that no two
/// transactions wait for each other.
///
/// Built at run time because the number of rows varies; the text is constant except for the placeholders.
async fn insert_instructions(
    connection: &mut Connection,
    runs: &[(&Run, &RunJson)],
) -> Result<(), StorageError> {
    let mut texts = BTreeMap::new();
    for (run, stored) in runs {
        for (hash, text) in &stored.instructions {
            texts.insert((run.vault_id.as_str(), hash.as_str()), text.as_str());
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let mut statement = QueryBuilder::<Postgres>::new("INSERT INTO run_instructions (vault_id, hash, text) ");
    statement.push_values(texts, |mut row, ((vault, hash), text)| {
        row.push_bind(vault).push_bind(hash).push_bind(text);
    });
    statement.push(" ON CONFLICT (vault_id, hash) DO NOTHING");
    execute_rows(connection, statement, runs.len()).await
}

/// A run's texts as JSON, and the instructions that they refer to.
#[derive(Debug)]
pub(in crate::storage) struct RunJson {
    request: String,
    exchanges: String,
    outcome: String,
    /// Texts by hash.
    instructions: BTreeMap<String, String>,
    is_redacted: bool,
}

impl RunJson {
    fn status_of(&self, run: &Run) -> &'static str {
        match run.status {
            RunStatus::Proposed if self.is_redacted => RunStatus::Expired.name(),
            status => status.name(),
        }
    }

    pub(in crate::storage) fn of(run: &Run) -> Self {
        let shown = run.shown.as_ref().map(|(version, text)| (*version, &**text));
        let packed = Packed::of(shown, &run.request, &run.exchanges);
        Self {
            request: run.request.to_string(),
            exchanges: packed.exchanges.to_string(),
            outcome: run.outcome.to_string(),
            instructions: packed.instructions,
            is_redacted: false,
        }
    }

    /// The JSON of a run that may quote a redacted version.
    fn redacted() -> Self {
        Self {
            request: redacted_json().to_string(),
            exchanges: "[]".to_owned(),
            outcome: redacted_json().to_string(),
            instructions: BTreeMap::new(),
            is_redacted: true,
        }
    }
}

/// Requires that the memory with this identity still exists. Until the transaction ends it cannot be deleted, and none of its
/// versions redacted. Without an identity there was no memory that could have been deleted.
///
/// # Errors
/// [`StorageError::MemoryDeleted`] if it does not: then nothing of the transaction may be committed. Database errors.
pub(in crate::storage) async fn must_live_on(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    identity: Option<&str>,
) -> Result<(), StorageError> {
    let current = sqlx::query_scalar!(
        "SELECT identity FROM memories WHERE vault_id = $1 AND memory_id = $2 FOR KEY SHARE",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    match identity.is_none_or(|identity| current.as_deref() == Some(identity)) {
        true => Ok(()),
        false => Err(StorageError::MemoryDeleted),
    }
}

/// The JSON that replaces what a run quoted of a redacted version.
pub(in crate::storage) fn redacted_json() -> Value {
    serde_json::json!({ "redacted": true })
}
