//! Stored handoffs (`handoffs`), and the reads for creating and evaluating them: `records`, `record_changes` and the newest
//! version.

use crate::domain::handoff::{CitedLine, CurrentFacts, Snapshot, Window};
use crate::domain::history::{RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::{ActorId, ContextId, HandoffId, MemoryId, RecordId, VaultId};
use crate::storage::columns::FromJson;
use crate::storage::database::connect::SEE_ONE_MOMENT;
use crate::storage::database::connection::Connection;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{ClaimedAnswer, keep_answers};
use crate::storage::records::history::Row;
use crate::storage::write::lock_memory;
use crate::storage::{Class, ContextRef, Storage, StorageError, contexts, events, records};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A stored handoff of a memory, also as a file of an export has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// Its id.
    pub handoff_id: HandoffId,
    /// 1, 2, 3 … within the memory; the largest number is the newest.
    pub number: i64,
    /// The moment that it describes.
    pub generated_at: DateTime<Utc>,
    /// The actor that requested it.
    pub generated_by: ActorId,
    /// How far back it looks.
    #[serde(rename = "window_seconds")]
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

impl Storage {
    /// A handoff, the newest one without an id; `None` if the memory or the handoff does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn handoff(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        id: Option<&HandoffId>,
    ) -> Result<Option<Handoff>, StorageError> {
        let mut found = list(&mut self.reader().await?, (vault, memory), id, None, 1, true).await?;
        Ok(found.pop())
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
        let mut reader = self.reader().await?;
        list(&mut reader, (vault, memory), None, before, limit, false).await
    }

    /// Saves a handoff as the newest one under the lock of the memory's row, with the answer to the request if that has an
    /// idempotency key, deletes the oldest beyond `keep`, and notifies. `false` if its number does not follow that of the newest
    /// one any more, or a text that it may quote was removed, perhaps with the memory: it must be created again.
    ///
    /// # Errors
    /// Database errors; nothing was saved.
    pub async fn save_handoff(
        &self,
        snapshot: &Snapshot,
        handoff: &Handoff,
        keep: i64,
        answer: Option<&ClaimedAnswer>,
    ) -> Result<bool, StorageError> {
        let (vault, memory) = (&snapshot.vault, &snapshot.memory);
        self.transaction("db.handoffs.save", |mut transaction| async move {
            if lock_memory(&mut transaction, vault, memory).await?.is_none() {
                return Ok((transaction.rollback().await?, false));
            }
            let newest = sqlx::query_scalar!(
                r#"SELECT COALESCE(max(number), 0) AS "number!" FROM handoffs
                       WHERE vault_id = $1 AND memory_id = $2"#,
                vault.as_str(),
                memory.as_str(),
            )
            .fetch_one(&mut transaction)
            .await?;
            if newest + 1 != handoff.number || !may_be_quoted(&mut transaction, snapshot).await? {
                return Ok((transaction.rollback().await?, false));
            }
            insert(&mut transaction, (vault, memory), handoff).await?;
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
            events::append(&mut transaction, vault, &[event]).await?;
            if let Some(answer) = answer {
                keep_answers(&mut transaction, &[(answer, Some(memory))], None).await?;
            }
            Ok::<_, StorageError>((transaction, true))
        })
        .await
    }
}

