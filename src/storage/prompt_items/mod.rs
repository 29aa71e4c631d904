//! Prompt items: `prompt_items`. Writers lock the memory's row, which exists as long as the memory has items; for items of
//! the vault itself, which has no row, an advisory lock.

mod write;

pub use write::Replaced;

pub(super) use write::{delete, insert};

use crate::domain::ids::{Category, ItemId, MemoryId, VaultId};
use crate::domain::prompt::PromptItem;
use crate::storage::columns::FromJson;
use crate::storage::database::connection::Connection;
use crate::storage::pages::key_time;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The owner of items: a memory, or the vault, whose items apply to all its memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemOwner {
    /// The vault.
    pub vault: VaultId,
    /// The memory; `None` for the vault itself.
    pub memory: Option<MemoryId>,
}

impl ItemOwner {
    /// Its value in `memory_id`: empty for the vault, since no memory has an empty id.
    fn memory_id(&self) -> &str {
        self.memory.as_ref().map_or("", MemoryId::as_str)
    }
}

/// The sort key of an item in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemKey {
    category: Category,
    #[serde(deserialize_with = "key_time")]
    created_at: DateTime<Utc>,
    item_id: ItemId,
}

impl ItemKey {
    /// The sort key of an item.
    #[must_use]
    pub fn of(item: &PromptItem) -> Self {
        Self {
            category: item.category.clone(),
            created_at: item.created_at,
            item_id: item.item_id.clone(),
        }
    }
}

/// Which items of an owner; each member that is set restricts them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ItemFilter<'a> {
    /// The item with this id.
    pub id: Option<&'a ItemId>,
    /// Those of this category.
    pub category: Option<&'a Category>,
}

impl Storage {
    /// The unexpired items of an owner after `after`, by category and then in the order they were added, at most
    /// `limit`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_items(
        &self,
        owner: &ItemOwner,
        category: Option<&Category>,
        after: Option<&ItemKey>,
        limit: i64,
    ) -> Result<Vec<PromptItem>, StorageError> {
        let now = self.clock.now();
        let mut connection = self.reader().await?;
        let filter = ItemFilter {
            category,
            ..ItemFilter::default()
        };
        live_items(&mut connection, owner, filter, after, now, limit).await
    }

    /// An unexpired item; `None` if there is none.
    ///
    /// # Errors
    /// Database errors.
    pub async fn item(&self, owner: &ItemOwner, id: &ItemId) -> Result<Option<PromptItem>, StorageError> {
        let now = self.clock.now();
        let filter = ItemFilter {
            id: Some(id),
            ..ItemFilter::default()
        };
        let found = live_items(&mut self.reader().await?, owner, filter, None, now, 1).await?;
        Ok(found.into_iter().next())
    }

    /// The unexpired items for a memory's prompts, without metadata: those of the vault before its own, by category and
    /// then in the order they were added.
    ///
    /// # Errors
    /// Database errors.
    pub async fn prompt_items(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Vec<PromptItem>, StorageError> {
        let items = sqlx::query_as!(
            PromptItem,
            r#"SELECT item_id, NULLIF(memory_id, '') AS "memory: MemoryId", category, content,
                      '{}'::jsonb AS "metadata!: FromJson<Map<String, Value>>", expires_at, created_at, created_by
               FROM prompt_items
               WHERE vault_id = $1 AND memory_id IN ('', $2) AND (expires_at IS NULL OR expires_at > $3)
               ORDER BY memory_id COLLATE "C", category, created_at, item_id"#,
            vault.as_str(),
            memory.as_str(),
            self.clock.now(),
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(items)
    }
}

/// The unexpired items of an owner, on a connection, which may be in a transaction.
pub(super) async fn live_items(
    connection: &mut Connection,
    owner: &ItemOwner,
    filter: ItemFilter<'_>,
    after: Option<&ItemKey>,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<PromptItem>, StorageError> {
    let items = sqlx::query_as!(
        PromptItem,
        r#"SELECT item_id, NULLIF(memory_id, '') AS "memory: MemoryId", category, content,
                  metadata AS "metadata: FromJson<Map<String, Value>>", expires_at, created_at, created_by
           FROM prompt_items
           WHERE vault_id = $1 AND memory_id = $2
             AND (expires_at IS NULL OR expires_at > $3)
             AND ($4::text IS NULL OR category = $4) AND ($9::text IS NULL OR item_id = $9)
             AND (category, created_at, item_id)
                 > (COALESCE($5, ''), COALESCE($6::timestamptz, '-infinity'), COALESCE($7, ''))
           ORDER BY category, created_at, item_id
           LIMIT $8"#,
        owner.vault.as_str(),
        owner.memory_id(),
        now,
        filter.category.map(Category::as_str),
        after.map(|key| key.category.as_str()),
        after.map(|key| key.created_at),
        after.map(|key| key.item_id.as_str()),
        limit,
        filter.id.map(ItemId::as_str),
    )
    .fetch_all(connection)
    .await?;
    Ok(items)
}
