//! Finding documents by their words.

use super::frequent::looked_at;
use super::{SearchMatch, SearchPlace};
use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::search::Query;
use crate::storage::{Class, Storage, StorageError};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Maximum number of matches that are ranked: those changed last. Otherwise the database would read every document for
/// a word that all of them contain.
const RANKED: i64 = 500;

/// Maximum number of documents, newest first, that are read to check whether words are adjacent in them.
const READ: i64 = 3_000;

/// How many of the newest documents are ranked for words that many of them contain, and below how many results the
/// index is searched after all.
const RANKED_OF_MANY: u8 = 150;
const ENOUGH: usize = 100;

/// A matching entry.
struct Row {
    memory_id: MemoryId,
    version: i64,
    rank: f32,
}

impl From<Row> for SearchMatch {
    fn from(row: Row) -> Self {
        Self {
            place: SearchPlace {
                rank: row.rank,
                memory: row.memory_id,
            },
            version: row.version,
        }
    }
}

impl SearchPlace {
    /// Best first, then by memory.
    fn order(&self, other: &Self) -> Ordering {
        let by_memory = || self.memory.cmp(&other.memory);
        other.rank.total_cmp(&self.rank).then_with(by_memory)
    }
}

impl Storage {
    /// The newest versions of a vault that match a query, by rank, those after `after`, at most `limit`. A version that
    /// is not indexed yet is not found, and neither is its predecessor.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.search_entries.search", skip_all)]
    pub async fn search(
        &self,
        vault: &VaultId,
        query: &Query,
        after: Option<&SearchPlace>,
        limit: i64,
    ) -> Result<Vec<SearchMatch>, StorageError> {
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let _permit = self.search_permit().await?;
        let mut found = self.search_entries(vault, query).await?;
        found.retain(|found| after.is_none_or(|after| found.place.order(after).is_gt()));
        found.sort_unstable_by(|one, other| one.place.order(&other.place));
        self.still_newest(vault, found, usize::try_from(limit).unwrap_or(usize::MAX))
            .await
    }

    /// The matching entries of a vault with their ranks, of many only those changed last; some may be of versions that were
    /// replaced.
    async fn search_entries(&self, vault: &VaultId, query: &Query) -> Result<Vec<SearchMatch>, StorageError> {
        let known = self.frequent_words(vault).await?;
        if known.is_small {
            return self.search_newest(vault, query, READ, RANKED).await;
        }
        if let Some(share) = known.share(query) {
            let looked_at = looked_at(share, RANKED_OF_MANY);
            let found = self
                .search_newest(vault, query, looked_at, RANKED_OF_MANY.into())
                .await?;
            // The share was an estimate.
            if found.len() >= ENOUGH {
                return Ok(found);
            }
        }
        let mut transaction = self.begin(Class::Search).await?;
        // For a frequent word the planner would prefer a sequential scan, because it does not know that the words of
        // each entry are stored out of line (TOAST); the index answers without them.
        sqlx::query!(
            "SELECT set_config('enable_seqscan', 'off', true) AS seqscan,
                    set_config('enable_indexscan', 'off', true) AS indexscan"
        )
        .fetch_one(&mut transaction)
        .await?;
        let rows = sqlx::query_as!(
            Row,
            r#"WITH found AS MATERIALIZED (
             SELECT memory_id, version, words
             FROM (
               SELECT memory_id, version, words
               FROM search_entries
               WHERE vault_id = $1 AND words @@ $2::text::tsquery
               ORDER BY creation_time DESC, memory_id
               LIMIT $5
             ) AS candidates
             WHERE NOT $6::boolean OR words @@ $3::text::tsquery
             LIMIT $4
           )
           -- A query is read once where it is asked for by itself, and for each row otherwise.
           SELECT memory_id AS "memory_id: MemoryId", version, ts_rank(words, (SELECT $3::text::tsquery), 1) AS "rank!"
           FROM found"#,
            vault.as_str(),
            query.candidates(vault),
            query.tsquery(),
            RANKED,
            if query.has_neighbours() { READ } else { RANKED },
            query.has_neighbours(),
        )
        .fetch_all(&mut transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(SearchMatch::from).collect())
    }

    /// The first `limit` of these that are still the newest versions of their memories; only as many are looked up as needed.
    async fn still_newest(
        &self,
        vault: &VaultId,
        found: Vec<SearchMatch>,
        limit: usize,
    ) -> Result<Vec<SearchMatch>, StorageError> {
        let mut newest = Vec::with_capacity(limit.min(found.len()));
        let mut rest = found.into_iter();
        while newest.len() < limit && !rest.as_slice().is_empty() {
            let part: Vec<SearchMatch> = rest.by_ref().take(limit - newest.len()).collect();
            let memories: Vec<&str> = part.iter().map(|found| found.place.memory.as_str()).collect();
            let versions: Vec<i64> = part.iter().map(|found| found.version).collect();
            let current = sqlx::query_scalar!(
                r#"SELECT memories.memory_id AS "memory_id: MemoryId"
                   FROM unnest($2::text[], $3::bigint[]) AS found (memory_id, version)
                   JOIN memories ON memories.memory_id = found.memory_id AND memories.head_version = found.version
                   WHERE memories.vault_id = $1"#,
                vault.as_str(),
                &memories as &[&str],
                &versions,
            )
            .fetch_all(&mut self.reader_for(Class::Search).await?)
            .await?;
            let current: HashSet<MemoryId> = current.into_iter().collect();
            newest.extend(
                part.into_iter()
                    .filter(|found| current.contains(&found.place.memory)),
            );
        }
        Ok(newest)
    }

    /// Searches the newest documents of a vault without the index; at most `limit` matches.
    #[tracing::instrument(name = "db.search_entries.search_newest", skip_all)]
    async fn search_newest(
        &self,
        vault: &VaultId,
        query: &Query,
        looked_at: i64,
        limit: i64,
    ) -> Result<Vec<SearchMatch>, StorageError> {
        // Deleting the empty word changes nothing: `ts_delete` only makes PostgreSQL fetch the out-of-line words of a
        // document once for both uses.
        let rows = sqlx::query_as!(
            Row,
            r#"SELECT newest.memory_id AS "memory_id: MemoryId", newest.version,
                      ts_rank(entry.words, (SELECT $2::text::tsquery), 1) AS "rank!"
               FROM (
                   SELECT memory_id, version, words
                   FROM search_entries
                   WHERE vault_id = $1
                   ORDER BY creation_time DESC, memory_id
                   LIMIT $3
               ) AS newest
               CROSS JOIN LATERAL (SELECT ts_delete(newest.words, '') AS words OFFSET 0) AS entry
               WHERE entry.words @@ (SELECT $2::text::tsquery)
               LIMIT $4"#,
            vault.as_str(),
            query.tsquery(),
            looked_at,
            limit,
        )
        .fetch_all(&mut self.reader_for(Class::Search).await?)
        .await?;
        Ok(rows.into_iter().map(SearchMatch::from).collect())
    }
}