/// Handoffs of a memory, the newest first, without Markdown and citations unless they are to be whole. A memory keeps few, so
/// that they are read in the order of their numbers whatever is wanted.
pub(super) async fn list(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    id: Option<&HandoffId>,
    before: Option<i64>,
    limit: i64,
    is_whole: bool,
) -> Result<Vec<Handoff>, StorageError> {
    let handoffs = sqlx::query_as!(
        Handoff,
        r#"SELECT handoff_id, number, generated_at, generated_by, window_seconds AS "window", base_version, base_context_id,
                  base_time, CASE WHEN $6 THEN markdown ELSE '' END AS "markdown!", manifest,
                  CASE WHEN $6 THEN citations ELSE '[]' END AS "citations!: FromJson<Vec<CitedLine>>"
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
    .fetch_all(connection)
    .await?;
    Ok(handoffs)
}

/// Stores a handoff of a memory.
pub(super) async fn insert(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    handoff: &Handoff,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO handoffs (vault_id, memory_id, handoff_id, number, generated_at, generated_by, window_seconds,
                               base_version, base_context_id, base_time, markdown, manifest, citations)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        vault.as_str(),
        memory.as_str(),
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
    let (vault, memory) = (&snapshot.vault, &snapshot.memory);
    let base = ContextRef::Id(snapshot.context_id.clone());
    let base = contexts::find_context(connection, vault, memory, &base).await?;
    if base.is_none_or(|base| base.metadata.redaction.is_some()) {
        return Ok(false);
    }
    let ended = snapshot.records.values().filter(|life| life.end.is_some());
    let ids: Vec<RecordId> = ended.map(|life| life.record.id).collect();
    let now = records::some(connection, vault, memory, &ids).await?;
    let same = now
        .into_iter()
        .filter(|now| snapshot.records.get(&now.record.id) == Some(now));
    Ok(same.count() == ids.len())
}

/// Deletes the handoffs that may quote a version: those created from it or from a later one.
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

/// Maximum number of changes since a handoff that are read to list them.
const CHANGES_NAMED: usize = 21;

impl Storage {
    /// A memory at one moment: its newest version, the changes of the last `window` (at most the newest `max_changes`),
    /// the changed records, and their replacements. `None` if the memory does not exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn handoff_snapshot(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        window: Window,
        max_changes: usize,
    ) -> Result<Option<Snapshot>, StorageError> {
        let mut transaction = self.begin(Class::Write).await?;
        sqlx::raw_sql(SEE_ONE_MOMENT).execute(&mut transaction).await?;
        let head = sqlx::query!(
            "SELECT memories.created_at, head.version, head.context_id, head.actor_id, head.creation_time, head.context
             FROM memories
             JOIN memory_contexts AS head
               ON head.vault_id = $1 AND head.memory_id = $2 AND head.version = memories.head_version
             WHERE memories.vault_id = $1 AND memories.memory_id = $2",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut transaction)
        .await?;
        let Some(head) = head else { return Ok(None) };
        let now = self.clock.now().max(head.creation_time);
        let since = now - window.length();
        let limit = i64::try_from(max_changes).unwrap_or(i64::MAX).saturating_add(1);
        let rows = sqlx::query_as!(
            Row,
            "SELECT kind, number, version, change, at, by FROM record_changes
             WHERE vault_id = $1 AND memory_id = $2 AND at >= $3
             ORDER BY at DESC, version DESC, kind, number
             LIMIT $4",
            vault.as_str(),
            memory.as_str(),
            since,
            limit,
        )
        .fetch_all(&mut transaction)
        .await?;
        let mut changes: Vec<RecordEvent> = rows.into_iter().map(RecordEvent::from).collect();
        let has_more_changes = changes.len() > max_changes;
        changes.truncate(max_changes);
        let records = with_replacements(&mut transaction, vault, memory, &changes).await?;
        drop(transaction);
        // Versions never change, so this one may be read after the snapshot.
        let before = match self.context_as_of(vault, memory, since).await? {
            // A redacted text is not known any more: against nothing all would be new.
            Some(context) => context.metadata.redaction.is_none().then_some(context.text),
            None => (head.created_at > since).then(String::new),
        };
        Ok(Some(Snapshot {
            vault: vault.clone(),
            memory: memory.clone(),
            now,
            context_id: head.context_id,
            head: VersionMark {
                version: head.version,
                at: head.creation_time,
                by: head.actor_id,
            },
            text: head.context,
            before,
            changes,
            has_more_changes,
            records,
        }))
    }

    /// The current facts for evaluating a handoff of a memory: the records it cites, and the changes since its version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn handoff_facts(
        &self,
        (vault, memory): (&VaultId, &MemoryId),
        handoff: &Handoff,
    ) -> Result<CurrentFacts, StorageError> {
        let of = (vault, memory);
        let cited: BTreeSet<RecordId> = handoff
            .citations
            .iter()
            .flat_map(|line| &line.cited)
            .filter_map(|cited| cited.citation.record_id())
            .collect();
        let mut connection = self.reader().await?;
        let newest = contexts::latest(&mut connection, vault, memory).await?;
        let newer = newest.filter(|(newest, _)| newest.metadata.version > handoff.base_version);
        let ids: Vec<RecordId> = cited.into_iter().collect();
        let records = records::some(&mut connection, vault, memory, &ids).await?;
        let records = records
            .into_iter()
            .map(|cited| (cited.record.id, cited.end.is_none()));
        let mut facts = CurrentFacts {
            now: self.clock.now().max(handoff.generated_at),
            records: records.collect(),
            cited_changes: BTreeMap::new(),
            changes: Vec::new(),
            has_more_changes: false,
            newer: newer.map(|(newer, _)| (newer.metadata.version, newer.text)),
        };
        // Records change only with versions.
        if facts.newer.is_some() {
            // Of several changes of a record the last one stays.
            let cited = changes_since(&mut connection, of, handoff, Some(&ids), i64::MAX).await?;
            facts.cited_changes = cited.into_iter().map(|event| (event.id, event)).collect();
            facts.changes = changes_since(&mut connection, of, handoff, None, CHANGES_NAMED as i64).await?;
            facts.has_more_changes = facts.changes.len() >= CHANGES_NAMED;
        }
        Ok(facts)
    }
}

