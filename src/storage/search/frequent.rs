//! Which words stand in many of a vault's documents, kept for a while: an index helps nothing for those.

use super::find::RANKED_OF_MANY;
use crate::domain::ids::VaultId;
use crate::domain::search::Query;
use crate::storage::{Class, Storage, StorageError};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Documents that are looked at, the newest. Vaults with fewer are small, if their words are no more than so many bytes.
const SAMPLE: i64 = 200;
const SMALL_BYTES: i64 = 2 * 1024 * 1024;

/// From which share of them on a word is frequent.
const FREQUENT: f32 = 0.2;

/// From which share on a query is answered out of the newest documents.
const UNSELECTIVE: f32 = 0.25;

/// Vaults whose words are kept, and for how long.
const VAULTS: usize = 1_000;
const KEPT_FOR: Duration = Duration::from_secs(60);

/// What is kept of vaults.
#[derive(Debug)]
pub(in crate::storage) struct FrequentWords(Cache<VaultId, Arc<OfVault>>);

/// What is known of a vault.
#[derive(Debug)]
pub(super) struct OfVault {
    since: Instant,
    is_small: bool,
    /// The shares of documents that have the frequent words; none of few documents.
    shares: HashMap<String, f32>,
}

impl OfVault {
    /// Whether its documents are looked through faster than the index, which serves all vaults: what the index takes for
    /// a word, or what begins with it, grows with all documents that have it.
    pub(super) fn is_small(&self) -> bool {
        self.is_small
    }

    /// In which share of the documents the words of a query stand; `None` if they are few, or next to each other.
    pub(super) fn share(&self, query: &Query) -> Option<f32> {
        if query.has_neighbours() {
            return None;
        }
        let share = query.share(|word| self.shares.get(word).copied());
        share.filter(|share| *share >= UNSELECTIVE)
    }
}

impl Default for FrequentWords {
    fn default() -> Self {
        Self(Cache::new(VAULTS))
    }
}

/// How many documents have to be looked at for enough matches, if this share of them match.
pub(super) fn looked_at(share: f32) -> i64 {
    // Some more: the share is an estimate.
    let many = f32::from(RANKED_OF_MANY) * 1.3 / share.max(UNSELECTIVE);
    #[expect(clippy::cast_possible_truncation, reason = "at most 780")]
    let many = many.ceil() as i64;
    many
}

impl Storage {
    /// What is known of a vault; at most a minute old.
    pub(super) async fn frequent_words(&self, vault: &VaultId) -> Result<Arc<OfVault>, StorageError> {
        let kept = self.frequent_words.0.get(vault);
        if let Some(kept) = kept.filter(|kept| kept.since.elapsed() < KEPT_FOR) {
            return Ok(kept);
        }
        let read = Arc::new(self.read_frequent(vault).await?);
        self.frequent_words.0.insert(vault.clone(), read.clone());
        Ok(read)
    }

    #[tracing::instrument(name = "db.search_entries.frequent", skip_all)]
    async fn read_frequent(&self, vault: &VaultId) -> Result<OfVault, StorageError> {
        let mut reader = self.reader_for(Class::Search).await?;
        let vault_size = sqlx::query!(
            r#"SELECT count(*) AS "documents!", COALESCE(sum(bytes), 0)::bigint AS "bytes!"
               FROM (SELECT pg_column_size(words) AS bytes FROM search_entries WHERE vault_id = $1 LIMIT $2) AS counted"#,
            vault.as_str(),
            SAMPLE,
        )
        .fetch_one(&mut *reader)
        .await?;
        let is_few = vault_size.documents < SAMPLE;
        let rows = match is_few {
            true => Vec::new(),
            false => {
                sqlx::query!(
                    r#"WITH newest AS MATERIALIZED (
                         SELECT words FROM search_entries
                         WHERE vault_id = $1
                         ORDER BY creation_time DESC, memory_id
                         LIMIT $2
                       )
                       SELECT word AS "word!", (count(*) / $2::float8)::real AS "share!"
                       FROM newest
                       CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS word
                       GROUP BY word
                       HAVING count(*) >= $3::float8 * $2"#,
                    vault.as_str(),
                    SAMPLE,
                    f64::from(FREQUENT),
                )
                .fetch_all(&mut *reader)
                .await?
            }
        };
        Ok(OfVault {
            since: Instant::now(),
            is_small: is_few && vault_size.bytes <= SMALL_BYTES,
            shares: rows.into_iter().map(|row| (row.word, row.share)).collect(),
        })
    }
}
