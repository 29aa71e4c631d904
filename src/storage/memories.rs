//! Vaults and memories: `memories`, lists, the state of one memory, deletion.
//!
//! Only the list by id has an index. Other orders would make every write move its memory in an index; a page in these
//! orders reads the heads of all memories of its vault.
//!
//! A memory exists if it has a document or unexpired prompt items of its own. Its row may outlive the last of these until
//! they are purged. One without a document has the version 0.

pub mod paths;

use crate::domain::access::VaultScope;
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordKind, VaultId};
use crate::domain::listed;
use crate::domain::memory::Counters;
use crate::storage::contexts::Source;
use crate::storage::database::connect::SEE_ONE_MOMENT;
use crate::storage::events::{self, EventKind};
use crate::storage::idempotency::delete_answers;
use crate::storage::prompt_items::{self, ItemFilter, ItemOwner};
use crate::storage::records::RecordStatus;
use crate::storage::usage::stored::{self, Stored};
use crate::storage::{Class, Missing, Preconditions, Storage, StorageError, WriteError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use strum::{EnumString, IntoStaticStr, VariantNames};

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
    #[schema(value_type = Option<String>)]
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
    #[schema(value_type = Option<String>)]
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
        let is_deleted = self
            .transaction_for(
                Class::Maintenance,
                "db.memories.delete",
                |mut transaction| async move {
                    // Waits for concurrent writers of the memory, and makes later ones wait; also those that make it.
                    let row = self.lock_or_insert(&mut transaction, vault, memory).await?;
                    let head = Some(row).filter(|row| row.identity.is_some());
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
                        return Ok((transaction, false));
                    }
                    delete_answers(&mut transaction, vault, memory).await?;
                    let event = self.event(memory, EventKind::MemoryDeleted);
                    let change = (held, Stored::default());
                    stored::count(&mut transaction, vault, &event.event_id, change).await?;
                    events::append(&mut transaction, vault, &[event]).await?;
                    Ok::<_, WriteError>((transaction, true))
                },
            )
            .await?;
        match is_deleted {
            true => Ok(()),
            false => Err(WriteError::NotFound(Missing::Memory)),
        }
    }
}

/// The order of a list: by id, or by a number, the largest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum MemoryOrder {
    /// The bytes of the id.
    #[default]
    MemoryId,
    /// When the newest version was created.
    ChangedAt,
    /// The size of the newest version.
    Bytes,
}

listed! {
    /// What memories can be sorted by.
    MemoryOrder as "MemorySort";
}

/// The start of a page: after this memory. The number is its time in microseconds or its size.
pub type PageStart<'a> = Option<(i64, &'a MemoryId)>;

impl MemoryOrder {
    /// The number that a memory is sorted by; 0 where that is its id.
    #[must_use]
    pub fn number(self, memory: &MemorySummary) -> i64 {
        match self {
            Self::MemoryId => 0,
            Self::ChangedAt => memory.changed_at.timestamp_micros(),
            Self::Bytes => memory.bytes.into(),
        }
    }
}

/// A checked query for memories of a vault that have a document or unexpired items: which (a join, the conditions with the
/// length of the page) and in which order. `$1` is the vault, `$2` the time.
macro_rules! summaries {
    ($join:literal, $page:literal, $order:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            MemorySummary,
            r#"SELECT $1::text AS "vault_id!: VaultId", memory.memory_id AS "memory_id!: MemoryId",
                      memory.head_version AS "version!", head.context_id AS "context_id?: ContextId",
                      COALESCE(items.created_at, memory.created_at) AS "created_at!", memory.changed_at AS "changed_at!",
                      COALESCE(head.bytes, 0) AS "bytes!", COALESCE(head.actor_id, items.actor_id) AS "actor_id!: ActorId",
                      head.source AS "source?: Source"
               FROM (
                   SELECT * FROM memories "# + $join + r#"
                   WHERE vault_id = $1
                     AND (head_version > 0 OR EXISTS (
                              SELECT FROM prompt_items AS item
                              WHERE item.vault_id = $1 AND item.memory_id = memories.memory_id
                                AND (item.expires_at IS NULL OR item.expires_at > $2)))
                     AND "# + $page + r#"
               ) AS memory
               LEFT JOIN memory_contexts AS head
                 ON head.vault_id = $1 AND head.memory_id = memory.memory_id AND head.context_id = memory.head_context_id
               LEFT JOIN LATERAL (
                   SELECT min(item.created_at) AS created_at,
                          (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
                   FROM prompt_items AS item
                   WHERE memory.head_version = 0 AND item.vault_id = $1 AND item.memory_id = memory.memory_id
                     AND (item.expires_at IS NULL OR item.expires_at > $2)
               ) AS items ON true
               ORDER BY "# + $order,
            $($argument),+
        )
    };
}