/// The changed records, and the chains of their replacements.
async fn with_replacements(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    changes: &[RecordEvent],
) -> Result<BTreeMap<RecordId, RecordLife>, StorageError> {
    let mut found: BTreeMap<RecordId, RecordLife> = BTreeMap::new();
    let mut wanted: BTreeSet<RecordId> = changes.iter().map(|event| event.id).collect();
    let mut asked: BTreeSet<RecordId> = BTreeSet::new();
    // Each round follows the chains by one step; no record is read twice.
    while !wanted.is_empty() {
        asked.extend(&wanted);
        let ids: Vec<RecordId> = std::mem::take(&mut wanted).into_iter().collect();
        for life in records::some(connection, vault, memory, &ids).await? {
            let next = life.end.as_ref().and_then(|end| end.superseded_by);
            wanted.extend(next.filter(|id| !asked.contains(id)));
            found.insert(life.record.id, life);
        }
    }
    Ok(found)
}

/// The first changes since the handoff's version, of all records or of these. Times never decrease from version to version,
/// so the index on time finds them.
async fn changes_since(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    handoff: &Handoff,
    of: Option<&[RecordId]>,
    limit: i64,
) -> Result<Vec<RecordEvent>, StorageError> {
    let columns = of.map(|ids| ids.iter().map(|id| (id.kind.prefix().to_owned(), id.number)));
    let (kinds, numbers): (Option<Vec<String>>, Option<Vec<i64>>) = columns.map(Iterator::unzip).unzip();
    let rows = sqlx::query_as!(
        Row,
        "SELECT kind, number, version, change, at, by FROM record_changes
         WHERE vault_id = $1 AND memory_id = $2 AND at >= $3 AND version > $4
           AND ($5::text[] IS NULL OR (kind, number) IN (SELECT * FROM unnest($5, $6::bigint[])))
         ORDER BY at, version, kind, number
         LIMIT $7",
        vault.as_str(),
        memory.as_str(),
        handoff.base_time,
        handoff.base_version,
        kinds.as_deref(),
        numbers.as_deref(),
        limit,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(RecordEvent::from).collect())
}
