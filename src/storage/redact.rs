//! `RedactContext`'s transaction: the text of a version is gone, from its row and from all that quotes it.

use super::contexts::{Context, ContextMetadata, ContextRef, find_context};
use super::events::{self, EventKind, NewEvent};
use super::handoffs::forget_handoffs;
use super::idempotency::{Redacted, bury_redacted};
use super::repeat::{Repeats, TransactionError};
use super::search_vectors::forget_vectors;
use super::stored;
use super::updates::{redacted_json, said};
use super::write::lock_memory;
use super::{Preconditions, Storage, StorageError};
use crate::domain::ids::{ActorId, ContextId, MemoryId, TaskId, UpdateId, VaultId};
use crate::domain::redaction::{LostRecord, Quotations, Redaction};
use crate::storage::Class;
use crate::storage::connection::Connection;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::slice::from_ref;

/// Rows read at once: versions and runs may have 100 KiB each and more.
const ROWS_AT_ONCE: i64 = 32;

/// Why a version was not redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// A precondition does not hold.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if the memory does not exist.
        current: Option<ContextId>,
    },
    /// There is no such memory or version.
    #[error("there is no such memory or version")]
    NotFound,
    /// It is the newest version, which always has a text.
    #[error("version {version} is the newest")]
    IsHead {
        /// Its number.
        version: i64,
    },
    /// The database failed; nothing was redacted.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TransactionError for RedactError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            _ => None,
        }
    }
}

impl From<sqlx::Error> for RedactError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// The version being redacted.
struct Place<'a> {
    vault: &'a VaultId,
    memory: &'a MemoryId,
    version: i64,
}

impl Storage {
    /// Takes the text of a version out for good. The row, its maker and its place stay; beside them stand
    /// who redacted it, when and why, and the hash of the text. What quotes the text goes with it: the
    /// version's own log and operations, runs that made it, started from it or quote it, the words of logs
    /// and operations of other versions, the parts of archived records that no other version holds, and every
    /// handoff made since the version was: a handoff quotes in another spelling.
    /// Redacting it again changes nothing.
    ///
    /// Old copies in the files of the database last until it cleans up (`VACUUM`), those in backups as long
    /// as the backups.
    ///
    /// # Errors
    /// As [`RedactError`] says.
    #[tracing::instrument(name = "db.memory_contexts.redact", skip_all)]
    pub async fn redact_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
        actor: &ActorId,
        reason: &str,
        preconditions: &Preconditions,
    ) -> Result<ContextMetadata, RedactError> {
        let mut repeats = Repeats::of("db.memory_contexts.redact");
        loop {
            let done = self
                .try_redact(vault, memory, reference, (actor, reason), preconditions)
                .await;
            if let Some(end) = repeats.end(done).await {
                return end;
            }
        }
    }

    async fn try_redact(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
        (actor, reason): (&ActorId, &str),
        preconditions: &Preconditions,
    ) -> Result<ContextMetadata, RedactError> {
        let mut transaction = self.begin_for(Class::Maintenance).await?;
        let head = lock_memory(&mut transaction, vault, memory).await?;
        let current = head.as_ref().and_then(|head| head.context_id.clone());
        if !preconditions.hold(current.as_ref().map(ContextId::as_str)) {
            return Err(RedactError::PreconditionFailed { current });
        }
        let found = find_context(&mut transaction, vault, memory, reference).await?;
        let (Some(head), Some(Context { metadata, text })) = (head, found) else {
            return Err(RedactError::NotFound);
        };
        let version = metadata.version;
        if metadata.redaction.is_some() {
            return Ok(metadata);
        }
        if version == head.version {
            return Err(RedactError::IsHead { version });
        }
        let place = Place {
            vault,
            memory,
            version,
        };
        let held = stored::of_memory(&mut transaction, vault, memory).await?;
        let mut redaction = Redaction::of(&text);
        keep_other_versions(&mut transaction, &place, &mut redaction).await?;
        let quotations = redaction.quotations();
        let now = self.clock.now().max(head.changed_at);
        // Here, not by the database: where that is distributed, no statement that changes rows may compute it.
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        clear_version(&mut transaction, &place, &hash, (actor, reason), now).await?;
        clear_words(&mut transaction, &place, &quotations).await?;
        clear_records(&mut transaction, &place, &redaction.lost_records()).await?;
        clear_archive_reasons(&mut transaction, &place, &quotations).await?;
        clear_tasks(&mut transaction, &place, &quotations).await?;
        let runs = clear_runs(&mut transaction, &place, &quotations).await?;
        forget_handoffs(&mut transaction, vault, memory, version).await?;
        forget_vectors(&mut transaction, vault, memory).await?;
        let context_id = &metadata.context_id;
        let gone = Redacted {
            context_id,
            runs: &runs,
            quotations: &quotations,
        };
        bury_redacted(&mut transaction, vault, memory, &gone).await?;
        let redacted = find_context(&mut transaction, vault, memory, reference).await?;
        let event = NewEvent {
            actor: Some(actor.clone()),
            details: Some(json!({"version": version, "context_id": context_id.as_str()})),
            ..self.event(memory, EventKind::Redacted)
        };
        let left = stored::of_memory(&mut transaction, vault, memory).await?;
        stored::count(&mut transaction, vault, &event.event_id, (held, left)).await?;
        events::append(&mut transaction, vault, from_ref(&event)).await?;
        transaction.commit().await?;
        self.appended(vault, &[event]);
        redacted
            .map(|context| context.metadata)
            .ok_or(RedactError::NotFound)
    }
}

