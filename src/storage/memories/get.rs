//! Reads one memory.

use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordKind, VaultId};
use crate::domain::memory::Counters;
use crate::storage::contexts::Source;
use crate::storage::memories::{MemoryState, MemorySummary, RecordCount};
use crate::storage::{Storage, StorageError};

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
        let row = sqlx::query!(
            r#"SELECT memory.vault_id, memory.memory_id, memory.head_version, head.context_id AS "context_id?: ContextId",
                      COALESCE(items.created_at, memory.created_at) AS "created_at!", memory.changed_at,
                      COALESCE(head.bytes, 0) AS "bytes!", COALESCE(head.actor_id, items.actor_id) AS "actor_id!: ActorId",
                      head.source AS "source?: Source", memory.counters,
                      ARRAY(SELECT count(*) FILTER (WHERE records.status = counted.status)
                            FROM unnest(ARRAY['KL', 'KL', 'VC', 'VC', 'T', 'T', 'D', 'D'],
                                        ARRAY['active', 'archived', 'active', 'archived',
                                              'active', 'archived', 'active', 'archived'])
                                 WITH ORDINALITY AS counted (kind, status, place)
                            LEFT JOIN records
                              ON records.vault_id = $1 AND records.memory_id = $2 AND records.kind = counted.kind
                            GROUP BY counted.place
                            ORDER BY counted.place) AS "counts!"
               FROM memories AS memory
               LEFT JOIN memory_contexts AS head
                 ON head.vault_id = $1 AND head.memory_id = $2 AND head.context_id = memory.head_context_id
               LEFT JOIN LATERAL (
                   SELECT min(item.created_at) AS created_at,
                          (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                   FROM prompt_items AS item
                   WHERE memory.head_version = 0 AND item.vault_id = $1 AND item.memory_id = $2
                     AND (item.expires_at IS NULL OR item.expires_at > $3)
               ) AS items ON true
               WHERE memory.vault_id = $1 AND memory.memory_id = $2
                 AND (head.actor_id IS NOT NULL OR items.actor_id IS NOT NULL)"#,
            vault.as_str(),
            memory.as_str(),
            self.clock.now(),
        )
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let mut records = [RecordCount::default(); RecordKind::ALL.len()];
        for (count, pair) in records.iter_mut().zip(row.counts.chunks(2)) {
            count.active = pair.first().copied().unwrap_or_default();
            count.archived = pair.get(1).copied().unwrap_or_default();
        }
        Ok(Some(MemoryState {
            summary: MemorySummary {
                vault_id: row.vault_id,
                memory_id: row.memory_id,
                version: row.head_version,
                context_id: row.context_id,
                created_at: row.created_at,
                changed_at: row.changed_at,
                bytes: row.bytes,
                actor_id: row.actor_id,
                source: row.source,
            },
            counters: Counters::of_numbers(&row.counters),
            records,
        }))
    }
}
