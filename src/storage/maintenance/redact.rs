//! The transaction of `RedactContext`: removes the text of a version from its row and from everything that quotes it.

use crate::domain::changelog::left_out_by;
use crate::domain::ids::{ActorId, MemoryId, RecordId, UpdateId, VaultId};
use crate::domain::memory::OperationName;
use crate::domain::redaction::{LostRecords, Quotations, Redaction, quotes_lost};
use crate::domain::text::one_line;
use crate::storage::contexts::{Context, ContextMetadata, ContextRef, find_context};
use crate::storage::database::connection::Connection;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::handoffs::forget_handoffs;
use crate::storage::idempotency::delete_redacted_answers;
use crate::storage::maintenance::rebuild::delete_records;
use crate::storage::records::{self, RecordRow};
use crate::storage::search::vectors::forget_version;
use crate::storage::updates::{Run, RunStatus, redacted_json, run_rows};
use crate::storage::usage::stored::{self, Stored};
use crate::storage::write::lock_memory;
use crate::storage::{Class, Missing, Preconditions, Storage, StorageError, WriteError, events};
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use strum::VariantNames as _;

impl Storage {
    /// Redacts a version: removes its text permanently. The row with its actor and number stays, with who redacted it,
    /// when and why, and the hash of the text. Everything that quotes the text is removed too: the version's own log
    /// and operations; the request, exchanges and outcome of runs that created it, started from it or quote it;
    /// quotations in logs and operations of other versions; texts of archived records that no other version contains;
    /// and every handoff created since the version, because handoffs quote in other spellings. Redacting it again
    /// changes nothing.
    ///
    /// Old copies in the files and statistics of the database remain until it writes them anew (`VACUUM (FULL, ANALYZE)`), those
    /// in backups as long as the backups.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn redact_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
        actor: &ActorId,
        reason: &str,
        preconditions: &Preconditions,
    ) -> Result<ContextMetadata, WriteError> {
        self.transaction_for(Class::Maintenance, "db.memory_contexts.redact", |transaction| {
            let of = (vault, memory);
            self.redact_in(transaction, of, reference, (actor, reason), preconditions)
        })
        .await
    }

    /// As [`Self::redact_context`], in this transaction.
    async fn redact_in(
        &self,
        mut transaction: Connection,
        (vault, memory): (&VaultId, &MemoryId),
        reference: &ContextRef,
        (actor, reason): (&ActorId, &str),
        preconditions: &Preconditions,
    ) -> Result<(Connection, ContextMetadata), WriteError> {
        let head = lock_memory(&mut transaction, vault, memory).await?;
        let newest = head.as_ref().map(|head| head.version);
        preconditions.check(head.as_ref().and_then(|head| head.context_id.as_ref()), newest)?;
        let found = find_context(&mut transaction, vault, memory, reference).await?;
        let (Some(head), Some(context)) = (head, found) else {
            return Err(WriteError::NotFound(Missing::Version));
        };
        let metadata = &context.metadata;
        let version = metadata.version;
        if metadata.redaction.is_some() {
            return Ok((transaction.rollback().await?, context.metadata));
        }
        if version == head.version {
            return Err(WriteError::IsHead { version });
        }
        let redacted = Redacted::of(&mut transaction, &context).await?;
        let now = self.clock.now().max(head.changed_at);
        // Before the texts of versions are changed, because the texts of runs are unpacked with them.
        let runs = redacted.clear_runs(&mut transaction, now).await?;
        redacted
            .clear_version(&mut transaction, (actor, reason), now)
            .await?;
        redacted.clear_words(&mut transaction).await?;
        redacted.clear_records(&mut transaction).await?;
        forget_handoffs(&mut transaction, vault, memory, version).await?;
        forget_version(&mut transaction, (vault, memory), version).await?;
        delete_redacted_answers(&mut transaction, &redacted, &runs).await?;
        let event = NewEvent {
            actor: Some(actor.clone()),
            details: Some(json!({"version": version, "context_id": metadata.context_id.as_str()})),
            ..self.event(memory, EventKind::Redacted)
        };
        let held = Stored {
            memories: 0,
            bytes: metadata.bytes.into(),
        };
        let change = (held, Stored::default());
        stored::count(&mut transaction, vault, &event.event_id, change).await?;
        events::append(&mut transaction, vault, &[event]).await?;
        let redacted = find_context(&mut transaction, vault, memory, reference).await?;
        let redacted = redacted.ok_or(WriteError::NotFound(Missing::Version))?.metadata;
        Ok((transaction, redacted))
    }
}

