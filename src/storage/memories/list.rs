//! Lists a vault's memories by id.

use super::sorted::range;
use crate::domain::ids::{ActorId, ContextId, MemoryId, VaultId};
use crate::storage::contexts::Source;
use crate::storage::memories::MemorySummary;
use crate::storage::{Storage, StorageError};

impl Storage {
    /// The memories of a vault in byte order of their ids, those that begin with `prefix` and come after `after`, at
    /// most `limit`. Empty for a vault without memories.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.list", skip_all)]
    pub async fn list_memories(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        after: Option<&MemoryId>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        // Owners of items are read only up to the end of a full page, so that few owners that have a document are read.
        // Whether an owner has a document is checked under LATERAL, one at a time: a join might check the whole vault.
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"WITH page AS (
                   SELECT memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2
                     AND memory_id COLLATE "C" < $3
                     AND memory_id COLLATE "C" > $4
                   ORDER BY memory_id COLLATE "C"
                   LIMIT $5
               ), items_only AS (
                   SELECT owner.memory_id, items.created_at, owner.changed_at, items.actor_id
                   FROM prompt_item_owners AS owner
                   CROSS JOIN LATERAL (
                       SELECT min(item.created_at) AS created_at,
                              (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                       FROM prompt_items AS item
                       WHERE item.vault_id = $1 AND item.memory_id = owner.memory_id
                         AND (item.expires_at IS NULL OR item.expires_at > $6)
                         AND NOT EXISTS (SELECT 1 FROM memories
                                         WHERE memories.vault_id = $1 AND memories.memory_id = owner.memory_id)
                       HAVING count(*) > 0
                   ) AS items
                   WHERE owner.vault_id = $1
                     AND owner.memory_id COLLATE "C" >= $2
                     AND owner.memory_id COLLATE "C" < $3
                     AND owner.memory_id COLLATE "C" > $4
                     AND owner.memory_id COLLATE "C"
                         <= COALESCE((SELECT max(page.memory_id COLLATE "C") FROM page HAVING count(*) = $5), '~')
                   ORDER BY owner.memory_id COLLATE "C"
                   LIMIT $5
               )
               SELECT $1::text AS "vault_id!: VaultId", listed.memory_id AS "memory_id!: MemoryId",
                      listed.version AS "version!", listed.context_id AS "context_id: ContextId",
                      listed.created_at AS "created_at!", listed.changed_at AS "changed_at!",
                      listed.bytes AS "bytes!", listed.actor_id AS "actor_id!: ActorId",
                      listed.source AS "source: Source"
               FROM (SELECT page.memory_id, page.head_version AS version, head.context_id, page.created_at,
                            page.changed_at, head.bytes, head.actor_id, head.source
                     FROM page
                     JOIN memory_contexts AS head
                       ON head.vault_id = $1 AND head.memory_id = page.memory_id
                      AND head.context_id = page.head_context_id
                     UNION ALL
                     SELECT memory_id, 0, NULL, created_at, changed_at, 0, actor_id, NULL FROM items_only) AS listed
               ORDER BY listed.memory_id COLLATE "C"
               LIMIT $5"#,
            vault.as_str(),
            from,
            end,
            after.map_or("", MemoryId::as_str),
            limit,
            self.clock.now(),
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows)
    }
}
