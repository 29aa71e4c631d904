//! Vaults and memories: `memories`, lists, the state of one memory, deletion.
//!
//! A memory exists if it has a document or unexpired prompt items of its own. Its row may outlive the last of these until
//! they are purged. One without a document has the version 0.

pub mod list;
pub mod paths;

use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordKind, VaultId};
use crate::domain::memory::Counters;
use crate::storage::contexts::Source;
use crate::storage::events::{self, EventKind};
use crate::storage::idempotency::delete_answers;
use crate::storage::prompt_items::{self, ItemFilter, ItemOwner};
use crate::storage::records::RecordStatus;
use crate::storage::usage::stored::{self, Stored};
use crate::storage::write::lock_memory;
use crate::storage::{Class, Missing, Preconditions, Storage, StorageError, WriteError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A vault (tenant).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Vault)]
pub struct VaultSummary {
    /// Its id.
    #[schema(value_type = String)]
    pub vault_id: VaultId,
    /// How many memories it has, with those that have prompt items of their own and no document.
    #[schema(minimum = 1)]
    pub memories: i64,
    /// When one of them last got a new version, or prompt items where it has no document.
    pub changed_at: DateTime<Utc>,
}

/// A memory in a list. One that has prompt items and no document has the version 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MemoryEntry)]
pub struct MemorySummary {
    /// The vault.
    #[schema(value_type = String)]
    pub vault_id: VaultId,
    /// The memory.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// The newest version's number; 0 without a document.
    #[schema(minimum = 0)]
    pub version: i64,
    /// The newest version's id; null without a document.
    #[schema(required, value_type = Option<String>)]
    pub context_id: Option<ContextId>,
    /// When the first version was made; without a document, when the oldest of its items was added.
    pub created_at: DateTime<Utc>,
    /// When the newest version was made; without a document, when items were last added or replaced.
    pub changed_at: DateTime<Utc>,
    /// The size of the newest version's text in bytes; 0 without a document.
    #[schema(minimum = 0)]
    pub bytes: i32,
    /// Who made the newest version; without a document, who added the newest of its items.
    #[serde(rename = "last_actor_id")]
    #[schema(value_type = String)]
    pub actor_id: ActorId,
    /// What made the newest version: `put`, `update`, `operations`, `task`, `decision`, `status`, `restore`, `import` or
    /// `tool`; null without a document.
    #[serde(rename = "last_source")]
    #[schema(required, value_type = Option<String>)]
    pub source: Option<Source>,
}

/// The state of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryState {
    /// The summary, as in lists.
    pub summary: MemorySummary,
    /// The highest numbers ever assigned, by kind.
    pub counters: Counters,
    /// Numbers of records that are not 0.
    pub records: HashMap<(RecordKind, RecordStatus), i64>,
}

impl Storage {
    /// Whether a memory has a document.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.exists", skip_all)]
    pub async fn memory_exists(&self, vault: &VaultId, memory: &MemoryId) -> Result<bool, StorageError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT EXISTS (
                   SELECT FROM memories WHERE vault_id = $1 AND memory_id = $2 AND head_version > 0
               ) AS "exists!""#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_one(&mut self.reader().await?)
        .await?)
    }

    /// Deletes a memory with its versions, records, runs, prompt items and stored answers, in one transaction. Later
    /// writes to the same id create a new memory, which begins at version 1 with new ids. Failed runs of a memory that
    /// was never created are deleted too, although a memory with nothing else does not appear anywhere.
    ///
    /// Queued updates are deleted; a running one finds its row missing and saves nothing.
    ///
    /// Tables with rows of memories either reference `memories` with `ON DELETE CASCADE` or are deleted from here.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memories.delete", skip_all)]
    pub async fn delete_memory(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        preconditions: &Preconditions,
    ) -> Result<(), WriteError> {
        let owner = &ItemOwner {
            vault: vault.clone(),
            memory: Some(memory.clone()),
        };
        let event = self
            .transaction_for(
                Class::Maintenance,
                "db.memories.delete",
                |mut transaction| async move {
                    // Waits for concurrent writers of the memory, and makes later ones wait.
                    let head = lock_memory(&mut transaction, vault, memory).await?;
                    let has_document = head.as_ref().is_some_and(|head| head.version > 0);
                    let newest = head.as_ref().map(|head| head.version);
                    preconditions.check(head.as_ref().and_then(|head| head.context_id.as_ref()), newest)?;
                    let runs = sqlx::query!(
                        "DELETE FROM updates WHERE vault_id = $1 AND memory_id = $2",
                        vault.as_str(),
                        memory.as_str(),
                    )
                    .execute(&mut transaction)
                    .await?;
                    let items = ItemFilter::default();
                    let items =
                        prompt_items::delete(&mut transaction, owner, items, self.clock.now()).await?;
                    let held = stored::of_memory(&mut transaction, vault, memory).await?;
                    sqlx::query!(
                        "DELETE FROM memories WHERE vault_id = $1 AND memory_id = $2",
                        vault.as_str(),
                        memory.as_str(),
                    )
                    .execute(&mut transaction)
                    .await?;
                    if !has_document && items.is_empty() && runs.rows_affected() == 0 {
                        // At most expired items were there, which nobody saw any more.
                        return Ok(transaction.commit_with(None));
                    }
                    delete_answers(&mut transaction, vault, memory).await?;
                    let event = self.event(memory, EventKind::MemoryDeleted);
                    let change = (held, Stored::default());
                    stored::count(&mut transaction, vault, &event.event_id, change).await?;
                    events::append(&mut transaction, vault, std::slice::from_ref(&event)).await?;
                    Ok::<_, WriteError>(transaction.commit_with(Some(event)))
                },
            )
            .await?
            .ok_or(WriteError::NotFound(Missing::Memory))?;
        self.replica_must_catch_up();
        self.appended(vault, &[event]);
        Ok(())
    }
}