/// A version that is being redacted, and what no other version of its memory contains.
pub(in crate::storage) struct Redacted<'a> {
    /// The version as it was.
    pub(in crate::storage) context: &'a Context,
    lost: LostRecords,
    pub(in crate::storage) quotations: Quotations,
}

/// Versions read at once: each may have 100 KiB or more.
const ROWS_AT_ONCE: i64 = 32;

impl<'a> Redacted<'a> {
    /// Compares a version with all others.
    async fn of(connection: &mut Connection, context: &'a Context) -> Result<Self, StorageError> {
        let mut redaction = Redaction::of(&context.text);
        let mut others = sqlx::query_scalar!(
            "SELECT context FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version <> $3 AND redacted_at IS NULL",
            context.metadata.vault_id.as_str(),
            context.metadata.memory_id.as_str(),
            context.metadata.version,
        )
        .fetch(connection);
        while let Some(text) = others.try_next().await? {
            redaction.keep(&text);
        }
        Ok(Self {
            context,
            lost: redaction.lost_records(),
            quotations: redaction.quotations(),
        })
    }

    /// The memory and the version's number.
    fn place(&self) -> (&VaultId, &MemoryId, i64) {
        let metadata = &self.context.metadata;
        (&metadata.vault_id, &metadata.memory_id, metadata.version)
    }

