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

/// Documents that are looked at, the newest.
const SAMPLE: i64 = 200;

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

/// The shares of documents that have the frequent words.
#[derive(Debug)]
struct OfVault {
    since: Instant,
    shares: HashMap<String, f32>,
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
    /// In which share of a vault's documents the words of a query stand; `None` if they are few, or next to each other.
    pub(super) async fn share_of(&self, vault: &VaultId, query: &Query) -> Result<Option<f32>, StorageError> {
        if query.has_neighbours() {
            return Ok(None);
        }
        let kept = self
            .frequent_words
            .0
            .get(vault)
            .filter(|kept| kept.since.elapsed() < KEPT_FOR);
        let of_vault = match kept {
            Some(kept) => kept,
            None => {
                let read = Arc::new(self.read_frequent(vault).await?);
                self.frequent_words.0.insert(vault.clone(), read.clone());
                read
            }
        };
        let share = query.share(|word| of_vault.shares.get(word).copied());
        Ok(share.filter(|share| *share >= UNSELECTIVE))
    }

    #[tracing::instrument(name = "db.search_entries.frequent", skip_all)]
    async fn read_frequent(&self, vault: &VaultId) -> Result<OfVault, StorageError> {
        let rows = sqlx::query!(
            r#"WITH newest AS MATERIALIZED (
                 SELECT words FROM search_entries
                 WHERE vault_id = $1
                 ORDER BY creation_time DESC, memory_id
                 LIMIT $2
               ), documents AS (
                 SELECT count(*) AS number FROM newest
               )
               SELECT word AS "word!", (count(*) / documents.number::float8)::real AS "share!"
               FROM documents, newest
               CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS word
               WHERE documents.number = $2
               GROUP BY word, documents.number
               HAVING count(*) >= $3::real * documents.number"#,
            vault.as_str(),
            SAMPLE,
            FREQUENT,
        )
        .fetch_all(&mut *self.reader_for(Class::Search).await?)
        .await?;
        Ok(OfVault {
            since: Instant::now(),
            shares: rows.into_iter().map(|row| (row.word, row.share)).collect(),
        })
    }
}
