//! Lists of memories in another order than that of their ids. No index has these orders, because every write would have to
//! move its memory in it: a page reads the heads of its vault's memories, and of no others.

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::memories::MemorySummary;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};

/// What memories are sorted by, the largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOrder {
    /// When their newest version was made.
    ChangedAt,
    /// How large it is.
    Bytes,
}

/// Where a page begins: behind this memory, whose number is its time in microseconds or its size.
pub type Behind<'a> = Option<(i64, &'a MemoryId)>;

impl MemoryOrder {
    /// What of a memory decides its place.
    #[must_use]
    pub fn number(self, memory: &MemorySummary) -> i64 {
        match self {
            Self::ChangedAt => memory.changed_at.timestamp_micros(),
            Self::Bytes => memory.bytes.into(),
        }
    }
}

impl Storage {
    /// Memories of a vault in an order of their own, those that begin with `prefix` and stand behind `behind`, at most
    /// `limit`; of equals the greater id first.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.memories.list_sorted", skip_all)]
    pub async fn list_memories_sorted(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        order: MemoryOrder,
        behind: Behind<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        match order {
            MemoryOrder::ChangedAt => self.by_change(vault, prefix, behind, limit).await,
            MemoryOrder::Bytes => self.by_size(vault, prefix, behind, limit).await,
        }
    }

    async fn by_change(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        behind: Behind<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        let (number, id) = place(behind);
        let time = DateTime::from_timestamp_micros(number).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let time = behind.map(|_| time);
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"SELECT page.vault_id, page.memory_id, page.head_version AS version, head.context_id, page.created_at,
                      page.changed_at, head.bytes, head.actor_id, head.source
               FROM (
                   SELECT vault_id, memory_id, head_version, head_context_id, created_at, changed_at
                   FROM memories
                   WHERE vault_id = $1
                     AND memory_id COLLATE "C" >= $2
                     AND memory_id COLLATE "C" < $3
                     AND (changed_at, memory_id COLLATE "C") < (COALESCE($4::timestamptz, 'infinity'), $5::text)
                   ORDER BY changed_at DESC, memory_id COLLATE "C" DESC
                   LIMIT $6
               ) AS page
               JOIN memory_contexts AS head
                 ON head.vault_id = page.vault_id AND head.memory_id = page.memory_id
                AND head.context_id = page.head_context_id
               WHERE head.vault_id = $1
               ORDER BY page.changed_at DESC, page.memory_id COLLATE "C" DESC"#,
            vault.as_str(),
            from,
            end,
            time,
            id,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows)
    }

    async fn by_size(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        behind: Behind<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        let (number, id) = place(behind);
        let rows = sqlx::query_as!(
            MemorySummary,
            r#"SELECT memories.vault_id, memories.memory_id, memories.head_version AS version, head.context_id,
                      memories.created_at, memories.changed_at, head.bytes, head.actor_id, head.source
               FROM memories
               JOIN memory_contexts AS head
                 ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
                AND head.context_id = memories.head_context_id
               WHERE memories.vault_id = $1 AND head.vault_id = $1
                 AND memories.memory_id COLLATE "C" >= $2
                 AND memories.memory_id COLLATE "C" < $3
                 AND (head.bytes::bigint, memories.memory_id COLLATE "C") < ($4::bigint, $5::text)
               ORDER BY head.bytes DESC, memories.memory_id COLLATE "C" DESC
               LIMIT $6"#,
            vault.as_str(),
            from,
            end,
            number,
            id,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        Ok(rows)
    }
}

/// The ids that begin with a prefix. No id holds a tilde, and every character of one is less.
fn range(prefix: Option<&MemoryId>) -> (&str, String) {
    let end = prefix.map_or_else(|| "~".to_owned(), |prefix| format!("{prefix}~"));
    (prefix.map_or("", MemoryId::as_str), end)
}

/// What every memory stands behind, where nothing is said.
fn place(behind: Behind<'_>) -> (i64, &str) {
    behind.map_or((i64::MAX, "~"), |(number, id)| (number, id.as_str()))
}