    async fn clear_version(
        &self,
        connection: &mut Connection,
        (actor, reason): (&ActorId, &str),
        now: DateTime<Utc>,
    ) -> Result<(), StorageError> {
        let (vault, memory, version) = self.place();
        // Computed here: in a distributed database a statement that changes rows cannot compute it.
        let hash = hex::encode(Sha256::digest(self.context.text.as_bytes()));
        sqlx::query!(
            "UPDATE memory_contexts
             SET context = '', operations = NULL, log = $7, redacted_at = $4, redacted_by = $5,
                 redaction_reason = $6, redacted_sha256 = $8
             WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
            vault.as_str(),
            memory.as_str(),
            version,
            now,
            actor.as_str(),
            reason,
            format!("redacted: {}", one_line(reason)),
            hash,
        )
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Clears what records and the facts of tasks quote: the texts of archived records that no version contains any more, the
    /// facts of tasks whose lines were removed, those that the version added directly to the archive, the reasons for what it
    /// archived, and quotations in all others. Ids and history stay.
    async fn clear_records(&self, connection: &mut Connection) -> Result<(), StorageError> {
        let (vault, memory, _) = self.place();
        let mut changed = Vec::new();
        for stored in records::all(connection, (vault, memory)).await? {
            let mut row = stored.clone();
            self.clear_record(&mut row);
            if row != stored {
                changed.push(row);
            }
        }
        // Deleted first, because writing a record leaves the facts of a task that is there.
        let ids: Vec<RecordId> = changed.iter().map(RecordRow::id).collect();
        delete_records(connection, vault, memory, &ids).await?;
        records::write(connection, (vault, memory), &changed).await
    }

    fn clear_record(&self, row: &mut RecordRow) {
        let version = self.context.metadata.version;
        let is_archived = row.ended_version.is_some();
        if let Some(lost) = self.lost.get(&row.id()).filter(|_| is_archived) {
            row.label.take_if(|label| Some(&*label) == lost.label.as_ref());
            row.reason
                .take_if(|reason| Some(&*reason) == lost.reason.as_ref());
            if lost.content.as_ref() == Some(&row.content) {
                row.content.clear();
            }
        }
        if row.created_version == version && row.ended_version == Some(version) {
            row.content.clear();
        }
        if is_archived && row.content.is_empty() {
            row.task_id = None;
            (row.intent, row.summary, row.epic) = (None, None, None);
            (row.outcome, row.details) = (None, None);
        }
        row.task_id.take_if(|id| self.quotations.are_in(id.as_str()));
        // The facts of a task say what its line says, or said: also a single word.
        let lost = self.lost.get(&row.id()).and_then(|lost| lost.content.as_deref());
        let content = &row.content;
        let is_lost = |text: &str| {
            let was = |content: &str| content.contains(text);
            !text.trim().is_empty() && lost.is_some_and(was) && !was(content)
        };
        let quotes = |text: &str| self.quotations.are_in(text) || is_lost(text);
        for text in [&mut row.intent, &mut row.summary, &mut row.epic]
            .into_iter()
            .flatten()
        {
            *text = clear_lines(text, quotes);
        }
        // Including members that only a newer release knows.
        for value in [&mut row.outcome, &mut row.details].into_iter().flatten() {
            clear_strings(value, &quotes);
        }
        if let Some(outcome) = &mut row.outcome {
            clear_names(outcome, &self.quotations);
        }
        let is_of_version = row.ended_version == Some(version);
        let own = left_out_by(version);
        let says = |reason: &str| is_of_version && reason != own || self.quotations.are_in(reason);
        if let Some(reason) = row.archive_reason.as_mut().filter(|reason| says(reason)) {
            REDACTED.clone_into(reason);
        }
    }

    /// Clears the texts of runs that quote the redacted text: request, exchanges and outcome. Returns their ids. Runs that
    /// created the version or started from it quote it in their prompts and diffs. Others may quote it if the memory changed
    /// while they ran, or if a message contained what later became part of the document. A proposal among them has expired:
    /// nobody can see any more what it would change.
    async fn clear_runs(
        &self,
        connection: &mut Connection,
        now: DateTime<Utc>,
    ) -> Result<Vec<UpdateId>, StorageError> {
        let (vault, memory, version) = self.place();
        // Without the constant instructions, which stay: they quote nothing.
        let mut rows = run_rows!(
            "request",
            "exchanges, NULL::jsonb AS instructions,
             (SELECT context FROM memory_contexts
              WHERE memory_contexts.vault_id = $1 AND memory_contexts.memory_id = $2
                AND memory_contexts.version = (updates.exchanges ->> 'base')::bigint
                AND redacted_at IS NULL) AS shown",
            "WHERE vault_id = $1 AND memory_id = $2",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch(&mut *connection);
        let mut cleared: Vec<UpdateId> = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let versions = [
                Some(row.base_version),
                row.version,
                row.version.map(|made| made - 1),
                row.exchanges["base"].as_i64(),
            ];
            // Unpacked, because a quotation may begin in one piece and end in another.
            let run = Run::try_from(row)?;
            let mut parts = [&run.request, &run.exchanges, &run.outcome].into_iter();
            // One that waits has been shown no version yet; one that runs is looked at when it ends.
            let is_over = !matches!(run.status, RunStatus::Queued | RunStatus::Running);
            if is_over && versions.contains(&Some(version))
                || parts.any(|part| quotes(part, &self.quotations))
            {
                cleared.push(run.update_id);
            }
        }
        drop(rows);
        sqlx::query!(
            "UPDATE updates SET request = $4, exchanges = $5, outcome = $4,
                                status = CASE WHEN status = 'proposed' THEN 'expired' ELSE status END,
                                finished_at = CASE WHEN status = 'proposed' THEN $6 ELSE finished_at END
             WHERE vault_id = $1 AND memory_id = $2 AND update_id = ANY ($3)",
            vault.as_str(),
            memory.as_str(),
            &cleared as &[UpdateId],
            redacted_json(),
            Value::Array(Vec::new()),
            now,
        )
        .execute(connection)
        .await?;
        Ok(cleared)
    }

    /// Removes the quotations from the operations and logs of the other versions, and what these say of the lost records: the
    /// next version describes what it archived.
    async fn clear_words(&self, connection: &mut Connection) -> Result<(), StorageError> {
        let (vault, memory, version) = self.place();
        let mut after = 0;
        loop {
            let rows = sqlx::query!(
                "SELECT version, operations, log FROM memory_contexts
                 WHERE vault_id = $1 AND memory_id = $2 AND version > $3 AND version <> $4
                 ORDER BY version
                 LIMIT $5",
                vault.as_str(),
                memory.as_str(),
                after,
                version,
                ROWS_AT_ONCE,
            )
            .fetch_all(&mut *connection)
            .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.version;
            for row in rows {
                let mut operations = row.operations.clone();
                for operation in operations.iter_mut().filter_map(Value::as_array_mut).flatten() {
                    clear_strings(operation, &|text| self.quotations.are_in(text));
                    clear_parts(operation, &self.lost);
                    if let Some(outcome) = operation.pointer_mut("/task/outcome") {
                        clear_names(outcome, &self.quotations);
                    }
                }
                let quotes = |line: &str| self.quotations.are_in(line) || quotes_lost(line, &self.lost);
                let log = clear_lines(&row.log, quotes);
                if (&operations, &log) == (&row.operations, &row.log) {
                    continue;
                }
                sqlx::query!(
                    "UPDATE memory_contexts SET operations = $4, log = $5
                     WHERE vault_id = $1 AND memory_id = $2 AND version = $3",
                    vault.as_str(),
                    memory.as_str(),
                    row.version,
                    operations,
                    log,
                )
                .execute(&mut *connection)
                .await?;
            }
        }
    }
}

/// The replacement for a quotation.
const REDACTED: &str = "[redacted]";

/// The text, with each line that quotes the redacted text replaced.
fn clear_lines(text: &str, quotes: impl Fn(&str) -> bool) -> String {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| if quotes(line) { REDACTED } else { line })
        .collect();
    lines.join("\n")
}

