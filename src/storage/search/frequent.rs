//! Caches which words occur in many of a vault's documents: an index does not help for those.

use crate::domain::ids::VaultId;
use crate::domain::search::Query;
use crate::storage::{Class, Storage, StorageError};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Number of documents that are sampled, the newest. Vaults with fewer are small if their words do not exceed a number
/// of bytes.
const SAMPLE: i64 = 200;
const SMALL_BYTES: i64 = 2 * 1024 * 1024;

/// A word is frequent from this share of the sample on.
const FREQUENT: f32 = 0.2;

/// How long the result is cached.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The same for a small vault. Of one that an import fills meanwhile, only the newest documents would be searched.
const SMALL_FOR: Duration = Duration::from_secs(1);

impl Storage {
    /// The word statistics of a vault; at most one minute old.
    pub(super) async fn frequent_words(&self, vault: &VaultId) -> Result<Arc<OfVault>, StorageError> {
        if let Some(kept) = self.frequent_words.0.get(vault) {
            let kept_for = if kept.is_small { SMALL_FOR } else { KEPT_FOR };
            if kept.since.elapsed() < kept_for {
                return Ok(kept);
            }
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
        .fetch_one(&mut reader)
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
                .fetch_all(&mut reader)
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

/// Maximum number of vaults in the cache.
const VAULTS: usize = 1_000;

/// The cached word statistics of vaults.
#[derive(Debug)]
pub(in crate::storage) struct FrequentWords(pub(super) Cache<VaultId, Arc<OfVault>>);

/// The word statistics of a vault.
#[derive(Debug)]
pub(super) struct OfVault {
    since: Instant,
    /// Whether scanning its documents is faster than the index. The index serves all vaults: the cost of a lookup grows
    /// with all documents that contain the word or prefix.
    pub(super) is_small: bool,
    /// The shares of documents that contain the frequent words; empty for few documents.
    shares: HashMap<String, f32>,
}

impl OfVault {
    /// The estimated share of documents that contain the words of a query; `None` if it is small, or the words must be
    /// adjacent.
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

/// From this share on a query is answered from the newest documents.
const UNSELECTIVE: f32 = 0.25;

/// How many documents must be read to find so many matches, if this share of them matches.
pub(super) fn looked_at(share: f32, matches: u8) -> i64 {
    // With a margin, because the share is an estimate.
    let many = f32::from(matches) * 1.3 / share.max(UNSELECTIVE);
    #[expect(clippy::cast_possible_truncation, reason = "at most a thousand or so")]
    let many = many.ceil() as i64;
    many
}
