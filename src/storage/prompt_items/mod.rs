//! Prompt items: `prompt_items`. Writers lock the memory's row, which exists as long as the memory has items; for items of
//! the vault itself, which has no row, an advisory lock.

mod purge;
mod write;

pub use write::{AddItemsError, Replaced};

pub(super) use write::delete_items_of_memory;

use crate::domain::ids::{ActorId, Category, ItemId, MemoryId, VaultId};
use crate::domain::prompt::PromptItem;
use crate::storage::database::connection::Connection;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The owner of items: a memory, or the vault, whose items apply to all its memories.
#[derive(Debug, Clone, PartialEq, Eq)]
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

struct Row {
    memory_id: String,
    item_id: ItemId,
    category: Category,
    content: String,
    metadata: Value,
    expires_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    created_by: ActorId,
}

impl Row {
    fn into_item(self) -> Result<PromptItem, StorageError> {
        let key = format!("({}, {})", self.memory_id, self.item_id);
        let corrupt = |column: &'static str| StorageError::Corrupt {
            table: "prompt_items",
            column,
            row: key.clone(),
            problem: "not what it must be".to_owned(),
        };
        let memory = Some(self.memory_id.as_str()).filter(|id| !id.is_empty());
        let metadata = match self.metadata {
            Value::Object(metadata) => metadata,
            _ => return Err(corrupt("metadata")),
        };
        Ok(PromptItem {
            item_id: self.item_id,
            memory: memory
                .map(str::parse)
                .transpose()
                .map_err(|_| corrupt("memory_id"))?,
            category: self.category,
            content: self.content,
            metadata,
            expires_at: self.expires_at,
            created_at: self.created_at,
            created_by: self.created_by,
        })
    }
}

impl Storage {
    /// The unexpired items of an owner after `after`, by category and then in the order they were added, at most
    /// `limit`.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.prompt_items.list", skip_all)]
    pub async fn list_items(
        &self,
        owner: &ItemOwner,
        category: Option<&Category>,
        after: Option<&ItemKey>,
        limit: i64,
    ) -> Result<Vec<PromptItem>, StorageError> {
        let now = self.clock.now();
        let mut connection = self.reader().await?;
        live_items(&mut connection, owner, category, after, now, limit).await
    }

    /// An unexpired item; `None` if there is none.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.prompt_items.get", skip_all)]
    pub async fn item(&self, owner: &ItemOwner, id: &ItemId) -> Result<Option<PromptItem>, StorageError> {
        let row = sqlx::query_as!(
            Row,
            "SELECT memory_id, item_id, category, content, metadata, expires_at, created_at, created_by
             FROM prompt_items
             WHERE vault_id = $1 AND memory_id = $2 AND item_id = $3 AND (expires_at IS NULL OR expires_at > $4)",
            owner.vault.as_str(),
            owner.memory_id(),
            id.as_str(),
            self.clock.now(),
        )
        .fetch_optional(&mut self.reader().await?)
        .await?;
        row.map(Row::into_item).transpose()
    }

    /// The unexpired items for a memory's prompts, without metadata: those of the vault before its own, by category and
    /// then in the order they were added.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.prompt_items.prompt", skip_all)]
    pub async fn prompt_items(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Vec<PromptItem>, StorageError> {
        let rows = sqlx::query_as!(
            Row,
            r#"SELECT memory_id, item_id, category, content, '{}'::jsonb AS "metadata!", expires_at, created_at,
                      created_by
               FROM prompt_items
               WHERE vault_id = $1 AND memory_id IN ('', $2) AND (expires_at IS NULL OR expires_at > $3)
               ORDER BY memory_id COLLATE "C", category, created_at, item_id"#,
            vault.as_str(),
            memory.as_str(),
            self.clock.now(),
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.into_iter().map(Row::into_item).collect()
    }
}

async fn live_items(
    connection: &mut Connection,
    owner: &ItemOwner,
    category: Option<&Category>,
    after: Option<&ItemKey>,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<PromptItem>, StorageError> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT memory_id, item_id, category, content, metadata, expires_at, created_at, created_by
         FROM prompt_items
         WHERE vault_id = $1 AND memory_id = $2
           AND (expires_at IS NULL OR expires_at > $3)
           AND ($4::text IS NULL OR category = $4)
           AND (category, created_at, item_id)
               > (COALESCE($5, ''), COALESCE($6::timestamptz, '-infinity'), COALESCE($7, ''))
         ORDER BY category, created_at, item_id
         LIMIT $8",
        owner.vault.as_str(),
        owner.memory_id(),
        now,
        category.map(Category::as_str),
        after.map(|key| key.category.as_str()),
        after.map(|key| key.created_at),
        after.map(|key| key.item_id.as_str()),
        limit,
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(Row::into_item).collect()
}