/// Shows the redaction all texts that stay.
async fn keep_other_versions(
    connection: &mut Connection,
    place: &Place<'_>,
    redaction: &mut Redaction,
) -> Result<(), StorageError> {
    let mut after = 0;
    loop {
        let rows = sqlx::query!(
            "SELECT version, context FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <> $4 AND redacted_at IS NULL
             ORDER BY version
             LIMIT $5",
            place.vault.as_str(),
            place.memory.as_str(),
            after,
            place.version,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.version;
        for row in &rows {
            redaction.keep(&row.context);
        }
    }
}

async fn clear_version(
    connection: &mut Connection,
    place: &Place<'_>,
    hash: &str,
    (actor, reason): (&ActorId, &str),
    now: DateTime<Utc>,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE memory_contexts
         SET context = '', operations = NULL, log = $7, redacted_at = $4, redacted_by = $5,
             redaction_reason = $6, redacted_sha256 = $8
         WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
        now,
        actor.as_str(),
        reason,
        format!("redacted: {reason}"),
        hash,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes the quotations out of the operations and logs of the other versions: the next one says of what it
/// archived what that was.
async fn clear_words(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    let mut after = 0;
    loop {
        let rows = sqlx::query!(
            "SELECT version, operations, log FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <> $4
             ORDER BY version
             LIMIT $5",
            place.vault.as_str(),
            place.memory.as_str(),
            after,
            place.version,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.version;
        for mut row in rows {
            let quoting = row.operations.as_mut().filter(|value| quotes(value, quotations));
            if quoting.is_none() && !quotations.are_in(&row.log) {
                continue;
            }
            if let Some(operations) = quoting {
                clear_strings(operations, quotations);
            }
            sqlx::query!(
                "UPDATE memory_contexts SET operations = $4, log = $5
                 WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
                place.vault.as_str(),
                place.memory.as_str(),
                row.version,
                row.operations,
                clear_lines(&row.log, quotations),
            )
            .execute(&mut *connection)
            .await?;
        }
    }
}

/// What stands for a quotation in a text that is kept.
const REDACTED: &str = "[redacted]";

/// The text with the lines that quote replaced.
fn clear_lines(text: &str, quotations: &Quotations) -> String {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| if quotations.are_in(line) { REDACTED } else { line })
        .collect();
    lines.join("\n")
}

/// Replaces the strings that quote.
fn clear_strings(value: &mut Value, quotations: &Quotations) {
    match value {
        Value::String(text) if quotations.are_in(text) => REDACTED.clone_into(text),
        Value::Array(values) => {
            for value in values {
                clear_strings(value, quotations);
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                clear_strings(value, quotations);
            }
        }
        _ => {}
    }
}

/// Whether a string of the value quotes.
fn quotes(value: &Value, quotations: &Quotations) -> bool {
    match value {
        Value::String(text) => quotations.are_in(text),
        Value::Array(values) => values.iter().any(|value| quotes(value, quotations)),
        Value::Object(members) => members.values().any(|value| quotes(value, quotations)),
        _ => false,
    }
}

/// A record that no version holds any more keeps its id and its history and says nothing.
async fn clear_records(
    connection: &mut Connection,
    place: &Place<'_>,
    lost: &[LostRecord],
) -> Result<(), StorageError> {
    let kinds: Vec<String> = lost
        .iter()
        .map(|record| record.id.kind.prefix().to_owned())
        .collect();
    let numbers: Vec<i64> = lost.iter().map(|record| record.id.number).collect();
    let labels: Vec<Option<String>> = lost.iter().map(|record| record.label.clone()).collect();
    let reasons: Vec<Option<String>> = lost.iter().map(|record| record.reason.clone()).collect();
    let contents: Vec<Option<String>> = lost.iter().map(|record| record.content.clone()).collect();
    sqlx::query!(
        "UPDATE records
         SET label = NULLIF(records.label, lost.label), reason = NULLIF(records.reason, lost.reason),
             content = COALESCE(NULLIF(records.content, lost.content), '')
         FROM unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
              AS lost (kind, number, label, reason, content)
         WHERE records.vault_id = $1 AND records.memory_id = $2
           AND records.kind = lost.kind AND records.number = lost.number AND records.status = 'archived'",
        place.vault.as_str(),
        place.memory.as_str(),
        &kinds,
        &numbers,
        &labels as &[Option<String>],
        &reasons as &[Option<String>],
        &contents as &[Option<String>],
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn clear_archive_reasons(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    let rows = sqlx::query!(
        r#"SELECT kind, number, archive_reason AS "archive_reason!" FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND archive_reason IS NOT NULL"#,
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in rows {
        if quotations.are_in(&row.archive_reason) {
            sqlx::query!(
                "UPDATE records SET archive_reason = $5
                 WHERE vault_id = $1 AND memory_id = $2 AND kind = $3 AND number = $4",
                place.vault.as_str(),
                place.memory.as_str(),
                row.kind.prefix(),
                row.number,
                REDACTED,
            )
            .execute(&mut *connection)
            .await?;
        }
    }
    Ok(())
}

/// What was told of tasks goes with the lines that were lost, with the version that brought it into the archive
/// without any line, and wherever it quotes.
async fn clear_tasks(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<(), StorageError> {
    sqlx::query!(
        "UPDATE records SET content = ''
         WHERE vault_id = $1 AND memory_id = $2 AND created_version = $3 AND ended_version = $3",
        place.vault.as_str(),
        place.memory.as_str(),
        place.version,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE records
         SET task_id = NULL, intent = NULL, summary = NULL, outcome = NULL, epic = NULL
         WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND status = 'archived' AND content = ''",
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    let rows = sqlx::query!(
        r#"SELECT number, task_id, intent AS "intent!", summary, outcome, epic FROM records
           WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND intent IS NOT NULL"#,
        place.vault.as_str(),
        place.memory.as_str(),
    )
    .fetch_all(&mut *connection)
    .await?;
    for mut row in rows {
        let texts = [
            Some(row.intent.as_str()),
            row.summary.as_deref(),
            row.epic.as_deref(),
            row.task_id.as_ref().map(TaskId::as_str),
        ];
        let in_texts = texts.into_iter().flatten().any(|text| quotations.are_in(text));
        if !in_texts
            && !row
                .outcome
                .as_ref()
                .is_some_and(|outcome| quotes(outcome, quotations))
        {
            continue;
        }
        for text in [Some(&mut row.intent), row.summary.as_mut(), row.epic.as_mut()]
            .into_iter()
            .flatten()
        {
            *text = clear_lines(text, quotations);
        }
        if let Some(outcome) = &mut row.outcome {
            clear_strings(outcome, quotations);
        }
        sqlx::query!(
            "UPDATE records SET task_id = $4, intent = $5, summary = $6, outcome = $7, epic = $8
             WHERE vault_id = $1 AND memory_id = $2 AND kind = 'T' AND number = $3",
            place.vault.as_str(),
            place.memory.as_str(),
            row.number,
            row.task_id
                .as_ref()
                .map(TaskId::as_str)
                .filter(|id| !quotations.are_in(id)),
            row.intent,
            row.summary,
            row.outcome,
            row.epic,
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Runs that made the version, started from it or led away from it quote it in their prompts and diffs;
/// others may, when the memory moved while they ran, or when a message held what the document came to hold. Says which
/// they are.
async fn clear_runs(
    connection: &mut Connection,
    place: &Place<'_>,
    quotations: &Quotations,
) -> Result<Vec<UpdateId>, StorageError> {
    let mut after: Option<UpdateId> = None;
    let mut all = Vec::new();
    loop {
        let rows = sqlx::query!(
            r#"SELECT update_id, request, exchanges, outcome,
                      (base_version = $4 OR version IN ($4, $4 + 1)
                       OR exchanges ->> 'base' = $4::bigint::text) IS TRUE AS "touches!",
                      (SELECT context FROM memory_contexts AS shown
                       WHERE shown.vault_id = $1 AND shown.memory_id = $2
                         AND shown.version = (updates.exchanges ->> 'base')::bigint
                         AND redacted_at IS NULL) AS shown
               FROM updates
               WHERE vault_id = $1 AND memory_id = $2 AND update_id > $3
               ORDER BY update_id
               LIMIT $5"#,
            place.vault.as_str(),
            place.memory.as_str(),
            after.as_ref().map_or("", UpdateId::as_str),
            place.version,
            ROWS_AT_ONCE,
        )
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(all) };
        after = Some(last.update_id.clone());
        let mut cleared: Vec<UpdateId> = Vec::new();
        for row in rows {
            // As they were said, not as pieces: a quotation may begin in one and end in another. The constant
            // instructions, which stay, quote nothing.
            let (id, shown) = (row.update_id.as_str(), row.shown.as_deref());
            let exchanges = said(id, shown, &row.request, row.exchanges, &Value::Null)?;
            let parts = [&row.request, &exchanges, &row.outcome];
            if row.touches || parts.into_iter().any(|part| quotes(part, quotations)) {
                cleared.push(row.update_id);
            }
        }
        sqlx::query!(
            "UPDATE updates SET request = $4, exchanges = $5, outcome = $4
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = ANY ($3)",
            place.vault.as_str(),
            place.memory.as_str(),
            &cleared as &[UpdateId],
            redacted_json(),
            Value::Array(Vec::new()),
        )
        .execute(&mut *connection)
        .await?;
        all.extend(cleared);
    }
}
