//! Full-text search: `search_entries`, written by the indexer after the writers, and read by searches.
//!
//! `memories.search_pending` tells which memories must still be indexed. Any number of indexers may run at the same
//! time: an entry is only replaced by that of a newer version, so doing the same work twice is merely wasteful.
//!
//! Indexing a memory after each of its writes would add as much to the write-ahead log as the version itself. So after
//! a version was indexed, its memory is not indexed again for `REST`, unless its vault is being searched through this
//! process. The first search of a vault indexes the postponed memories, a few batches at most. From then on nothing is
//! postponed until the vault has not been searched for `SEARCHED_FOR`.

mod find;
pub mod vectors;

use vectors::RecordOrigin;

use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::search::vector;
use crate::fair;
use crate::storage::database::connection::Connection;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Memories that are indexed together: all their texts are in memory at the same time.
const BATCH: i64 = 32;

/// A memory whose newest version is not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its vault.
    pub vault: VaultId,
    /// Its id.
    pub memory: MemoryId,
    /// When its newest version was created.
    pub changed_at: DateTime<Utc>,
}

/// The sort key of a search result: by rank, best first, then by memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPlace {
    /// The relevance; larger is better.
    pub rank: f32,
    /// The memory.
    pub memory: MemoryId,
}

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its memory.
    pub memory: MemoryId,
    /// That memory's newest version.
    pub version: i64,
    /// The id of that version.
    pub context_id: ContextId,
    /// When that version was created.
    pub creation_time: DateTime<Utc>,
    /// The rank; higher is better.
    pub rank: f32,
    /// An extract of the text as HTML in which the matching words are marked.
    pub extract: String,
    /// Whether the text matched.
    pub by_text: bool,
    /// The similarity to the query, if it matched by meaning.
    pub score: Option<f32>,
    /// The record that contains the extract.
    pub record: Option<RecordId>,
    /// The section that contains the extract, if known.
    pub section: Option<String>,
    /// The origin of the record, if it was looked for.
    pub origin: Option<RecordOrigin>,
}

/// A matching document, before its text is read.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchMatch {
    /// Its memory.
    pub memory: MemoryId,
    /// The memory's newest version.
    pub version: i64,
    /// The relevance; larger is better.
    pub rank: f32,
}

/// How long indexing of a memory is postponed.
const REST: Duration = Duration::from_secs(30);

/// How long after a search a vault counts as being searched. A later search first indexes what was postponed.
const SEARCHED_FOR: Duration = Duration::from_secs(5);

/// Vaults that were searched through this process, with the time of the last search.
#[derive(Debug, Default)]
pub(in crate::storage) struct Searched(Mutex<HashMap<VaultId, Instant>>);

impl Searched {
    /// Records a search of a vault; returns whether the vault already counted as being searched.
    fn note(&self, vault: &VaultId) -> bool {
        let mut searched = self.0.lock();
        let before = searched.insert(vault.clone(), Instant::now());
        before.is_some_and(|at| at.elapsed() < SEARCHED_FOR)
    }

    /// The vaults that are being searched; removes the others.
    fn vaults(&self) -> Vec<String> {
        let mut searched = self.0.lock();
        searched.retain(|_, at| at.elapsed() < SEARCHED_FOR);
        searched.keys().map(|vault| vault.as_str().to_owned()).collect()
    }

    fn forget(&self, vault: &VaultId) {
        self.0.lock().remove(vault);
    }
}

/// Maximum batches that the first search of a vault indexes; the rest, as after an import, is indexed in the
/// background.
const BATCHES: usize = 4;

impl Storage {
    /// Called before a vault is searched: indexes the memories whose indexing was postponed.
    ///
    /// # Errors
    /// Database errors.
    pub async fn note_search(&self, vault: &VaultId) -> Result<(), StorageError> {
        if self.searched.note(vault) {
            return Ok(());
        }
        let indexed = self.index_batches(vault, BATCHES).await;
        let is_complete = indexed.inspect_err(|_| self.searched.forget(vault))?;
        if !is_complete {
            self.written.notify_one();
        }
        Ok(())
    }

