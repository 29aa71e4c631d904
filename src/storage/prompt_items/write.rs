//! Adds, replaces and removes items, and deletes expired ones. Each change is one transaction that locks the owner.

use super::{ItemFilter, ItemOwner, live_items};
use crate::domain::ids::{ActorId, Category, ItemId, MemoryId};
use crate::domain::prompt::{NewItem, PromptItem, check_total};
use crate::storage::database::connection::{Connection, execute_rows};
use crate::storage::database::transaction::lock_name;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::write::lock_memory;
use crate::storage::{Class, FailingVaults, Storage, StorageError, WriteError, events};
use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{Postgres, QueryBuilder};
use std::collections::BTreeSet;
use std::slice::from_ref;

/// A row takes 9 of the 65,535 parameters that a statement may have.
const ITEMS_PER_STATEMENT: usize = 5_000;

/// The result of replacing a category.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// The category's items.
    pub items: Vec<PromptItem>,
    /// Whether they equal the previous ones, so that nothing was written.
    pub unchanged: bool,
}

impl Storage {
    /// Adds an item at the end of its category.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn add_item(
        &self,
        owner: &ItemOwner,
        category: &Category,
        item: NewItem,
        actor: &ActorId,
        under: Option<&Answering<'_, PromptItem>>,
    ) -> Result<PromptItem, WriteError> {
        self.transaction("db.prompt_items.add", |mut transaction| {
            let item = item.clone();
            async move {
                let now = self.lock_owner(&mut transaction, owner).await?;
                let item = self.stored(owner, category, item, actor, now);
                let more = from_ref(&item);
                self.hold(&mut transaction, owner, more).await?;
                insert(&mut transaction, owner, more).await?;
                keep_one(&mut transaction, under, owner.memory.as_ref(), &item).await?;
                self.changed(&mut transaction, owner, Some(category), Some(actor))
                    .await?;
                Ok::<_, WriteError>((transaction, item))
            }
        })
        .await
    }

    /// Replaces the items of a category, unless they are equal already.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn replace_items(
        &self,
        owner: &ItemOwner,
        category: &Category,
        items: Vec<NewItem>,
        actor: &ActorId,
        under: Option<&Answering<'_, Replaced>>,
    ) -> Result<Replaced, WriteError> {
        let items = &items;
        self.transaction("db.prompt_items.replace", |mut transaction| async move {
            let now = self.lock_owner(&mut transaction, owner).await?;
            let filter = ItemFilter {
                category: Some(category),
                ..ItemFilter::default()
            };
            let present = live_items(&mut transaction, owner, filter, None, now, i64::MAX).await?;
            let same =
                items.len() == present.len() && items.iter().zip(&present).all(|(new, old)| new.is(old));
            if same {
                let replaced = Replaced {
                    items: present,
                    unchanged: true,
                };
                return Ok((transaction.rollback().await?, replaced));
            }
            delete(&mut transaction, owner, filter, now).await?;
            let stored = |item: &NewItem| self.stored(owner, category, item.clone(), actor, now);
            let stored: Vec<PromptItem> = items.iter().map(stored).collect();
            self.hold(&mut transaction, owner, &stored).await?;
            insert(&mut transaction, owner, &stored).await?;
            let replaced = Replaced {
                items: stored,
                unchanged: false,
            };
            keep_one(&mut transaction, under, owner.memory.as_ref(), &replaced).await?;
            self.changed(&mut transaction, owner, Some(category), Some(actor))
                .await?;
            Ok::<_, WriteError>((transaction, replaced))
        })
        .await
    }

    /// Removes items and returns the number of unexpired ones.
    ///
    /// # Errors
    /// Database errors.
    pub async fn remove_items(&self, owner: &ItemOwner, filter: ItemFilter<'_>) -> Result<u64, StorageError> {
        self.transaction("db.prompt_items.remove", |mut transaction| async move {
            lock(&mut transaction, owner).await?;
            let removed = delete(&mut transaction, owner, filter, self.clock.now()).await?;
            self.changed(&mut transaction, owner, removed.first(), None)
                .await?;
            Ok::<_, StorageError>((transaction, removed.len() as u64))
        })
        .await
    }

    /// Ends a change of a locked owner's items: deletes a memory that has nothing any more, and appends the event of the changed
    /// category. The vault's own items have none, since they belong to no single memory.
    async fn changed(
        &self,
        connection: &mut Connection,
        owner: &ItemOwner,
        category: Option<&Category>,
        actor: Option<&ActorId>,
    ) -> Result<(), StorageError> {
        delete_empty(connection, owner).await?;
        let (Some(memory), Some(category)) = (&owner.memory, category) else {
            return Ok(());
        };
        let event = self.items_event(memory, category.as_str(), actor);
        events::append(connection, &owner.vault, &[event]).await
    }

    /// The event of changed items of a memory.
    pub(in crate::storage) fn items_event(
        &self,
        memory: &MemoryId,
        category: &str,
        actor: Option<&ActorId>,
    ) -> NewEvent {
        NewEvent {
            actor: actor.cloned(),
            details: Some(json!({ "category": category })),
            ..self.event(memory, EventKind::Items)
        }
    }

    /// Locks an owner, makes a memory that does not exist, and returns the time of the change: now, but never before an earlier
    /// item, so that items stay in the order they were added. A memory without a document changes with its items.
    async fn lock_owner(
        &self,
        connection: &mut Connection,
        owner: &ItemOwner,
    ) -> Result<DateTime<Utc>, StorageError> {
        let now = self.clock.now();
        match &owner.memory {
            None => lock(connection, owner).await?,
            Some(memory) => {
                sqlx::query!(
                    "INSERT INTO memories (vault_id, memory_id, head_version, created_at, changed_at)
                     VALUES ($1, $2, 0, $3, $3)
                     ON CONFLICT (vault_id, memory_id) DO UPDATE
                     SET changed_at = CASE WHEN memories.head_version = 0
                                           THEN GREATEST(memories.changed_at, excluded.changed_at)
                                           ELSE memories.changed_at
                                      END",
                    owner.vault.as_str(),
                    memory.as_str(),
                    now,
                )
                .execute(&mut *connection)
                .await?;
            }
        }
        let newest = sqlx::query_scalar!(
            "SELECT max(created_at) FROM prompt_items WHERE vault_id = $1 AND memory_id = $2",
            owner.vault.as_str(),
            owner.memory_id(),
        )
        .fetch_one(connection)
        .await?;
        Ok(newest.map_or(now, |newest| now.max(newest)))
    }

    fn stored(
        &self,
        owner: &ItemOwner,
        category: &Category,
        item: NewItem,
        actor: &ActorId,
        now: DateTime<Utc>,
    ) -> PromptItem {
        let expires_at = item.expiry();
        PromptItem {
            item_id: self.clock.new_id().into(),
            memory: owner.memory.clone(),
            category: category.clone(),
            content: item.content,
            metadata: item.metadata,
            expires_at,
            created_at: now,
            created_by: actor.clone(),
        }
    }

    /// Checks the limits of a locked owner that gets more items, before they are written: a request may hold thousands.
    async fn hold(
        &self,
        connection: &mut Connection,
        owner: &ItemOwner,
        more: &[PromptItem],
    ) -> Result<(), WriteError> {
        let present = sqlx::query!(
            r#"SELECT count(*) AS "items!", COALESCE(sum(octet_length(content)), 0) AS "bytes!" FROM prompt_items
               WHERE vault_id = $1 AND memory_id = $2 AND (expires_at IS NULL OR expires_at > $3)"#,
            owner.vault.as_str(),
            owner.memory_id(),
            self.clock.now(),
        )
        .fetch_one(connection)
        .await?;
        let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let bytes: usize = more.iter().map(|item| item.content.len()).sum();
        let items = size(present.items).saturating_add(more.len());
        Ok(check_total(items, size(present.bytes).saturating_add(bytes))?)
    }
}

