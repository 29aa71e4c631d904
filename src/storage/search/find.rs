//! Finding documents by their words.

use super::word_shares::looked_at;
use super::{SearchMatch, SearchPlace, SearchResult};
use crate::domain::document::place_of;
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::search::{Extractor, Query};
use crate::fair;
use crate::storage::database::connection::Connection;
use crate::storage::head_cache::CachedHead;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use std::collections::HashMap;

/// How many matches are ranked: of more, those changed last. A word that stands in every document would otherwise
/// make the database read all of them.
const RANKED: i64 = 500;

/// How many documents are read, the newest first, to see whether words stand next to each other in them.
const READ: i64 = 3_000;

/// The characters of a document in which an extract is looked for.
const EXTRACT_FROM_CHARS: i32 = 200_000;

/// Heads that are read together to be shown and kept: their texts are held at once.
const HEADS_READ: usize = 16;

/// The bytes of a text that a search has the process keep.
const MOST_BYTES_KEPT: i32 = 64 * 1024;

/// How many of the newest documents are ranked for words that stand in many of them, and how few of those are too few.
const RANKED_OF_MANY: u8 = 150;
const ENOUGH: usize = 100;

impl SearchPlace {
    /// Whether it comes behind another one.
    fn is_behind(&self, other: &Self) -> bool {
        self.rank < other.rank || (self.rank <= other.rank && self.memory > other.memory)
    }
}

