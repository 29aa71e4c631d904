//! Stored handoffs: `handoffs`.

pub(in crate::storage) mod reads;

use crate::domain::handoff::{CitedLine, Snapshot, Window};
use crate::domain::history::RecordLife;
use crate::domain::ids::{ActorId, ContextId, HandoffId, MemoryId, RecordId, VaultId};
use crate::storage::columns::Stored;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Ending;
use crate::storage::events::{self, EventKind, NewEvent};
use crate::storage::write::lock_memory;
use crate::storage::{Storage, StorageError, records};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::slice::from_ref;

/// A stored handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    /// The vault.
    pub vault_id: VaultId,
    /// The memory.
    pub memory_id: MemoryId,
    /// Its id.
    pub handoff_id: HandoffId,
    /// 1, 2, 3 … within the memory; the largest number is the newest.
    pub number: i64,
    /// The moment that it describes.
    pub generated_at: DateTime<Utc>,
    /// The actor that requested it.
    pub generated_by: ActorId,
    /// How far back it looks.
    pub window: Window,
    /// The newest version at that moment.
    pub base_version: i64,
    /// That version's id.
    pub base_context_id: ContextId,
    /// When that version was created.
    pub base_time: DateTime<Utc>,
    /// The eight sections.
    pub markdown: String,
    /// Its inputs and how it was created.
    pub manifest: Value,
    /// Its lines with citations.
    pub citations: Vec<CitedLine>,
}

/// The result of saving a handoff.
#[derive(Debug)]
pub enum SaveHandoff {
    /// It is the newest one now.
    Saved(Box<Handoff>),
    /// Another handoff was saved meanwhile.
    Overtaken,
    /// A text that it may quote was removed meanwhile; it must be created again.
    Moved,
    /// The memory no longer exists.
    NoMemory,
}

impl Storage {
    /// The newest handoff of a memory; `None` if there is none.
    ///
    /// # Errors
    /// Database errors.
    pub async fn latest_handoff(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<Handoff>, StorageError> {
        let newest = self.handoffs((vault, memory), None, None, 1, true).await?;
        Ok(newest.into_iter().next())
    }

    /// A handoff; `None` if the memory or the handoff does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn handoff(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        handoff: &HandoffId,
    ) -> Result<Option<Handoff>, StorageError> {
        let found = self
            .handoffs((vault, memory), Some(handoff), None, 1, true)
            .await?;
        Ok(found.into_iter().next())
    }

