//! Reads for creating and evaluating handoffs: `records`, `record_changes` and the newest version.

use crate::domain::handoff::{CurrentFacts, Snapshot, Window};
use crate::domain::history::{RecordEvent, RecordLife, VersionMark};
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::storage::database::connection::Connection;
use crate::storage::handoffs::Handoff;
use crate::storage::records::history::Row;
use crate::storage::{Class, Storage, StorageError, records};
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of changes since a handoff that are read to list them.
const CHANGES_NAMED: usize = 21;

impl Storage {
    /// A memory at one moment: its newest version, the changes of the last `window` (at most the newest `max_changes`),
    /// the changed records, and their replacements. `None` if the memory does not exist.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.handoffs.snapshot", skip_all)]
    pub async fn handoff_snapshot(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        window: Window,
        max_changes: usize,
    ) -> Result<Option<Snapshot>, StorageError> {
        let mut transaction = self.begin(Class::Write).await?;
        sqlx::raw_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            .execute(&mut transaction)
            .await?;
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
            Some(context) => Some(context.text),
            None => (head.created_at > since).then(String::new),
        };
        Ok(Some(Snapshot {
            vault: vault.clone(),
            memory: memory.clone(),
            now,
            created_at: head.created_at,
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

    /// When a memory was created; `None` if it has no document.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.born", skip_all)]
    pub async fn memory_born(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<DateTime<Utc>>, StorageError> {
        Ok(sqlx::query_scalar!(
            "SELECT created_at FROM memories WHERE vault_id = $1 AND memory_id = $2 AND head_version > 0",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut self.reader().await?)
        .await?)
    }

    /// The current facts for evaluating a handoff: the records it cites, and the changes since its version.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.handoffs.facts", skip_all)]
    pub async fn handoff_facts(&self, handoff: &Handoff) -> Result<CurrentFacts, StorageError> {
        let (vault, memory) = (&handoff.vault_id, &handoff.memory_id);
        let cited: BTreeSet<RecordId> = handoff
            .citations
            .iter()
            .flat_map(|line| &line.cited)
            .filter_map(|cited| cited.citation.record_id())
            .collect();
        let kinds: Vec<String> = cited.iter().map(|id| id.kind.prefix().to_owned()).collect();
        let numbers: Vec<i64> = cited.iter().map(|id| id.number).collect();
        let mut connection = self.reader().await?;
        let newer = sqlx::query!(
            "SELECT version, context FROM memory_contexts
             WHERE vault_id = $1 AND memory_id = $2 AND version > $3
             ORDER BY version DESC
             LIMIT 1",
            vault.as_str(),
            memory.as_str(),
            handoff.base_version,
        )
        .fetch_optional(&mut connection)
        .await?;
        let rows = sqlx::query!(
            r#"SELECT kind, number, status = 'active' AS "is_active!" FROM records
               WHERE vault_id = $1 AND memory_id = $2
                 AND (kind, number) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))"#,
            vault.as_str(),
            memory.as_str(),
            &kinds,
            &numbers,
        )
        .fetch_all(&mut connection)
        .await?;
        let records: BTreeMap<RecordId, bool> = rows
            .into_iter()
            .map(|row| (RecordId::new(row.kind, row.number), row.is_active))
            .collect();
        let mut facts = CurrentFacts {
            now: self.clock.now().max(handoff.generated_at),
            records,
            cited_changes: BTreeMap::new(),
            changes: Vec::new(),
            has_more_changes: false,
            newer: newer.map(|row| (row.version, row.context)),
        };
        // Records change only with versions.
        if facts.newer.is_some() {
            let cited = cited_changes(&mut connection, handoff, &kinds, &numbers).await?;
            facts.cited_changes = cited.into_iter().map(|event| (event.id, event)).collect();
            facts.changes = changes_since(&mut connection, handoff).await?;
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
        for record in records::some(connection, vault, memory, &ids).await? {
            let life = RecordLife::from(record);
            let next = life.end.as_ref().and_then(|end| end.superseded_by);
            wanted.extend(next.filter(|id| !asked.contains(id)));
            found.insert(life.record.id, life);
        }
    }
    Ok(found)
}

/// The last change of each cited record since the handoff's version.
async fn cited_changes(
    connection: &mut Connection,
    handoff: &Handoff,
    kinds: &[String],
    numbers: &[i64],
) -> Result<Vec<RecordEvent>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT DISTINCT ON (kind, number) kind, number, version, change, at, by FROM record_changes
         WHERE vault_id = $1 AND memory_id = $2 AND version > $3
           AND (kind, number) IN (SELECT * FROM unnest($4::text[], $5::bigint[]))
         ORDER BY kind, number, version DESC",
        handoff.vault_id.as_str(),
        handoff.memory_id.as_str(),
        handoff.base_version,
        kinds,
        numbers,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(RecordEvent::from).collect())
}

/// The first changes since the handoff's version. Times never decrease from version to version, so the index on time
/// finds them.
async fn changes_since(
    connection: &mut Connection,
    handoff: &Handoff,
) -> Result<Vec<RecordEvent>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT kind, number, version, change, at, by FROM record_changes
         WHERE vault_id = $1 AND memory_id = $2 AND at >= $3 AND version > $4
         ORDER BY at, version, kind, number
         LIMIT $5",
        handoff.vault_id.as_str(),
        handoff.memory_id.as_str(),
        handoff.base_time,
        handoff.base_version,
        i64::try_from(CHANGES_NAMED).unwrap_or(i64::MAX),
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(RecordEvent::from).collect())
}
