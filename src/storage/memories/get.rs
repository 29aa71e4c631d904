//! Reads one memory.

use crate::domain::ids::{ActorId, MemoryId, RecordKind, VaultId};
use crate::domain::memory::Counters;
use crate::storage::database::connection::Connection;
use crate::storage::memories::{MemoryState, MemorySummary, RecordCount};
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};

impl Storage {
    /// A memory with its counters and the numbers of its records; `None` if it has neither a document nor items.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.get", skip_all)]
    pub async fn memory(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<MemoryState>, StorageError> {
        let mut reader = self.reader().await?;
        if let Some(state) = written(&mut reader, vault, memory).await? {
            return Ok(Some(state));
        }
        // If a document was written meanwhile, the summary of items is still a valid answer.
        let summary = of_items(&mut reader, vault, memory, self.clock.now()).await?;
        Ok(summary.map(|summary| MemoryState {
            summary,
            counters: Counters::default(),
            records: Default::default(),
        }))
    }
}

/// A memory that has a document.
async fn written(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<MemoryState>, StorageError> {
    let row = sqlx::query!(
        r#"SELECT memories.vault_id, memories.memory_id, memories.head_version, head.context_id,
                  memories.created_at, memories.changed_at, head.bytes, head.actor_id, head.source,
                  memories.counters,
                  ARRAY(SELECT count(*) FILTER (WHERE records.status = counted.status)
                        FROM unnest(ARRAY['KL', 'KL', 'VC', 'VC', 'T', 'T', 'D', 'D'],
                                    ARRAY['active', 'archived', 'active', 'archived',
                                          'active', 'archived', 'active', 'archived'])
                             WITH ORDINALITY AS counted (kind, status, place)
                        LEFT JOIN records
                          ON records.vault_id = $1 AND records.memory_id = $2 AND records.kind = counted.kind
                        GROUP BY counted.place
                        ORDER BY counted.place) AS "counts!"
           FROM memories
           JOIN memory_contexts AS head
             ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
            AND head.context_id = memories.head_context_id
           WHERE memories.vault_id = $1 AND head.vault_id = $1 AND memories.memory_id = $2"#,
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let counters = Counters::of_numbers(&row.counters);
    let mut records = [RecordCount::default(); RecordKind::ALL.len()];
    for (count, pair) in records.iter_mut().zip(row.counts.chunks(2)) {
        count.active = pair.first().copied().unwrap_or_default();
        count.archived = pair.get(1).copied().unwrap_or_default();
    }
    let summary = MemorySummary {
        vault_id: row.vault_id,
        memory_id: row.memory_id,
        version: row.head_version,
        context_id: Some(row.context_id),
        created_at: row.created_at,
        changed_at: row.changed_at,
        bytes: row.bytes,
        actor_id: row.actor_id,
        source: Some(row.source),
    };
    Ok(Some(MemoryState {
        summary,
        counters,
        records,
    }))
}

/// The summary of a memory without a document, from its items; `None` if all have expired.
#[tracing::instrument(name = "db.prompt_items.memory", skip_all)]
async fn of_items(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    now: DateTime<Utc>,
) -> Result<Option<MemorySummary>, StorageError> {
    let row = sqlx::query!(
        r#"SELECT owner.changed_at, items.created_at AS "created_at!", items.actor_id AS "actor_id!: ActorId"
           FROM prompt_item_owners AS owner
           CROSS JOIN LATERAL (
               SELECT min(item.created_at) AS created_at,
                      (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
               FROM prompt_items AS item
               WHERE item.vault_id = $1 AND item.memory_id = $2 AND (item.expires_at IS NULL OR item.expires_at > $3)
               HAVING count(*) > 0
           ) AS items
           WHERE owner.vault_id = $1 AND owner.memory_id = $2"#,
        vault.as_str(),
        memory.as_str(),
        now,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| MemorySummary {
        vault_id: vault.clone(),
        memory_id: memory.clone(),
        version: 0,
        context_id: None,
        created_at: row.created_at,
        changed_at: row.changed_at,
        bytes: 0,
        actor_id: row.actor_id,
        source: None,
    }))
}
