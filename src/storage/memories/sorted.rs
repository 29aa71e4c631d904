//! Lists memories in other orders than by id. No index has these orders, because every write would have to move its
//! memory in the index: a page reads the heads of all memories of its vault, and of no others. Items of memories
//! without a document are read only as far as the page goes.

use crate::domain::ids::{ActorId, ContextId, MemoryId, VaultId};
use crate::storage::contexts::Source;
use crate::storage::memories::MemorySummary;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};

/// The sort key, largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOrder {
    /// When the newest version was created.
    ChangedAt,
    /// The size of the newest version.
    Bytes,
}

/// The start of a page: after this memory. The number is its time in microseconds or its size.
pub type PageStart<'a> = Option<(i64, &'a MemoryId)>;

impl MemoryOrder {
    /// The sort key of a memory.
    #[must_use]
    pub fn number(self, memory: &MemorySummary) -> i64 {
        match self {
            Self::ChangedAt => memory.changed_at.timestamp_micros(),
            Self::Bytes => memory.bytes.into(),
        }
    }
}

impl Storage {
    /// The memories of a vault in the given order, those that begin with `prefix` and come after `after`, at most
    /// `limit`; ties by descending id.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.list_sorted", skip_all)]
    pub async fn list_memories_sorted(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        order: MemoryOrder,
        after: PageStart<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        match order {
            MemoryOrder::ChangedAt => self.by_change(vault, prefix, after, limit).await,
            MemoryOrder::Bytes => self.by_size(vault, prefix, after, limit).await,
        }
    }

    async fn by_change(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        after: PageStart<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        let (number, id) = place(after);
        let time = DateTime::from_timestamp_micros(number).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let time = after.map(|_| time);
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"WITH page AS (
                   SELECT memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2
                     AND memory_id COLLATE "C" < $3
                     AND (changed_at, memory_id COLLATE "C") < (COALESCE($4::timestamptz, 'infinity'), $5::text)
                   ORDER BY changed_at DESC, memory_id COLLATE "C" DESC
                   LIMIT $6
               ), items_only AS (
                   SELECT alone.memory_id, items.created_at, alone.changed_at, items.actor_id
                   FROM (
                       SELECT owner.memory_id, owner.memory_id COLLATE "C" AS place, owner.changed_at
                       FROM prompt_item_owners AS owner
                       LEFT JOIN memories ON memories.vault_id = $1 AND memories.memory_id = owner.memory_id
                       WHERE owner.vault_id = $1 AND memories.memory_id IS NULL AND owner.memory_id <> ''
                         AND owner.memory_id COLLATE "C" >= $2
                         AND owner.memory_id COLLATE "C" < $3
                         AND (owner.changed_at, owner.memory_id COLLATE "C")
                             < (COALESCE($4::timestamptz, 'infinity'), $5::text)
                       ORDER BY owner.changed_at DESC, owner.memory_id COLLATE "C" DESC
                   ) AS alone
                   CROSS JOIN LATERAL (
                       SELECT min(item.created_at) AS created_at,
                              (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                       FROM prompt_items AS item
                       WHERE item.vault_id = $1 AND item.memory_id = alone.memory_id
                         AND (item.expires_at IS NULL OR item.expires_at > $7)
                       HAVING count(*) > 0
                   ) AS items
                   ORDER BY alone.changed_at DESC, alone.place DESC
                   LIMIT $6
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
               ORDER BY listed.changed_at DESC, listed.memory_id COLLATE "C" DESC
               LIMIT $6"#,
            vault.as_str(),
            from,
            end,
            time,
            id,
            limit,
            self.clock.now(),
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows)
    }

    async fn by_size(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        after: PageStart<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        let (number, id) = place(after);
        // Memories without a document have size 0, so they come after all others.
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"WITH page AS (
                   SELECT memories.memory_id, memories.head_version AS version, head.context_id, memories.created_at,
                          memories.changed_at, head.bytes, head.actor_id, head.source
                   FROM memories
                   JOIN memory_contexts AS head
                     ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
                    AND head.context_id = memories.head_context_id
                   WHERE memories.vault_id = $1 AND head.vault_id = $1
                     AND memories.memory_id COLLATE "C" >= $2
                     AND memories.memory_id COLLATE "C" < $3
                     AND (head.bytes::bigint, memories.memory_id COLLATE "C") < ($4::bigint, $5::text)
                   ORDER BY head.bytes DESC, memories.memory_id COLLATE "C" DESC
                   LIMIT $6
               ), items_only AS (
                   SELECT alone.memory_id, items.created_at, alone.changed_at, items.actor_id
                   FROM (
                       SELECT owner.memory_id, owner.memory_id COLLATE "C" AS place, owner.changed_at
                       FROM prompt_item_owners AS owner
                       LEFT JOIN memories ON memories.vault_id = $1 AND memories.memory_id = owner.memory_id
                       WHERE owner.vault_id = $1 AND memories.memory_id IS NULL AND owner.memory_id <> ''
                         AND owner.memory_id COLLATE "C" >= $2
                         AND owner.memory_id COLLATE "C" < $3
                         AND (0::bigint, owner.memory_id COLLATE "C") < ($4::bigint, $5::text)
                         AND NOT (SELECT count(*) = $6 AND min(page.bytes) > 0 FROM page)
                       ORDER BY owner.memory_id COLLATE "C" DESC
                   ) AS alone
                   CROSS JOIN LATERAL (
                       SELECT min(item.created_at) AS created_at,
                              (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                       FROM prompt_items AS item
                       WHERE item.vault_id = $1 AND item.memory_id = alone.memory_id
                         AND (item.expires_at IS NULL OR item.expires_at > $7)
                       HAVING count(*) > 0
                   ) AS items
                   ORDER BY alone.place DESC
                   LIMIT $6
               )
               SELECT $1::text AS "vault_id!: VaultId", listed.memory_id AS "memory_id!: MemoryId",
                      listed.version AS "version!", listed.context_id AS "context_id: ContextId",
                      listed.created_at AS "created_at!", listed.changed_at AS "changed_at!",
                      listed.bytes AS "bytes!", listed.actor_id AS "actor_id!: ActorId",
                      listed.source AS "source: Source"
               FROM (SELECT memory_id, version, context_id, created_at, changed_at, bytes, actor_id, source FROM page
                     UNION ALL
                     SELECT memory_id, 0, NULL, created_at, changed_at, 0, actor_id, NULL FROM items_only) AS listed
               ORDER BY listed.bytes DESC, listed.memory_id COLLATE "C" DESC
               LIMIT $6"#,
            vault.as_str(),
            from,
            end,
            number,
            id,
            limit,
            self.clock.now(),
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows)
    }
}

/// The range of ids with a prefix. Ids contain no tilde, which sorts after all their characters.
pub(super) fn range(prefix: Option<&MemoryId>) -> (&str, String) {
    let end = prefix.map_or_else(|| "~".to_owned(), |prefix| format!("{prefix}~"));
    (prefix.map_or("", MemoryId::as_str), end)
}

/// The start of a page; before all memories if there is none.
fn place(after: PageStart<'_>) -> (i64, &str) {
    after.map_or((i64::MAX, "~"), |(number, id)| (number, id.as_str()))
}
