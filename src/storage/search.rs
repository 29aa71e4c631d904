//! Full text: `search_entries`, written by the indexer behind the writers, read by searches.
//!
//! Which memories have still to be indexed stands in `memories.search_pending`. Any number of indexers may work at
//! once: an entry is only ever replaced by one of a newer version, so that doing the same work twice is only waste.

mod find;
mod frequent;
mod searched;
mod shown;
pub mod vectors;
mod word_shares;

pub(super) use searched::Searched;
pub(super) use word_shares::FrequentWords;

use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::search::vector;
use crate::fair;
use crate::storage::database::transaction::{Ending, Transaction};
use crate::storage::{Class, Storage, StorageError, error};
use chrono::{DateTime, TimeDelta, Utc};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Memories that are indexed together: their texts are held at once.
const BATCH: i64 = 32;

/// A memory whose newest version is not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its vault.
    pub vault: VaultId,
    /// Its id.
    pub memory: MemoryId,
    /// When its newest version was made.
    pub changed_at: DateTime<Utc>,
}

/// The place of a result in the order of a search: by rank, best first, then by memory.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPlace {
    /// How well the document fits; the larger the better.
    pub rank: f32,
    /// The memory.
    pub memory: MemoryId,
}

impl fmt::Display for SearchPlace {
    /// As [`FromStr`] reads it back, to the bit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.rank, self.memory)
    }
}

impl FromStr for SearchPlace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (rank, memory) = text.split_once('/').ok_or(())?;
        let rank = rank
            .parse()
            .ok()
            .filter(|rank: &f32| rank.is_finite())
            .ok_or(())?;
        let memory = memory.parse().map_err(|_| ())?;
        Ok(Self { rank, memory })
    }
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Rank and memory.
    pub place: SearchPlace,
    /// The memory's newest version.
    pub version: i64,
    /// Its id.
    pub context_id: ContextId,
    /// When it was made.
    pub creation_time: DateTime<Utc>,
    /// A part of the text as HTML in which the words searched for are marked.
    pub extract: String,
    /// The record that stands there.
    pub record: Option<RecordId>,
    /// The section that it stands in.
    pub section: Option<String>,
}

/// A document that was found, before anything of it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchMatch {
    /// Rank and memory.
    pub place: SearchPlace,
    /// The memory's newest version.
    pub version: i64,
}

/// Batches that the first search of a vault indexes: what is left, as after an import, is indexed behind it.
const BATCHES: usize = 4;