    /// Handoffs with numbers below `before` (all if `None`), newest first, at most `limit`, without Markdown and
    /// citations.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_handoffs(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<Handoff>, StorageError> {
        self.handoffs((vault, memory), None, before, limit, false).await
    }

    /// A memory keeps few handoffs, so that they are read in the order of their numbers whatever is wanted.
    #[tracing::instrument(name = "db.handoffs.list", skip_all)]
    async fn handoffs(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        id: Option<&HandoffId>,
        before: Option<i64>,
        limit: i64,
        is_whole: bool,
    ) -> Result<Vec<Handoff>, StorageError> {
        let handoffs = sqlx::query_as!(
            Handoff,
            r#"SELECT vault_id, memory_id, handoff_id, number, generated_at, generated_by, window_seconds AS "window",
                      base_version, base_context_id, base_time, CASE WHEN $6 THEN markdown ELSE '' END AS "markdown!",
                      manifest, CASE WHEN $6 THEN citations ELSE '[]' END AS "citations!: Stored<Vec<CitedLine>>"
               FROM handoffs
               WHERE vault_id = $1 AND memory_id = $2 AND ($3::text IS NULL OR handoff_id = $3) AND number < $4
               ORDER BY number DESC
               LIMIT $5"#,
            vault.as_str(),
            memory.as_str(),
            id.map(HandoffId::as_str),
            before.unwrap_or(i64::MAX),
            limit,
            is_whole,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(handoffs)
    }

    /// Saves a handoff as the newest one under the lock of the memory's row, deletes the oldest beyond `keep`, and
    /// notifies. `handoff.number` is the number of the newest handoff known when it was created, 0 for none. It is
    /// saved only if that is still the newest one, and if its inputs may still be quoted.
    ///
    /// # Errors
    /// Database errors; nothing was saved.
    #[tracing::instrument(name = "db.handoffs.save", skip_all)]
    pub async fn save_handoff(
        &self,
        snapshot: &Snapshot,
        handoff: Handoff,
        keep: i64,
    ) -> Result<SaveHandoff, StorageError> {
        let handoff = &handoff;
        let (saved, event) = self
            .transaction("db.handoffs.save", |transaction| {
                self.save_handoff_in(transaction, snapshot, handoff, keep)
            })
            .await?;
        self.appended(&handoff.vault_id, event.as_slice());
        Ok(saved)
    }

    /// Also returns the events to publish.
    async fn save_handoff_in(
        &self,
        mut transaction: Connection,
        snapshot: &Snapshot,
        handoff: &Handoff,
        keep: i64,
    ) -> Result<Ending<(SaveHandoff, Option<NewEvent>)>, StorageError> {
        let (vault, memory) = (&handoff.vault_id, &handoff.memory_id);
        if lock_memory(&mut transaction, vault, memory).await?.is_none() {
            return Ok(transaction.roll_back_with((SaveHandoff::NoMemory, None)));
        }
        let newest = sqlx::query_scalar!(
            r#"SELECT COALESCE(max(number), 0) AS "number!" FROM handoffs WHERE vault_id = $1 AND memory_id = $2"#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_one(&mut transaction)
        .await?;
        if newest != handoff.number {
            return Ok(transaction.roll_back_with((SaveHandoff::Overtaken, None)));
        }
        if !may_be_quoted(&mut transaction, snapshot).await? {
            return Ok(transaction.roll_back_with((SaveHandoff::Moved, None)));
        }
        let handoff = Handoff {
            number: handoff.number + 1,
            ..handoff.clone()
        };
        insert(&mut transaction, &handoff).await?;
        sqlx::query!(
            "DELETE FROM handoffs WHERE vault_id = $1 AND memory_id = $2 AND number <= $3",
            vault.as_str(),
            memory.as_str(),
            handoff.number.saturating_sub(keep),
        )
        .execute(&mut transaction)
        .await?;
        let event = NewEvent {
            actor: Some(handoff.generated_by.clone()),
            details: Some(json!({ "handoff_id": handoff.handoff_id.as_str() })),
            ..self.event(memory, EventKind::Handoff)
        };
        events::append(&mut transaction, vault, from_ref(&event)).await?;
        let saved = SaveHandoff::Saved(Box::new(handoff));
        Ok(transaction.commit_with((saved, Some(event))))
    }
}

async fn insert(connection: &mut Connection, handoff: &Handoff) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO handoffs (vault_id, memory_id, handoff_id, number, generated_at, generated_by, window_seconds,
                               base_version, base_context_id, base_time, markdown, manifest, citations)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        handoff.vault_id.as_str(),
        handoff.memory_id.as_str(),
        handoff.handoff_id.as_str(),
        handoff.number,
        handoff.generated_at,
        handoff.generated_by.as_str(),
        handoff.window.seconds(),
        handoff.base_version,
        handoff.base_context_id.as_str(),
        handoff.base_time,
        handoff.markdown,
        handoff.manifest,
        json!(handoff.citations),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether the version that a handoff was created from still has its text, and the archived records it used are
/// unchanged: a redaction removes both. Active records are part of that version.
async fn may_be_quoted(connection: &mut Connection, snapshot: &Snapshot) -> Result<bool, StorageError> {
    let base = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT 1 FROM memory_contexts
                          WHERE vault_id = $1 AND memory_id = $2 AND context_id = $3
                            AND redacted_at IS NULL) AS "there!""#,
        snapshot.vault.as_str(),
        snapshot.memory.as_str(),
        snapshot.context_id.as_str(),
    )
    .fetch_one(&mut *connection)
    .await?;
    if !base {
        return Ok(false);
    }
    let ended = snapshot.records.values().filter(|life| life.end.is_some());
    let ids: Vec<RecordId> = ended.map(|life| life.record.id).collect();
    let now = records::some(connection, &snapshot.vault, &snapshot.memory, &ids).await?;
    let same = now.into_iter().map(RecordLife::from).filter(|now| {
        let seen = snapshot.records.get(&now.record.id);
        seen.is_some_and(|seen| {
            seen == now || now.end.as_ref() != seen.end.as_ref() && says_the_same(seen, now)
        })
    });
    Ok(same.count() == ids.len())
}

/// A record that was restored or archived meanwhile may still be quoted, as long as its text exists.
fn says_the_same(seen: &RecordLife, now: &RecordLife) -> bool {
    let reason = |life: &RecordLife| life.end.as_ref().and_then(|end| end.reason.clone());
    (&seen.record.label, &seen.record.reason, &seen.record.content)
        == (&now.record.label, &now.record.reason, &now.record.content)
        && (now.end.is_none() || reason(seen) == reason(now))
}

/// Deletes the handoffs that may quote a version: those created from it or from a later one.
#[tracing::instrument(name = "db.handoffs.forget", skip_all)]
pub(super) async fn forget_handoffs(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    version: i64,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM handoffs WHERE vault_id = $1 AND memory_id = $2 AND base_version >= $3",
        vault.as_str(),
        memory.as_str(),
        version,
    )
    .execute(connection)
    .await?;
    Ok(())
}
