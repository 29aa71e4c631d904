//! Finds documents by their words, and builds the results: extracts, and where in the document they are.

use super::{Hit, SearchMatch, SearchPlace};
use crate::domain::document::location_of;
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::search::{Query, extract};
use crate::fair;
use crate::storage::{Class, Storage, StorageError};
use futures::TryStreamExt;
use std::cmp::Ordering;
use std::collections::HashSet;

/// Maximum number of matches that are ranked: those changed last. Otherwise the database would read every document for
/// a word that all of them contain.
const RANKED: i64 = 500;

/// Maximum number of documents, newest first, that are read to check whether words are adjacent in them.
const READ: i64 = 3_000;

/// A vault with fewer documents, whose words do not exceed a number of bytes, is small.
const FEW: i64 = 200;
const SMALL_BYTES: i64 = 2 * 1024 * 1024;

/// Extracts are taken from this many characters at the beginning of a document.
const EXTRACT_FROM_CHARS: i32 = 200_000;

/// Best first, then by memory.
fn order(one: (f32, &MemoryId), other: (f32, &MemoryId)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1))
}

impl Storage {
    /// The newest versions of a vault that match a query, by rank, those after `after`, at most `limit`. A version that
    /// is not indexed yet is not found, and neither is its predecessor.
    ///
    /// # Errors
    /// Database errors.
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
        if let Some(after) = after {
            let start = (after.rank, &after.memory);
            found.retain(|found| order((found.rank, &found.memory), start).is_gt());
        }
        found.sort_unstable_by(|one, other| order((one.rank, &one.memory), (other.rank, &other.memory)));
        self.still_newest(vault, found, usize::try_from(limit).unwrap_or(usize::MAX))
            .await
    }

    /// The matching entries of a vault with their ranks, of many only those changed last; some may be of versions that were
    /// replaced.
    async fn search_entries(&self, vault: &VaultId, query: &Query) -> Result<Vec<SearchMatch>, StorageError> {
        if self.is_small(vault).await? {
            return self.search_all(vault, query).await;
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
        let found = sqlx::query_as!(
            SearchMatch,
            r#"WITH found AS MATERIALIZED (
             SELECT memory_id, version, words
             FROM (
               SELECT memory_id, version, words
               FROM search_entries
               WHERE vault_id = $1 AND words @@ $2::text::tsquery
               ORDER BY creation_time DESC, memory_id
               LIMIT $5
             ) AS candidates
             WHERE NOT $6::boolean OR words @@ $7::text::tsquery
             LIMIT $4
           )
           -- A query is read once where it is asked for by itself, and for each row otherwise.
           SELECT memory_id AS "memory: MemoryId", version, ts_rank(words, (SELECT $3::text::tsquery), 1) AS "rank!"
           FROM found"#,
            vault.as_str(),
            query.candidates(vault),
            query.tsquery(),
            RANKED,
            if query.has_neighbours() { READ } else { RANKED },
            query.has_neighbours(),
            query.matching(),
        )
        .fetch_all(&mut transaction)
        .await?;
        transaction.commit().await?;
        Ok(found)
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
            let memories: Vec<&str> = part.iter().map(|found| found.memory.as_str()).collect();
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
            newest.extend(part.into_iter().filter(|found| current.contains(&found.memory)));
        }
        Ok(newest)
    }

    /// Whether looking through the documents of a vault is faster than the index. That serves all vaults: the cost of a look-up
    /// grows with all documents that contain the word or prefix.
    async fn is_small(&self, vault: &VaultId) -> Result<bool, StorageError> {
        let size = sqlx::query!(
            r#"SELECT count(*) AS "documents!", COALESCE(sum(bytes), 0)::bigint AS "bytes!"
               FROM (SELECT pg_column_size(words) AS bytes FROM search_entries WHERE vault_id = $1 LIMIT $2) AS counted"#,
            vault.as_str(),
            FEW,
        )
        .fetch_one(&mut self.reader_for(Class::Search).await?)
        .await?;
        Ok(size.documents < FEW && size.bytes <= SMALL_BYTES)
    }

    /// Searches the documents of a small vault without the index.
    async fn search_all(&self, vault: &VaultId, query: &Query) -> Result<Vec<SearchMatch>, StorageError> {
        // Deleting the empty word changes nothing: `ts_delete` keeps PostgreSQL from using the index, and makes it fetch the
        // out-of-line words of a document once for both uses.
        let found = sqlx::query_as!(
            SearchMatch,
            r#"SELECT entries.memory_id AS "memory: MemoryId", entries.version,
                      ts_rank(entry.words, (SELECT $2::text::tsquery), 1) AS "rank!"
               FROM search_entries AS entries
               CROSS JOIN LATERAL (SELECT ts_delete(entries.words, '') AS words OFFSET 0) AS entry
               WHERE entries.vault_id = $1 AND entry.words @@ (SELECT $4::text::tsquery)
               LIMIT $3"#,
            vault.as_str(),
            query.tsquery(),
            RANKED,
            query.matching(),
        )
        .fetch_all(&mut self.reader_for(Class::Search).await?)
        .await?;
        Ok(found)
    }

    /// The results for these matches, in the same order; without memories that no longer exist.
    ///
    /// # Errors
    /// Database errors.
    pub async fn search_results(
        &self,
        vault: &VaultId,
        query: &Query,
        found: &[SearchMatch],
    ) -> Result<Vec<Hit>, StorageError> {
        let memories: Vec<&str> = found.iter().map(|found| found.memory.as_str()).collect();
        let versions: Vec<i64> = found.iter().map(|found| found.version).collect();
        let mut hits = Vec::with_capacity(found.len());
        let mut reader = self.reader_for(Class::Search).await?;
        // Reads one text at a time, so that a page of large documents is not in memory as a whole. Characters are
        // counted only if a text may exceed the limit.
        let mut rows = sqlx::query!(
            r#"SELECT shown.place AS "place!", c.context_id AS "context_id: ContextId", c.creation_time,
                      CASE WHEN c.bytes <= $4 THEN c.context ELSE left(c.context, $4) END AS "context!"
               FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS shown (memory_id, version, place)
               JOIN memory_contexts c ON c.memory_id = shown.memory_id AND c.version = shown.version
               WHERE c.vault_id = $1
               ORDER BY shown.place"#,
            vault.as_str(),
            &memories as &[&str],
            &versions,
            EXTRACT_FROM_CHARS,
        )
        .fetch(&mut reader);
        while let Some(row) = rows.try_next().await? {
            let place = usize::try_from(row.place - 1).unwrap_or(usize::MAX);
            let Some(found) = found.get(place) else { continue };
            let look = || {
                let (extract, byte) = extract(&row.context, query);
                let location = byte.map(|byte| location_of(&row.context, byte));
                (extract, location.unwrap_or_default())
            };
            let (extract, (record, section)) = fair::on_cpu(row.context.len(), look).await;
            hits.push(Hit {
                memory: found.memory.clone(),
                version: found.version,
                context_id: row.context_id,
                creation_time: row.creation_time,
                rank: found.rank,
                extract,
                by_text: true,
                score: None,
                record,
                section,
                origin: None,
            });
        }
        Ok(hits)
    }
}
