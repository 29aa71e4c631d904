//! Prompt items: `prompt_items`, and `prompt_item_owners`, the rows that their writers lock.

use super::{Storage, StorageError};
use crate::domain::ids::{ActorId, Category, ItemId, MemoryId, VaultId};
use crate::domain::prompt::{ItemLimits, NewItem, PromptItem, TooManyItems};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Whose items: a memory's, or the vault's own, which belong to all of its memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemOwner {
    /// The vault.
    pub vault: VaultId,
    /// The memory; `None` for the vault itself.
    pub memory: Option<MemoryId>,
}

impl ItemOwner {
    /// What stands for it in `memory_id`: no memory has an empty id.
    fn memory_id(&self) -> &str {
        self.memory.as_ref().map_or("", MemoryId::as_str)
    }
}

/// The place of an item in the order of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemKey {
    category: Category,
    created_at: DateTime<Utc>,
    item_id: ItemId,
}

impl ItemKey {
    /// The place of an item.
    #[must_use]
    pub fn of(item: &PromptItem) -> Self {
        Self {
            category: item.category.clone(),
            created_at: item.created_at,
            item_id: item.item_id.clone(),
        }
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.created_at.timestamp_micros();
        write!(f, "{}/{micros}/{}", self.category, self.item_id)
    }
}

impl FromStr for ItemKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().ok_or(());
        let category = next()?.parse().map_err(|_| ())?;
        let micros = next()?.parse().map_err(|_| ())?;
        Ok(Self {
            category,
            created_at: DateTime::from_timestamp_micros(micros).ok_or(())?,
            item_id: next()?.parse().map_err(|_| ())?,
        })
    }
}

/// What replacing a category came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// The category's items.
    pub items: Vec<PromptItem>,
    /// Whether they were those before, so that nothing was written.
    pub unchanged: bool,
}

/// Why items were not added.
#[derive(Debug, thiserror::Error)]
pub enum AddItemsError {
    /// There would be too many; nothing was added.
    #[error(transparent)]
    TooMany(#[from] TooManyItems),
    /// The database failed; nothing was added.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<sqlx::Error> for AddItemsError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

struct Row {
    memory_id: String,
    item_id: String,
    category: String,
    content: String,
    metadata: Value,
    expires_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    created_by: String,
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
            item_id: self.item_id.parse().map_err(|_| corrupt("item_id"))?,
            memory: memory
                .map(str::parse)
                .transpose()
                .map_err(|_| corrupt("memory_id"))?,
            category: self.category.parse().map_err(|_| corrupt("category"))?,
            content: self.content,
            metadata,
            expires_at: self.expires_at,
            created_at: self.created_at,
            created_by: self.created_by.parse().map_err(|_| corrupt("created_by"))?,
        })
    }
}

impl Storage {
    /// Items of an owner that have not expired, by category and then as they were added, those behind `after`, at
    /// most `limit`.
    ///
    /// # Errors
    /// The database's.
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