impl Storage {
    /// The memories of a vault in byte order of their ids, those that begin with `prefix` and come after `after`, at
    /// most `limit`. Empty for a vault without memories.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_memories(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        after: Option<&MemoryId>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        let rows = summaries!(
            "",
            r#"memory_id COLLATE "C" >= $3 AND memory_id COLLATE "C" < $4 AND memory_id COLLATE "C" > $5
               ORDER BY memory_id COLLATE "C" LIMIT $6"#,
            r#"memory.memory_id COLLATE "C""#,
            vault.as_str(),
            self.clock.now(),
            from,
            end,
            after.map_or("", MemoryId::as_str),
            limit,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(rows)
    }

    /// The memories of a vault in the given order, those that begin with `prefix` and come after `after`, at most
    /// `limit`; ties by descending id.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_memories_sorted(
        &self,
        vault: &VaultId,
        prefix: Option<&MemoryId>,
        order: MemoryOrder,
        after: PageStart<'_>,
        limit: i64,
    ) -> Result<Vec<MemorySummary>, StorageError> {
        let (from, end) = range(prefix);
        // Without a start from the first memory on.
        let (number, id) = after.map_or((i64::MAX, "~"), |(number, id)| (number, id.as_str()));
        let rows = summaries!(
            "CROSS JOIN LATERAL (
                 SELECT CASE WHEN $8 THEN (extract(epoch FROM changed_at) * 1000000)::bigint
                             ELSE COALESCE((
                                 SELECT bytes FROM memory_contexts AS newest
                                 WHERE newest.vault_id = $1 AND newest.memory_id = memories.memory_id
                                   AND newest.context_id = memories.head_context_id
                             ), 0)
                        END AS number
                 LIMIT 1
             ) AS sorted",
            r#"memory_id COLLATE "C" >= $3 AND memory_id COLLATE "C" < $4
               AND (sorted.number, memory_id COLLATE "C") < ($5::bigint, $6::text)
               ORDER BY sorted.number DESC, memory_id COLLATE "C" DESC LIMIT $7"#,
            r#"memory.number DESC, memory.memory_id COLLATE "C" DESC"#,
            vault.as_str(),
            self.clock.now(),
            from,
            end,
            number,
            id,
            limit,
            order == MemoryOrder::ChangedAt,
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(rows)
    }
}

/// The range of ids with a prefix. Ids contain no tilde, which sorts after all their characters.
fn range(prefix: Option<&MemoryId>) -> (&str, String) {
    let end = prefix.map_or_else(|| "~".to_owned(), |prefix| format!("{prefix}~"));
    (prefix.map_or("", MemoryId::as_str), end)
}

impl Storage {
    /// A memory at one moment, with its counters and the numbers of its records; `None` if it has neither a document nor items.
    ///
    /// # Errors
    /// Database errors.
    pub async fn memory(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<MemoryState>, StorageError> {
        let mut reader = self.begin(Class::Read).await?;
        sqlx::raw_sql(SEE_ONE_MOMENT).execute(&mut reader).await?;
        let summary = summaries!(
            "",
            "memory_id = $3",
            "memory.memory_id",
            vault.as_str(),
            self.clock.now(),
            memory.as_str(),
        )
        .fetch_optional(&mut reader)
        .await?;
        let Some(summary) = summary else { return Ok(None) };
        let counters = sqlx::query_scalar!(
            "SELECT counters FROM memories WHERE vault_id = $1 AND memory_id = $2",
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut reader)
        .await?;
        let Some(counters) = counters else { return Ok(None) };
        let records = sqlx::query!(
            r#"SELECT kind, status AS "status: RecordStatus", count(*) AS "count!" FROM records
               WHERE vault_id = $1 AND memory_id = $2
               GROUP BY kind, status"#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_all(&mut reader)
        .await?;
        let records = records.into_iter().map(|of| ((of.kind, of.status), of.count));
        Ok(Some(MemoryState {
            summary,
            counters: Counters::of_numbers(&counters),
            records: records.collect(),
        }))
    }
}

impl Storage {
    /// Vaults by the bytes of their ids, those of `scope` after `after`, at most `limit`. Reads only the memories of the vaults on the
    /// page.
    ///
    /// # Errors
    /// Database errors.
    pub async fn list_vaults(
        &self,
        scope: &VaultScope,
        after: Option<&VaultId>,
        limit: i64,
    ) -> Result<Vec<VaultSummary>, StorageError> {
        let listed: Option<Vec<String>> = scope
            .vaults()
            .map(|vaults| vaults.iter().map(VaultId::to_string).collect());
        let vaults = sqlx::query_as!(
            VaultSummary,
            r#"SELECT vault_id, count(*) AS "memories!", max(changed_at) AS "changed_at!"
               FROM memories
               WHERE vault_id COLLATE "C" > COALESCE($1::text, '')
                 AND ($3::text[] IS NULL OR vault_id = ANY ($3))
                 AND ($4::text IS NULL OR starts_with(vault_id, $4))
                 AND (head_version > 0 OR EXISTS (
                          SELECT FROM prompt_items AS item
                          WHERE item.vault_id = memories.vault_id AND item.memory_id = memories.memory_id
                            AND (item.expires_at IS NULL OR item.expires_at > $5)))
               GROUP BY vault_id
               ORDER BY vault_id COLLATE "C"
               LIMIT $2"#,
            after.map(VaultId::as_str),
            limit,
            listed.as_deref(),
            scope.prefix().map(VaultId::as_str),
            self.clock.now(),
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        Ok(vaults)
    }
}