    /// A batch of memories that must still be indexed, by vault and memory, those after `after`; of all vaults, without
    /// postponed memories, or of one.
    ///
    /// # Errors
    /// Database errors.
    pub async fn pending_for_search(
        &self,
        vault: Option<&VaultId>,
        after: Option<&Pending>,
    ) -> Result<Vec<Pending>, StorageError> {
        let now = self.clock.now();
        let after_vault = after.map_or("", |after| after.vault.as_str());
        let after_memory = after.map_or("", |after| after.memory.as_str());
        let mut reader = self.reader_for(Class::Maintenance).await?;
        let rows = match vault {
            Some(vault) => {
                sqlx::query_as!(
                    Pending,
                    "SELECT vault_id AS vault, memory_id AS memory, changed_at FROM memories
                     WHERE vault_id = $1 AND search_pending AND memory_id > $2
                     ORDER BY vault_id, memory_id
                     LIMIT $3",
                    vault.as_str(),
                    after_memory,
                    BATCH,
                )
                .fetch_all(&mut reader)
                .await
            }
            // Over all vaults the list is nearly always empty, so this is a look at an empty index. As a scalar
            // subquery the entry of each pending memory is looked up; for `NOT EXISTS` the planner would read all
            // entries.
            None => {
                sqlx::query_as!(
                    Pending,
                    "SELECT vault_id AS vault, memory_id AS memory, changed_at FROM memories
                     WHERE search_pending AND (vault_id, memory_id) > ($1, $2)
                       AND (vault_id = ANY ($4) OR (
                               SELECT creation_time BETWEEN $5 AND $6
                               FROM search_entries
                               WHERE search_entries.vault_id = memories.vault_id
                                 AND search_entries.memory_id = memories.memory_id
                           ) IS NOT TRUE)
                     ORDER BY vault_id, memory_id
                     LIMIT $3",
                    after_vault,
                    after_memory,
                    BATCH,
                    &self.searched.vaults(),
                    now - TimeDelta::from_std(REST).unwrap_or_default(),
                    now,
                )
                .fetch_all(&mut reader)
                .await
            }
        };
        Ok(rows?)
    }

    /// Indexes the newest versions of memories. Memories that were deleted or indexed meanwhile are skipped. Takes
    /// three statements for any number of memories (in a distributed database, for each vault).
    ///
    /// # Errors
    /// Database errors.
    pub async fn index_memories(&self, pending: &[Pending]) -> Result<(), StorageError> {
        if self.crosses_vaults() {
            return self.index_together(pending).await;
        }
        for of_vault in pending.chunk_by(|one, next| one.vault == next.vault) {
            self.index_together(of_vault).await?;
        }
        Ok(())
    }

    /// Indexes all pending memories of a vault.
    ///
    /// # Errors
    /// Database errors.
    pub async fn index_vault(&self, vault: &VaultId) -> Result<(), StorageError> {
        self.index_batches(vault, usize::MAX).await?;
        Ok(())
    }

    /// Indexes at most so many batches of a vault; returns whether nothing is left.
    async fn index_batches(&self, vault: &VaultId, at_most: usize) -> Result<bool, StorageError> {
        let mut last = None;
        for _ in 0..at_most {
            let batch = self.pending_for_search(Some(vault), last.as_ref()).await?;
            self.index_memories(&batch).await?;
            let Some(end) = batch.into_iter().last() else {
                return Ok(true);
            };
            last = Some(end);
        }
        Ok(false)
    }

    async fn index_together(&self, pending: &[Pending]) -> Result<(), StorageError> {
        let heads = self.pending_heads(pending).await?;
        if heads.is_empty() {
            return Ok(());
        }
        let mut words = Vec::with_capacity(heads.len());
        for head in &heads {
            let make = || vector(&head.vault_id, &head.context);
            words.push(fair::run_blocking_if_long(head.context.len(), make));
            // Lets other requests run between two documents.
            tokio::task::yield_now().await;
        }
        self.transaction_for(Class::Sweep, "db.search_entries.index", |transaction| {
            write(transaction, &heads, &words, self.embeds)
        })
        .await?;
        self.indexed.notify_one();
        Ok(())
    }