impl Storage {
    /// A vault is going to be searched: what of it was not indexed to be spared is indexed, now or from now on.
    ///
    /// # Errors
    /// Database errors.
    pub async fn note_search(&self, vault: &VaultId) -> Result<(), StorageError> {
        if self.searched.note(vault) {
            return Ok(());
        }
        match self.index_batches(vault, BATCHES).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.written.notify_one();
                Ok(())
            }
            Err(error) => {
                self.searched.forget(vault);
                Err(error)
            }
        }
    }

    /// Memories that have still to be indexed, by vault and memory, those behind `after`, a batch at most; of all
    /// vaults without those that rest, or of one.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.search_pending", skip_all)]
    pub async fn pending_for_search(
        &self,
        vault: Option<&VaultId>,
        after: Option<&Pending>,
    ) -> Result<Vec<Pending>, StorageError> {
        let now = self.clock.now();
        let after_vault = after.map_or("", |after| after.vault.as_str());
        let after_memory = after.map_or("", |after| after.memory.as_str());
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
                .fetch_all(&mut *self.reader_for(Class::Maintenance).await?)
                .await?
            }
            // Over all vaults, which is empty nearly always: a look at an index without entries. As a value the entry of each
            // pending memory is looked up; of `NOT EXISTS` the planner makes a read of all entries.
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
                    now - TimeDelta::from_std(searched::REST).unwrap_or_default(),
                    now,
                )
                .fetch_all(&mut *self.reader_for(Class::Maintenance).await?)
                .await?
            }
        };
        Ok(rows)
    }

    /// Indexes the newest versions of memories. Those that are gone or were indexed meanwhile are left out. Three
    /// statements, whatever the number of memories (on a distributed database, of a vault's).
    ///
    /// # Errors
    /// Database errors.
    pub async fn index_memories(&self, pending: &[Pending]) -> Result<(), StorageError> {
        if self.crosses_vaults().await? {
            return self.index_together(pending).await;
        }
        for of_vault in pending.chunk_by(|one, next| one.vault == next.vault) {
            self.index_together(of_vault).await?;
        }
        Ok(())
    }

    /// Indexes whatever of a vault is pending.
    ///
    /// # Errors
    /// Database errors.
    pub async fn index_vault(&self, vault: &VaultId) -> Result<(), StorageError> {
        self.index_batches(vault, usize::MAX).await?;
        Ok(())
    }

    /// Indexes so many batches of a vault at most; whether that was all that is pending.
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

    #[tracing::instrument(name = "db.search_entries.index", skip_all, fields(memories = pending.len()))]
    async fn index_together(&self, pending: &[Pending]) -> Result<(), StorageError> {
        let heads = self.pending_heads(pending).await?;
        if heads.is_empty() {
            return Ok(());
        }
        let mut words = Vec::with_capacity(heads.len());
        for head in &heads {
            let make = || vector(&head.of.vault, &head.context);
            words.push(fair::without_hogging(head.context.len(), make));
            // Other requests get their turn between two documents.
            tokio::task::yield_now().await;
        }
        let entries = Entries {
            vaults: heads.iter().map(|head| head.of.vault.as_str()).collect(),
            memories: heads.iter().map(|head| head.of.memory.as_str()).collect(),
            versions: heads.iter().map(|head| head.version).collect(),
            times: heads.iter().map(|head| head.creation_time).collect(),
            words,
        };
        // Lost to another indexer, or to who deleted one of the memories between two statements.
        let may_repeat = |error: &StorageError| error::may_repeat(error) || error::is_gone(error);
        let (class, name) = (Class::Maintenance, "db.search_entries.index");
        self.transaction_after(class, name, may_repeat, |transaction| {
            entries.write(transaction, self.embeds)
        })
        .await?;
        self.indexed.notify_one();
        Ok(())
    }

    /// The newest versions of those of the memories that are still pending, in their order.
    async fn pending_heads<'a>(&self, pending: &'a [Pending]) -> Result<Vec<PendingHead<'a>>, StorageError> {
        let vaults: Vec<&str> = pending.iter().map(|pending| pending.vault.as_str()).collect();
        let memories: Vec<&str> = pending.iter().map(|pending| pending.memory.as_str()).collect();
        let heads = sqlx::query!(
            r#"SELECT pending.place AS "place!", head.version, head.creation_time, head.context
               FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS pending (vault_id, memory_id, place)
               CROSS JOIN LATERAL (
                   SELECT c.version, c.creation_time, c.context
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
        .fetch_all(&mut *self.reader_for(Class::Maintenance).await?)
        .await?;
        let head = |(place, version, creation_time, context): (i64, _, _, _)| {
            // They are counted from 1.
            let of = pending.get(usize::try_from(place - 1).ok()?)?;
            Some(PendingHead {
                of,
                version,
                creation_time,
                context,
            })
        };
        Ok(heads
            .into_iter()
            .filter_map(|row| head((row.place, row.version, row.creation_time, row.context)))
            .collect())
    }

    /// Waits for a write through this value or a clone of it, or until `at_most` is over.
    pub async fn written(&self, at_most: Duration) {
        // Over: nobody wrote.
        let _ = tokio::time::timeout(at_most, self.written.notified()).await;
    }

    /// Waits until something was indexed through this value or a clone of it, or until `at_most` is over.
    pub async fn indexed(&self, at_most: Duration) {
        // Over: nothing was.
        let _ = tokio::time::timeout(at_most, self.indexed.notified()).await;
    }
}

struct PendingHead<'a> {
    of: &'a Pending,
    version: i64,
    creation_time: DateTime<Utc>,
    context: String,
}

/// What is written of memories that are indexed, a list a column.
struct Entries<'a> {
    vaults: Vec<&'a str>,
    memories: Vec<&'a str>,
    versions: Vec<i64>,
    times: Vec<DateTime<Utc>>,
    words: Vec<String>,
}

impl Entries<'_> {
    async fn write(&self, mut transaction: Transaction, embeds: bool) -> Result<Ending<()>, StorageError> {
        // The memories first: who deletes one holds its row when its entries go with it.
        sqlx::query!(
            "UPDATE memories SET indexed_version = indexed.version,
                 embedded_version = CASE WHEN $4 THEN COALESCE(embedded_version, 0) ELSE embedded_version END
             FROM unnest($1::text[], $2::text[], $3::bigint[]) AS indexed (vault_id, memory_id, version)
             WHERE memories.vault_id = ANY($1) AND memories.vault_id = indexed.vault_id
               AND memories.memory_id = indexed.memory_id AND memories.indexed_version < indexed.version",
            &self.vaults as &[&str],
            &self.memories as &[&str],
            &self.versions,
            embeds,
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "INSERT INTO search_entries (vault_id, memory_id, version, creation_time, words)
             SELECT memories.vault_id, memories.memory_id, indexed.version, indexed.creation_time,
                    indexed.words::tsvector
             FROM memories
             JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[])
                  AS indexed (vault_id, memory_id, version, creation_time, words)
               ON indexed.vault_id = memories.vault_id AND indexed.memory_id = memories.memory_id
             WHERE memories.vault_id = ANY($1)
             ON CONFLICT (vault_id, memory_id) DO UPDATE
             SET version = excluded.version, creation_time = excluded.creation_time, words = excluded.words
             WHERE search_entries.version < excluded.version",
            &self.vaults as &[&str],
            &self.memories as &[&str],
            &self.versions,
            &self.times,
            &self.words,
        )
        .execute(&mut *transaction)
        .await?;
        Ok(transaction.commit_with(()))
    }
}