impl Storage {
    /// The newest versions of a vault that a query finds, by rank, those behind `after`, at most `limit`. A version
    /// that is not indexed yet is not found, and neither is the one before it.
    ///
    /// # Errors
    /// The database's.
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
        let _turn = self.search_turn().await?;
        let found = self.search_entries(vault, query, after).await?;
        self.still_newest(vault, found, usize::try_from(limit).unwrap_or(usize::MAX))
            .await
    }

    /// What the entries of a vault say, by rank; some of them may be of versions that were replaced.
    async fn search_entries(
        &self,
        vault: &VaultId,
        query: &Query,
        after: Option<&SearchPlace>,
    ) -> Result<Vec<SearchMatch>, StorageError> {
        let known = self.frequent_words(vault).await?;
        if known.is_small() {
            let found = self.search_newest(vault, query, READ, RANKED).await?;
            return Ok(by_rank(found, after));
        }
        if let Some(share) = known.share(query) {
            let looked_at = looked_at(share, RANKED_OF_MANY);
            let found = self
                .search_newest(vault, query, looked_at, RANKED_OF_MANY.into())
                .await?;
            // The share was an estimate.
            if found.len() >= ENOUGH {
                return Ok(by_rank(found, after));
            }
        }
        let mut transaction = self.begin_for(Class::Search).await?;
        // For a frequent word the planner would rather read every entry, not knowing that the words of each have to be
        // fetched from beside the table; the index knows the answer without them.
        sqlx::query!(
            "SELECT set_config('enable_seqscan', 'off', true) AS seqscan,
                    set_config('enable_indexscan', 'off', true) AS indexscan"
        )
        .fetch_one(&mut *transaction)
        .await?;
        let found = ranked(&mut transaction, vault, query, after).await?;
        transaction.commit().await?;
        Ok(found)
    }

    /// The first `limit` of these that are the newest versions of their memories. What the process keeps proves it of
    /// most; the database is asked about the others, no more of them than are needed.
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
            let is_kept = |found: &SearchMatch| {
                let kept = self.head_cache.peek(vault, &found.place.memory, found.version);
                kept.is_some()
            };
            let kept: Vec<bool> = part.iter().map(is_kept).collect();
            let unknown: Vec<&SearchMatch> = part
                .iter()
                .zip(&kept)
                .filter(|(_, kept)| !**kept)
                .map(|(found, _)| found)
                .collect();
            let versions = self.head_versions(vault, &unknown).await?;
            let is_newest = |(found, kept): &(SearchMatch, bool)| {
                *kept || versions.get(&found.place.memory) == Some(&found.version)
            };
            newest.extend(
                part.into_iter()
                    .zip(kept)
                    .filter(is_newest)
                    .map(|(found, _)| found),
            );
        }
        Ok(newest)
    }

    /// The versions that these memories have come to, of those that are there.
    async fn head_versions(
        &self,
        vault: &VaultId,
        of: &[&SearchMatch],
    ) -> Result<HashMap<MemoryId, i64>, StorageError> {
        if of.is_empty() {
            return Ok(HashMap::new());
        }
        let memories: Vec<&str> = of.iter().map(|found| found.place.memory.as_str()).collect();
        let rows = sqlx::query!(
            r#"SELECT memory_id AS "memory_id: MemoryId", head_version
               FROM memories WHERE vault_id = $1 AND memory_id = ANY($2)"#,
            vault.as_str(),
            &memories as &[&str],
        )
        .fetch_all(&mut *self.reader_for(Class::Search).await?)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.memory_id, row.head_version))
            .collect())
    }

    /// What is found in the newest documents of a vault, `limit` at most: without the index.
    #[tracing::instrument(name = "db.search_entries.search_newest", skip_all)]
    async fn search_newest(
        &self,
        vault: &VaultId,
        query: &Query,
        looked_at: i64,
        limit: i64,
    ) -> Result<Vec<SearchMatch>, StorageError> {
        // What is deleted is in none; so the words of a document are fetched from beside the table once for both uses.
        // One row of lists: a message for each match would cost as much as its rank.
        let found = sqlx::query!(
            r#"SELECT array_agg(matched.memory_id) AS "memories: Vec<MemoryId>", array_agg(matched.version) AS versions,
                      array_agg(matched.rank) AS ranks
               FROM (
                 SELECT newest.memory_id, newest.version,
                        ts_rank(entry.words, (SELECT $2::text::tsquery), 1) AS rank
                 FROM (
                   SELECT memory_id, version, words
                   FROM search_entries
                   WHERE vault_id = $1
                   ORDER BY creation_time DESC, memory_id
                   LIMIT $3
                 ) AS newest
                 CROSS JOIN LATERAL (SELECT ts_delete(newest.words, '') AS words OFFSET 0) AS entry
                 WHERE entry.words @@ (SELECT $2::text::tsquery)
                 LIMIT $4
               ) AS matched"#,
            vault.as_str(),
            query.tsquery(),
            looked_at,
            limit,
        )
        .fetch_one(&mut *self.reader_for(Class::Search).await?)
        .await?;
        let memories = found.memories.unwrap_or_default().into_iter();
        let of_each = found
            .versions
            .unwrap_or_default()
            .into_iter()
            .zip(found.ranks.unwrap_or_default());
        let found = memories
            .zip(of_each)
            .map(|(memory, (version, rank))| SearchMatch {
                place: SearchPlace { rank, memory },
                version,
            });
        Ok(found.collect())
    }

    /// What is shown of documents that were found, in their order; of those that are still there.
    ///
    /// # Errors
    /// The database's.
    #[tracing::instrument(name = "db.memory_contexts.shown", skip_all, fields(documents = found.len()))]
    pub async fn search_results(
        &self,
        vault: &VaultId,
        query: &Query,
        found: &[SearchMatch],
    ) -> Result<Vec<SearchResult>, StorageError> {
        let extractor = Extractor::new(query);
        let mut results = Vec::with_capacity(found.len());
        let mut missing = Vec::new();
        for (place, found) in found.iter().enumerate() {
            // The process keeps most of what is read or written often.
            match self.head_cache.peek(vault, &found.place.memory, found.version) {
                Some(head) => results.push((place, shown_of(&extractor, found, &head).await)),
                None => missing.push((place, found)),
            }
        }
        if !missing.is_empty() && !self.has_replica() {
            missing = self.show_heads(vault, &extractor, missing, &mut results).await?;
        }
        if !missing.is_empty() {
            self.read_shown(vault, &extractor, &missing, &mut results).await?;
        }
        results.sort_unstable_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Adds what is shown of these out of heads, which are kept for who searches next; returns those that are too long
    /// for that, or were replaced just now.
    async fn show_heads<'f>(
        &self,
        vault: &VaultId,
        extractor: &Extractor<'_>,
        missing: Vec<(usize, &'f SearchMatch)>,
        results: &mut Vec<(usize, SearchResult)>,
    ) -> Result<Vec<(usize, &'f SearchMatch)>, StorageError> {
        let mut left = Vec::new();
        for part in missing.chunks(HEADS_READ) {
            let memories: Vec<&MemoryId> = part.iter().map(|(_, found)| &found.place.memory).collect();
            let heads = self.heads_up_to(vault, &memories, MOST_BYTES_KEPT).await?;
            for (place, found) in part {
                let is_it = |head: &&CachedHead| {
                    let metadata = &head.context.metadata;
                    (&metadata.memory_id, metadata.version) == (&found.place.memory, found.version)
                };
                match heads.iter().find(is_it) {
                    Some(head) => results.push((*place, shown_of(extractor, found, head).await)),
                    None => left.push((*place, *found)),
                }
            }
        }
        Ok(left)
    }

    /// Adds what is shown of these, each with its place.
    async fn read_shown(
        &self,
        vault: &VaultId,
        extractor: &Extractor<'_>,
        missing: &[(usize, &SearchMatch)],
        results: &mut Vec<(usize, SearchResult)>,
    ) -> Result<(), StorageError> {
        let memories: Vec<&str> = missing
            .iter()
            .map(|(_, found)| found.place.memory.as_str())
            .collect();
        let versions: Vec<i64> = missing.iter().map(|(_, found)| found.version).collect();
        let mut reader = self.reader_for(Class::Search).await?;
        // One text at a time: a page of large documents is not held as a whole. Characters are only counted where a
        // text may have too many.
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
        .fetch(&mut *reader);
        while let Some(row) = rows.try_next().await? {
            let index = usize::try_from(row.place - 1).unwrap_or(usize::MAX);
            if let Some((place, found)) = missing.get(index) {
                let shown = shown(extractor, found, &row.context_id, row.creation_time, &row.context).await;
                results.push((*place, shown));
            }
        }
        Ok(())
    }
}