    /// The newest versions of those of the memories that are still pending, in the same order.
    async fn pending_heads(&self, pending: &[Pending]) -> Result<Vec<PendingHead>, StorageError> {
        let vaults: Vec<&str> = pending.iter().map(|pending| pending.vault.as_str()).collect();
        let memories: Vec<&str> = pending.iter().map(|pending| pending.memory.as_str()).collect();
        let heads = sqlx::query_as!(
            PendingHead,
            r#"SELECT head.vault_id, head.memory_id, head.identity, head.version, head.creation_time, head.context
               FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS pending (vault_id, memory_id, place)
               CROSS JOIN LATERAL (
                   SELECT m.vault_id, m.memory_id, m.identity, c.version, c.creation_time, c.context
                   FROM memories m
                   JOIN memory_contexts c
                     ON c.vault_id = ANY($1) AND c.vault_id = m.vault_id AND c.memory_id = m.memory_id
                    AND c.version = m.head_version
                   WHERE m.vault_id = ANY($1) AND m.vault_id = pending.vault_id AND m.memory_id = pending.memory_id
                     AND m.search_pending
                   LIMIT 1
               ) AS head
               ORDER BY pending.place"#,
            &vaults as &[&str],
            &memories as &[&str],
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        Ok(heads)
    }

    /// Waits for a write through this value or a clone of it, at most `at_most`.
    pub async fn written(&self, at_most: Duration) {
        // Timed out: there was no write.
        let _ = tokio::time::timeout(at_most, self.written.notified()).await;
    }

    /// Waits until something was indexed through this value or a clone of it, at most `at_most`.
    pub async fn indexed(&self, at_most: Duration) {
        // Timed out: nothing was indexed.
        let _ = tokio::time::timeout(at_most, self.indexed.notified()).await;
    }
}

struct PendingHead {
    vault_id: VaultId,
    memory_id: MemoryId,
    /// Another memory may be made under the same id meanwhile.
    identity: String,
    version: i64,
    creation_time: DateTime<Utc>,
    context: String,
}

/// Writes the entries of these versions, each with its words.
async fn write(
    mut transaction: Connection,
    heads: &[PendingHead],
    words: &[String],
    embeds: bool,
) -> Result<(Connection, ()), StorageError> {
    let vaults: Vec<&str> = heads.iter().map(|head| head.vault_id.as_str()).collect();
    let memories: Vec<&str> = heads.iter().map(|head| head.memory_id.as_str()).collect();
    let identities: Vec<&str> = heads.iter().map(|head| head.identity.as_str()).collect();
    let versions: Vec<i64> = heads.iter().map(|head| head.version).collect();
    let times: Vec<DateTime<Utc>> = heads.iter().map(|head| head.creation_time).collect();
    // Locks memories first: a deletion holds the memory's row when it deletes its entries.
    sqlx::query!(
        "UPDATE memories SET indexed_version = indexed.version,
                 embedded_version = CASE WHEN $4 THEN COALESCE(embedded_version, 0) ELSE embedded_version END
             FROM unnest($1::text[], $2::text[], $3::bigint[], $5::text[])
                  AS indexed (vault_id, memory_id, version, identity)
             WHERE memories.vault_id = ANY($1) AND memories.vault_id = indexed.vault_id
               AND memories.memory_id = indexed.memory_id AND memories.identity = indexed.identity
               AND memories.indexed_version < indexed.version",
        &vaults as &[&str],
        &memories as &[&str],
        &versions,
        embeds,
        &identities as &[&str],
    )
    .execute(&mut transaction)
    .await?;
    sqlx::query!(
        "INSERT INTO search_entries (vault_id, memory_id, version, creation_time, words)
             SELECT memories.vault_id, memories.memory_id, indexed.version, indexed.creation_time,
                    indexed.words::tsvector
             FROM memories
             JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[])
                  AS indexed (vault_id, memory_id, version, creation_time, words, identity)
               ON indexed.vault_id = memories.vault_id AND indexed.memory_id = memories.memory_id
              AND indexed.identity = memories.identity
             WHERE memories.vault_id = ANY($1)
             ON CONFLICT (vault_id, memory_id) DO UPDATE
             SET version = excluded.version, creation_time = excluded.creation_time, words = excluded.words
             WHERE search_entries.version < excluded.version",
        &vaults as &[&str],
        &memories as &[&str],
        &versions,
        &times,
        words,
        &identities as &[&str],
    )
    .execute(&mut transaction)
    .await?;
    Ok((transaction, ()))
}