    /// One item that has not expired; `None` if there is none.
    ///
    /// # Errors
    /// The database's.
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
        .fetch_optional(&mut *self.reader().await?)
        .await?;
        row.map(Row::into_item).transpose()
    }

    /// The items of which a memory's prompts are made, without their metadata: those of the vault before its own, by
    /// category and then as they were added. What has expired is not among them.
    ///
    /// # Errors
    /// The database's.
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
        .fetch_all(&mut *self.reader().await?)
        .await?;
        rows.into_iter().map(Row::into_item).collect()
    }

    /// Whether a memory has items of its own that have not expired.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.prompt_items.exist", skip_all)]
    pub async fn has_items(&self, vault: &VaultId, memory: &MemoryId) -> Result<bool, StorageError> {
        let found = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                   SELECT 1 FROM prompt_items
                   WHERE vault_id = $1 AND memory_id = $2 AND (expires_at IS NULL OR expires_at > $3)
               ) AS "found!""#,
            vault.as_str(),
            memory.as_str(),
            self.clock.now(),
        )
        .fetch_one(&mut *self.reader().await?)
        .await?;
        Ok(found)
    }

    /// Adds one item behind those of its category.
    ///
    /// # Errors
    /// As [`AddItemsError`] says.
    #[tracing::instrument(name = "db.prompt_items.add", skip_all)]
    pub async fn add_item(
        &self,
        owner: &ItemOwner,
        category: &Category,
        item: NewItem,
        actor: &ActorId,
        limits: &ItemLimits,
    ) -> Result<PromptItem, AddItemsError> {
        let mut transaction = self.begin().await?;
        let now = self.lock_owner(&mut transaction, owner).await?;
        self.forget_expired(&mut transaction, owner).await?;
        let item = self.stored(owner, category, item, actor, now)?;
        insert(&mut transaction, owner, std::slice::from_ref(&item)).await?;
        hold(&mut transaction, owner, limits).await?;
        transaction.commit().await?;
        Ok(item)
    }

    /// Makes these the items of a category, in their order, unless they are it already.
    ///
    /// # Errors
    /// As [`AddItemsError`] says.
    #[tracing::instrument(name = "db.prompt_items.replace", skip_all)]
    pub async fn replace_items(
        &self,
        owner: &ItemOwner,
        category: &Category,
        items: Vec<NewItem>,
        actor: &ActorId,
        limits: &ItemLimits,
    ) -> Result<Replaced, AddItemsError> {
        let mut transaction = self.begin().await?;
        let now = self.lock_owner(&mut transaction, owner).await?;
        let all = i64::MAX;
        let present = live_items(
            &mut transaction,
            owner,
            Some(category),
            None,
            self.clock.now(),
            all,
        )
        .await?;
        let same = items.len() == present.len() && items.iter().zip(&present).all(|(new, old)| new.is(old));
        if same {
            transaction.rollback().await?;
            return Ok(Replaced {
                items: present,
                unchanged: true,
            });
        }
        self.forget_expired(&mut transaction, owner).await?;
        delete(&mut transaction, owner, category).await?;
        let stored: Vec<PromptItem> = items
            .into_iter()
            .map(|item| self.stored(owner, category, item, actor, now))
            .collect::<Result<_, _>>()?;
        insert(&mut transaction, owner, &stored).await?;
        hold(&mut transaction, owner, limits).await?;
        forget_owner_without_items(&mut transaction, owner).await?;
        transaction.commit().await?;
        Ok(Replaced {
            items: stored,
            unchanged: false,
        })
    }

    /// Removes one item; `false` if there is none that is shown.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.prompt_items.remove", skip_all)]
    pub async fn remove_item(&self, owner: &ItemOwner, id: &ItemId) -> Result<bool, StorageError> {
        let mut transaction = self.begin().await?;
        lock_present_owner(&mut transaction, owner).await?;
        let done = sqlx::query!(
            "DELETE FROM prompt_items
             WHERE vault_id = $1 AND memory_id = $2 AND item_id = $3 AND (expires_at IS NULL OR expires_at > $4)",
            owner.vault.as_str(),
            owner.memory_id(),
            id.as_str(),
            self.clock.now(),
        )
        .execute(&mut *transaction)
        .await?;
        forget_owner_without_items(&mut transaction, owner).await?;
        transaction.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes all items of a category and returns how many of them were shown.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.prompt_items.remove_category", skip_all)]
    pub async fn remove_items(&self, owner: &ItemOwner, category: &Category) -> Result<u64, StorageError> {
        let mut transaction = self.begin().await?;
        lock_present_owner(&mut transaction, owner).await?;
        self.forget_expired(&mut transaction, owner).await?;
        let removed = delete(&mut transaction, owner, category).await?;
        forget_owner_without_items(&mut transaction, owner).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    /// Deletes at most `limit` items that have expired and returns how many it deleted. Any number of instances may
    /// do so at once.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.prompt_items.purge", skip_all)]
    pub async fn purge_items(&self, limit: i64) -> Result<u64, StorageError> {
        let now = self.clock.now();
        // A rare read over all vaults; what it finds is deleted owner by owner.
        let expired = sqlx::query!(
            "SELECT vault_id, memory_id, item_id FROM prompt_items
             WHERE expires_at <= $1
             ORDER BY expires_at
             LIMIT $2",
            now,
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let mut owners: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for row in expired {
            owners
                .entry((row.vault_id, row.memory_id))
                .or_default()
                .push(row.item_id);
        }
        let mut deleted = 0;
        for ((vault, memory), items) in owners {
            let corrupt = |column| StorageError::Corrupt {
                table: "prompt_items",
                column,
                row: format!("({vault}, {memory})"),
                problem: "not an id".to_owned(),
            };
            let owner = ItemOwner {
                vault: vault.parse().map_err(|_| corrupt("vault_id"))?,
                memory: match memory.as_str() {
                    "" => None,
                    id => Some(id.parse().map_err(|_| corrupt("memory_id"))?),
                },
            };
            let mut transaction = self.begin().await?;
            lock_present_owner(&mut transaction, &owner).await?;
            let done = sqlx::query!(
                "DELETE FROM prompt_items
                 WHERE vault_id = $1 AND memory_id = $2 AND expires_at <= $3 AND item_id = ANY($4)",
                vault,
                memory,
                now,
                &items,
            )
            .execute(&mut *transaction)
            .await?;
            forget_owner_without_items(&mut transaction, &owner).await?;
            transaction.commit().await?;
            deleted += done.rows_affected();
        }
        Ok(deleted)
    }

    /// Locks the row of an owner, which is made where there is none. The time is that of the change: now, but never
    /// before an earlier one's, so that items stand in the order they were added.
    async fn lock_owner(
        &self,
        connection: &mut PgConnection,
        owner: &ItemOwner,
    ) -> Result<DateTime<Utc>, StorageError> {
        let time = sqlx::query_scalar!(
            "INSERT INTO prompt_item_owners (vault_id, memory_id, changed_at) VALUES ($1, $2, $3)
             ON CONFLICT (vault_id, memory_id)
             DO UPDATE SET changed_at = GREATEST(prompt_item_owners.changed_at, excluded.changed_at)
             RETURNING changed_at",
            owner.vault.as_str(),
            owner.memory_id(),
            self.clock.now(),
        )
        .fetch_one(connection)
        .await?;
        Ok(time)
    }

    fn stored(
        &self,
        owner: &ItemOwner,
        category: &Category,
        item: NewItem,
        actor: &ActorId,
        now: DateTime<Utc>,
    ) -> Result<PromptItem, StorageError> {
        let item_id = self.clock.new_id().to_string();
        Ok(PromptItem {
            item_id: item_id.parse().map_err(|_| StorageError::Corrupt {
                table: "prompt_items",
                column: "item_id",
                row: "new".to_owned(),
                problem: "a UUID is always an id".to_owned(),
            })?,
            memory: owner.memory.clone(),
            category: category.clone(),
            content: item.content,
            metadata: item.metadata,
            expires_at: item.expires_at,
            created_at: now,
            created_by: actor.clone(),
        })
    }

    /// Deletes what no longer counts of an owner.
    async fn forget_expired(
        &self,
        connection: &mut PgConnection,
        owner: &ItemOwner,
    ) -> Result<(), StorageError> {
        sqlx::query!(
            "DELETE FROM prompt_items WHERE vault_id = $1 AND memory_id = $2 AND expires_at <= $3",
            owner.vault.as_str(),
            owner.memory_id(),
            self.clock.now(),
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

async fn live_items(
    connection: &mut PgConnection,
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
           AND ($5::text IS NULL OR (category, created_at, item_id) > ($5, $6::timestamptz, $7::text))
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

/// Locks the row of an owner that has one: what stands below is then what the next statements see.
async fn lock_present_owner(connection: &mut PgConnection, owner: &ItemOwner) -> Result<(), StorageError> {
    sqlx::query_scalar!(
        r#"SELECT 1 AS "one!" FROM prompt_item_owners WHERE vault_id = $1 AND memory_id = $2 FOR UPDATE"#,
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(())
}

/// Deletes the row of a locked owner that has no items left.
async fn forget_owner_without_items(
    connection: &mut PgConnection,
    owner: &ItemOwner,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM prompt_item_owners
         WHERE vault_id = $1 AND memory_id = $2
           AND NOT EXISTS (SELECT 1 FROM prompt_items WHERE vault_id = $1 AND memory_id = $2)",
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn delete(
    connection: &mut PgConnection,
    owner: &ItemOwner,
    category: &Category,
) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "DELETE FROM prompt_items WHERE vault_id = $1 AND memory_id = $2 AND category = $3",
        owner.vault.as_str(),
        owner.memory_id(),
        category.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

async fn insert(
    connection: &mut PgConnection,
    owner: &ItemOwner,
    items: &[PromptItem],
) -> Result<(), StorageError> {
    let ids: Vec<String> = items.iter().map(|item| item.item_id.to_string()).collect();
    let categories: Vec<String> = items.iter().map(|item| item.category.to_string()).collect();
    let contents: Vec<String> = items.iter().map(|item| item.content.clone()).collect();
    let metadata: Vec<Value> = items
        .iter()
        .map(|item| Value::Object(item.metadata.clone()))
        .collect();
    let expiries: Vec<_> = items.iter().map(|item| item.expires_at).collect();
    let times: Vec<_> = items.iter().map(|item| item.created_at).collect();
    let actors: Vec<String> = items.iter().map(|item| item.created_by.to_string()).collect();
    sqlx::query!(
        "INSERT INTO prompt_items (vault_id, memory_id, item_id, category, content, metadata, expires_at,
                                   created_at, created_by)
         SELECT $1, $2, item_id, category, content, metadata, expires_at, created_at, created_by
         FROM unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::timestamptz[], $8::timestamptz[],
                     $9::text[])
              AS added (item_id, category, content, metadata, expires_at, created_at, created_by)",
        owner.vault.as_str(),
        owner.memory_id(),
        &ids,
        &categories,
        &contents,
        &metadata,
        &expiries as &[Option<DateTime<Utc>>],
        &times,
        &actors,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Holds a locked owner to the bounds.
async fn hold(
    connection: &mut PgConnection,
    owner: &ItemOwner,
    limits: &ItemLimits,
) -> Result<(), AddItemsError> {
    let present = sqlx::query!(
        r#"SELECT count(*) AS "items!", COALESCE(sum(octet_length(content)), 0) AS "bytes!"
           FROM prompt_items WHERE vault_id = $1 AND memory_id = $2"#,
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .fetch_one(connection)
    .await?;
    let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(limits.hold(size(present.items), size(present.bytes))?)
}

/// Deletes the items of a memory with the memory, and says whether it had any.
#[tracing::instrument(name = "db.prompt_items.forget", skip_all)]
pub(super) async fn forget_items(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "DELETE FROM prompt_item_owners WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() > 0)
}