/// By rank, those behind `after`.
fn by_rank(mut found: Vec<SearchMatch>, after: Option<&SearchPlace>) -> Vec<SearchMatch> {
    found.retain(|found| after.is_none_or(|after| found.place.is_behind(after)));
    found.sort_unstable_by(|one, other| {
        let by_memory = || one.place.memory.cmp(&other.place.memory);
        other.place.rank.total_cmp(&one.place.rank).then_with(by_memory)
    });
    found
}

/// The part of a text in which an extract is looked for.
fn head_of(text: &str) -> &str {
    let most = EXTRACT_FROM_CHARS.unsigned_abs() as usize;
    if text.len() <= most {
        return text;
    }
    text.char_indices()
        .nth(most)
        .map_or(text, |(end, _)| &text[..end])
}

/// What is shown of a document that is at hand.
async fn shown_of(extractor: &Extractor<'_>, found: &SearchMatch, head: &CachedHead) -> SearchResult {
    let (of, text) = (&head.context.metadata, head_of(&head.context.text));
    shown(extractor, found, &of.context_id, of.creation_time, text).await
}

/// What is shown of a document.
async fn shown(
    extractor: &Extractor<'_>,
    found: &SearchMatch,
    context_id: &ContextId,
    creation_time: DateTime<Utc>,
    text: &str,
) -> SearchResult {
    let shown = || {
        let (extract, byte) = extractor.extract(text);
        let (record, section) = byte.map_or((None, None), |byte| place_of(text, byte));
        (extract, record, section)
    };
    let (extract, record, section) = fair::on_cpu(text.len(), shown).await;
    SearchResult {
        place: found.place.clone(),
        version: found.version,
        context_id: context_id.clone(),
        creation_time,
        extract,
        record,
        section,
    }
}

/// What the index finds of a vault, ranked; of many the ones changed last.
async fn ranked(
    connection: &mut Connection,
    vault: &VaultId,
    query: &Query,
    after: Option<&SearchPlace>,
) -> Result<Vec<SearchMatch>, StorageError> {
    let rows = sqlx::query!(
        r#"WITH found AS MATERIALIZED (
             SELECT memory_id, version, words
             FROM (
               SELECT memory_id, version, words
               FROM search_entries
               WHERE vault_id = $1 AND words @@ $2::text::tsquery
               ORDER BY creation_time DESC, memory_id
               LIMIT $7
             ) AS candidates
             WHERE NOT $8::boolean OR words @@ $3::text::tsquery
             LIMIT $6
           ), ranked AS MATERIALIZED (
             -- A query is read once where it is asked for by itself, and for each row otherwise.
             SELECT memory_id, version, ts_rank(words, (SELECT $3::text::tsquery), 1) AS rank FROM found
           )
           SELECT memory_id AS "memory_id: MemoryId", version, rank AS "rank!"
           FROM ranked
           WHERE $4::real IS NULL OR rank < $4 OR (rank = $4 AND memory_id > $5)
           ORDER BY rank DESC, memory_id"#,
        vault.as_str(),
        query.candidates(vault),
        query.tsquery(),
        after.map(|after| after.rank),
        after.map(|after| after.memory.as_str()),
        RANKED,
        if query.has_neighbours() { READ } else { RANKED },
        query.has_neighbours(),
    )
    .fetch_all(connection)
    .await?;
    let found = |(memory, version, rank)| SearchMatch {
        place: SearchPlace { rank, memory },
        version,
    };
    Ok(rows
        .into_iter()
        .map(|row| found((row.memory_id, row.version, row.rank)))
        .collect())
}
