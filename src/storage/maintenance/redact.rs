//! The transaction of `RedactContext`: removes the text of a version from its row and from everything that quotes it.

mod records;
mod runs;
mod words;

use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::domain::redaction::Redaction;
use crate::storage::contexts::{Context, ContextMetadata, ContextRef, find_context};
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Ending;
use crate::storage::events::{self, EventKind, NewEvent};
use crate::storage::handoffs::forget_handoffs;
use crate::storage::idempotency::{Redacted, delete_redacted_answers};
use crate::storage::search::vectors::forget_vectors;
use crate::storage::usage::stored;
use crate::storage::write::lock_memory;
use crate::storage::{Class, Missing, Preconditions, Storage, StorageError, WriteError};
use chrono::{DateTime, Utc};
use records::{clear_archive_reasons, clear_records, clear_tasks};
use runs::clear_runs;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::slice::from_ref;
use words::clear_words;

impl Storage {
    /// Redacts a version: removes its text permanently. The row with its actor and number stays, with who redacted it,
    /// when and why, and the hash of the text. Everything that quotes the text is removed too: the version's own log
    /// and operations; the request, exchanges and outcome of runs that created it, started from it or quote it;
    /// quotations in logs and operations of other versions; texts of archived records that no other version contains;
    /// and every handoff created since the version, because handoffs quote in other spellings. Redacting it again
    /// changes nothing.
    ///
    /// Old copies in the files of the database remain until it cleans up (`VACUUM`), those in backups as long as the
    /// backups.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_contexts.redact", skip_all)]
    pub async fn redact_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
        actor: &ActorId,
        reason: &str,
        preconditions: &Preconditions,
    ) -> Result<ContextMetadata, WriteError> {
        let (redacted, event) = self
            .transaction_for(Class::Maintenance, "db.memory_contexts.redact", |transaction| {
                let of = (vault, memory);
                self.redact_in(transaction, of, reference, (actor, reason), preconditions)
            })
            .await?;
        if let Some(event) = event {
            self.replica_must_catch_up();
            self.appended(vault, &[event]);
        }
        Ok(redacted)
    }

    /// The redacted version and the events to publish; without events if it was redacted before.
    async fn redact_in(
        &self,
        mut transaction: Connection,
        (vault, memory): (&VaultId, &MemoryId),
        reference: &ContextRef,
        (actor, reason): (&ActorId, &str),
        preconditions: &Preconditions,
    ) -> Result<Ending<(ContextMetadata, Option<NewEvent>)>, WriteError> {
        let head = lock_memory(&mut transaction, vault, memory).await?;
        let newest = head.as_ref().map(|head| head.version);
        preconditions.check(head.as_ref().and_then(|head| head.context_id.as_ref()), newest)?;
        let found = find_context(&mut transaction, vault, memory, reference).await?;
        let (Some(head), Some(Context { metadata, text })) = (head, found) else {
            return Err(WriteError::NotFound(Missing::Version));
        };
        let version = metadata.version;
        if metadata.redaction.is_some() {
            return Ok(transaction.roll_back_with((metadata, None)));
        }
        if version == head.version {
            return Err(WriteError::IsHead { version });
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
        // Computed here: in a distributed database a statement that changes rows cannot compute it.
        let hash = hex::encode(Sha256::digest(text.as_bytes()));
        // Before the texts of versions are changed, because the texts of runs are unpacked with them.
        let runs = clear_runs(&mut transaction, &place, &quotations).await?;
        clear_version(&mut transaction, &place, &hash, (actor, reason), now).await?;
        clear_words(&mut transaction, &place, &quotations).await?;
        clear_records(&mut transaction, &place, &redaction.lost_records()).await?;
        clear_archive_reasons(&mut transaction, &place, &quotations).await?;
        clear_tasks(&mut transaction, &place, &quotations).await?;
        forget_handoffs(&mut transaction, vault, memory, version).await?;
        forget_vectors(&mut transaction, vault, memory).await?;
        let context_id = &metadata.context_id;
        let redacted_version = Redacted {
            context_id,
            version,
            runs: &runs,
            quotations: &quotations,
        };
        delete_redacted_answers(&mut transaction, vault, memory, &redacted_version).await?;
        let redacted = find_context(&mut transaction, vault, memory, reference).await?;
        let event = NewEvent {
            actor: Some(actor.clone()),
            details: Some(json!({"version": version, "context_id": context_id.as_str()})),
            ..self.event(memory, EventKind::Redacted)
        };
        let left = stored::of_memory(&mut transaction, vault, memory).await?;
        stored::count(&mut transaction, vault, &event.event_id, (held, left)).await?;
        events::append(&mut transaction, vault, from_ref(&event)).await?;
        let redacted = redacted.ok_or(WriteError::NotFound(Missing::Version))?.metadata;
        Ok(transaction.commit_with((redacted, Some(event))))
    }
}

/// Removes from the quotations what other versions still contain.
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

/// Rows read at once: versions and runs may have 100 KiB each or more.
pub(super) const ROWS_AT_ONCE: i64 = 32;

/// The version being redacted.
pub(super) struct Place<'a> {
    pub(super) vault: &'a VaultId,
    pub(super) memory: &'a MemoryId,
    pub(super) version: i64,
}
