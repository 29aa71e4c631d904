//! Lists a vault's memories: by id, by the time of the last change, by size.
//!
//! Only the order by id has an index. The others would make every write move its memory in an index; a page in these
//! orders reads the heads of all memories of its vault.

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
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"SELECT $1::text AS "vault_id!: VaultId", memory.memory_id AS "memory_id!: MemoryId",
                      memory.head_version AS "version!", head.context_id AS "context_id?: ContextId",
                      COALESCE(items.created_at, memory.created_at) AS "created_at!", memory.changed_at AS "changed_at!",
                      COALESCE(head.bytes, 0) AS "bytes!", COALESCE(head.actor_id, items.actor_id) AS "actor_id!: ActorId",
                      head.source AS "source?: Source"
               FROM (
                   SELECT memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2 AND memory_id COLLATE "C" < $3 AND memory_id COLLATE "C" > $4
                     AND (head_version > 0 OR EXISTS (
                              SELECT FROM prompt_items AS item
                              WHERE item.vault_id = $1 AND item.memory_id = memories.memory_id
                                AND (item.expires_at IS NULL OR item.expires_at > $6)))
                   ORDER BY memory_id COLLATE "C"
                   LIMIT $5
               ) AS memory
               LEFT JOIN memory_contexts AS head
                 ON head.vault_id = $1 AND head.memory_id = memory.memory_id AND head.context_id = memory.head_context_id
               LEFT JOIN LATERAL (
                   SELECT min(item.created_at) AS created_at,
                          (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                   FROM prompt_items AS item
                   WHERE memory.head_version = 0 AND item.vault_id = $1 AND item.memory_id = memory.memory_id
                     AND (item.expires_at IS NULL OR item.expires_at > $6)
               ) AS items ON true
               ORDER BY memory.memory_id COLLATE "C""#,
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
            r#"SELECT $1::text AS "vault_id!: VaultId", memory.memory_id AS "memory_id!: MemoryId",
                      memory.head_version AS "version!", head.context_id AS "context_id?: ContextId",
                      COALESCE(items.created_at, memory.created_at) AS "created_at!", memory.changed_at AS "changed_at!",
                      COALESCE(head.bytes, 0) AS "bytes!", COALESCE(head.actor_id, items.actor_id) AS "actor_id!: ActorId",
                      head.source AS "source?: Source"
               FROM (
                   SELECT memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2 AND memory_id COLLATE "C" < $3
                     AND (changed_at, memory_id COLLATE "C") < (COALESCE($4::timestamptz, 'infinity'), $5::text)
                     AND (head_version > 0 OR EXISTS (
                              SELECT FROM prompt_items AS item
                              WHERE item.vault_id = $1 AND item.memory_id = memories.memory_id
                                AND (item.expires_at IS NULL OR item.expires_at > $7)))
                   ORDER BY changed_at DESC, memory_id COLLATE "C" DESC
                   LIMIT $6
               ) AS memory
               LEFT JOIN memory_contexts AS head
                 ON head.vault_id = $1 AND head.memory_id = memory.memory_id AND head.context_id = memory.head_context_id
               LEFT JOIN LATERAL (
                   SELECT min(item.created_at) AS created_at,
                          (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                   FROM prompt_items AS item
                   WHERE memory.head_version = 0 AND item.vault_id = $1 AND item.memory_id = memory.memory_id
                     AND (item.expires_at IS NULL OR item.expires_at > $7)
               ) AS items ON true
               ORDER BY memory.changed_at DESC, memory.memory_id COLLATE "C" DESC"#,
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
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"SELECT $1::text AS "vault_id!: VaultId", memory.memory_id AS "memory_id!: MemoryId",
                      memory.head_version AS "version!", head.context_id AS "context_id?: ContextId",
                      COALESCE(items.created_at, memory.created_at) AS "created_at!", memory.changed_at AS "changed_at!",
                      COALESCE(head.bytes, 0) AS "bytes!", COALESCE(head.actor_id, items.actor_id) AS "actor_id!: ActorId",
                      head.source AS "source?: Source"
               FROM (
                   SELECT memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2 AND memory_id COLLATE "C" < $3
                     AND (head_version > 0 OR EXISTS (
                              SELECT FROM prompt_items AS item
                              WHERE item.vault_id = $1 AND item.memory_id = memories.memory_id
                                AND (item.expires_at IS NULL OR item.expires_at > $7)))
               ) AS memory
               LEFT JOIN memory_contexts AS head
                 ON head.vault_id = $1 AND head.memory_id = memory.memory_id AND head.context_id = memory.head_context_id
               LEFT JOIN LATERAL (
                   SELECT min(item.created_at) AS created_at,
                          (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                   FROM prompt_items AS item
                   WHERE memory.head_version = 0 AND item.vault_id = $1 AND item.memory_id = memory.memory_id
                     AND (item.expires_at IS NULL OR item.expires_at > $7)
               ) AS items ON true
               WHERE (COALESCE(head.bytes, 0)::bigint, memory.memory_id COLLATE "C") < ($4::bigint, $5::text)
               ORDER BY COALESCE(head.bytes, 0) DESC, memory.memory_id COLLATE "C" DESC
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
fn range(prefix: Option<&MemoryId>) -> (&str, String) {
    let end = prefix.map_or_else(|| "~".to_owned(), |prefix| format!("{prefix}~"));
    (prefix.map_or("", MemoryId::as_str), end)
}

/// The start of a page; before all memories if there is none.
fn place(after: PageStart<'_>) -> (i64, &str) {
    after.map_or((i64::MAX, "~"), |(number, id)| (number, id.as_str()))
}