/// Replaces what an operation says of a record that was lost. The reason of an archiving is not of the record.
fn clear_parts(operation: &mut Value, lost: &LostRecords) {
    let id = operation["id"].as_str().and_then(|id| id.parse().ok());
    let Some(lost) = id.and_then(|id: RecordId| lost.get(&id)) else {
        return;
    };
    let is_archiving = operation["op"] == "archive";
    let reason = lost.reason.as_ref().filter(|_| !is_archiving);
    for (member, part) in [
        ("label", lost.label.as_ref()),
        ("reason", reason),
        ("content", lost.content.as_ref()),
    ] {
        if part.is_some_and(|part| operation[member] == **part) {
            operation[member] = REDACTED.into();
        }
    }
}

/// Replaces the strings that quote the redacted text. The id of a record and the name of an operation say nothing and stay.
fn clear_strings(value: &mut Value, quotes: &impl Fn(&str) -> bool) {
    let is_name = |text: &str| text.parse::<RecordId>().is_ok() || OperationName::VARIANTS.contains(&text);
    match value {
        Value::String(text) if quotes(text) && !is_name(text) => REDACTED.clone_into(text),
        Value::Array(values) => {
            for value in values {
                clear_strings(value, quotes);
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                clear_strings(value, quotes);
            }
        }
        _ => {}
    }
}

/// Replaces an outcome of which a number or the name of a member, which clients choose, still contains a quotation.
fn clear_names(outcome: &mut Value, quotations: &Quotations) {
    if quotations.are_in(&outcome.to_string()) {
        *outcome = REDACTED.into();
    }
}

/// Whether a string in the value contains a quotation.
pub(in crate::storage) fn quotes(value: &Value, quotations: &Quotations) -> bool {
    match value {
        Value::String(text) => quotations.are_in(text),
        Value::Array(values) => values.iter().any(|value| quotes(value, quotations)),
        Value::Object(members) => members.values().any(|value| quotes(value, quotations)),
        _ => false,
    }
}