/// Deletes items of a locked owner, expired ones too. Returns the category of each that had not expired.
pub(in crate::storage) async fn delete(
    connection: &mut Connection,
    owner: &ItemOwner,
    filter: ItemFilter<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<Category>, StorageError> {
    let deleted = sqlx::query!(
        r#"DELETE FROM prompt_items
           WHERE vault_id = $1 AND memory_id = $2 AND ($3::text IS NULL OR item_id = $3)
             AND ($4::text IS NULL OR category = $4)
           RETURNING category, (expires_at IS NULL OR expires_at > $5) AS "live!""#,
        owner.vault.as_str(),
        owner.memory_id(),
        filter.id.map(ItemId::as_str),
        filter.category.map(Category::as_str),
        now,
    )
    .fetch_all(connection)
    .await?;
    let live = deleted.into_iter().filter(|item| item.live);
    Ok(live.map(|item| item.category).collect())
}

/// Adds items; those whose ids exist stay as they are. Built at run time because the number of rows varies; the text is constant
/// except for the placeholders.
pub(in crate::storage) async fn insert(
    connection: &mut Connection,
    owner: &ItemOwner,
    items: &[PromptItem],
) -> Result<(), StorageError> {
    for items in items.chunks(ITEMS_PER_STATEMENT) {
        let mut statement = QueryBuilder::<Postgres>::new(
            "INSERT INTO prompt_items (vault_id, memory_id, item_id, category, content, metadata, expires_at,
                                       created_at, created_by) ",
        );
        statement.push_values(items, |mut row, item| {
            row.push_bind(owner.vault.as_str())
                .push_bind(owner.memory_id())
                .push_bind(item.item_id.as_str())
                .push_bind(item.category.as_str())
                .push_bind(item.content.as_str())
                .push_bind(Json(&item.metadata))
                .push_bind(item.expires_at)
                .push_bind(item.created_at)
                .push_bind(item.created_by.as_str());
        });
        statement.push(" ON CONFLICT (vault_id, memory_id, item_id) DO NOTHING");
        execute_rows(connection, statement, items.len()).await?;
    }
    Ok(())
}

/// Locks an owner, if it exists, so that the next statements see its current items.
async fn lock(connection: &mut Connection, owner: &ItemOwner) -> Result<(), StorageError> {
    match &owner.memory {
        None => lock_name(connection, &format!("prompt items of {}", owner.vault)).await,
        Some(memory) => lock_memory(connection, &owner.vault, memory).await.map(|_| ()),
    }
}

/// Deletes the row of a locked memory that has neither a document nor items.
async fn delete_empty(connection: &mut Connection, owner: &ItemOwner) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM memories
         WHERE vault_id = $1 AND memory_id = $2 AND head_version = 0
           AND NOT EXISTS (SELECT 1 FROM prompt_items WHERE vault_id = $1 AND memory_id = $2)",
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

impl Storage {
    /// Deletes the expired items, those of the owners of `batch` items at once, and returns their number. May run on any number
    /// of instances at the same time. Vaults for which it fails are skipped.
    ///
    /// # Errors
    /// Database errors.
    pub async fn purge_items(&self, batch: i64) -> Result<u64, StorageError> {
        let (mut failing, mut deleted) = (FailingVaults::new("items"), 0);
        while failing.goes_on(deleted) {
            let now = self.clock.now();
            // Rare read over all vaults; the deletion then goes owner by owner.
            let expired = sqlx::query!(
                r#"SELECT vault_id, NULLIF(memory_id, '') AS "memory: MemoryId" FROM prompt_items
                   WHERE expires_at <= $1 AND vault_id <> ALL ($3)
                   ORDER BY expires_at
                   LIMIT $2"#,
                now,
                batch,
                &failing.waiting(),
            )
            .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            let owners = expired.into_iter().map(|row| ItemOwner {
                vault: row.vault_id,
                memory: row.memory,
            });
            for owner in &owners.collect::<BTreeSet<_>>() {
                if failing.waits(owner.vault.as_str()) {
                    continue;
                }
                let purge = self.transaction_for(
                    Class::Sweep,
                    "db.prompt_items.purge",
                    |mut transaction| async move {
                        lock(&mut transaction, owner).await?;
                        let purged = sqlx::query!(
                            "DELETE FROM prompt_items WHERE vault_id = $1 AND memory_id = $2 AND expires_at <= $3",
                            owner.vault.as_str(),
                            owner.memory_id(),
                            self.clock.now(),
                        )
                        .execute(&mut transaction)
                        .await?;
                        delete_empty(&mut transaction, owner).await?;
                        Ok::<_, StorageError>((transaction, purged.rows_affected()))
                    },
                );
                let purged = failing.pass_over(owner.vault.as_str(), purge.await)?;
                deleted += purged.unwrap_or_default();
            }
        }
        Ok(deleted)
    }
}
