//! Searches for memories of a vault, by text, by meaning, or by both.

mod candidate;
mod hit;
mod request;

use super::Meaning;
use super::query::EmbeddedQuery;
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::domain::search::fused;
use crate::domain::search::{Query, ranked};
use crate::storage::search::SearchPlace;
use crate::storage::search::vectors::{Near, Nearest, PassageFilter};
use crate::storage::{Class, StorageError};
pub use candidate::Candidate;
pub(super) use candidate::wanted;
pub use hit::{Hit, HitPassage};
pub use request::{Mode, SearchRequest};
use std::collections::HashMap;

/// How many documents with matching text are considered when they are only a part of the result.
const BY_WORDS: i64 = 100;

/// How many passages are considered. With a filter that is evaluated on their rows, this limit applies before the
/// filter.
pub(super) const BY_MEANING: usize = 400;

/// How often a search is repeated when the current model changes meanwhile.
const TRIES: u32 = 3;

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults<T> {
    /// The matches, best first.
    pub found: Vec<T>,
    /// The mode that was used.
    pub mode: Mode,
    /// Why it differs from the requested mode.
    pub degraded: Option<String>,
}

impl Meaning {
    /// The memories of a vault that match, best first, after the position `after`.
    ///
    /// # Errors
    /// Database errors. An unavailable model is not an error.
    pub async fn search(
        &self,
        request: &SearchRequest<'_>,
        after: Option<&SearchPlace>,
    ) -> Result<SearchResults<Candidate>, StorageError> {
        let (mode, degraded, near) = self.by_meaning(request, None).await?;
        let query = Query::parse(request.text);
        let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
        if mode == Mode::Text && request.filter == PassageFilter::active() {
            let found = self.storage.search(request.vault, &query, after, limit).await?;
            let found = found.into_iter().map(|found| Candidate {
                by_text: Some(found.version),
                place: found.place,
                near: None,
            });
            let found = found.collect();
            return Ok(SearchResults {
                found,
                mode,
                degraded,
            });
        }
        let mut by_text: Vec<(MemoryId, i64)> = Vec::new();
        if mode != Mode::Semantic {
            for found in self.storage.search(request.vault, &query, None, BY_WORDS).await? {
                if self.holds(request, &query, &found.place.memory).await? {
                    by_text.push((found.place.memory, found.version));
                }
            }
        }
        let mut best: Vec<Near> = Vec::new();
        for near in near {
            if !best.iter().any(|better| better.memory == near.memory) {
                best.push(near);
            }
        }
        let lists = [
            by_text.iter().map(|(memory, _)| memory.clone()).collect(),
            best.iter().map(|near| near.memory.clone()).collect(),
        ];
        let mut versions: HashMap<MemoryId, i64> = by_text.into_iter().collect();
        let mut nearest: HashMap<MemoryId, Near> =
            best.into_iter().map(|near| (near.memory.clone(), near)).collect();
        let candidate = |(memory, counts): (MemoryId, f32)| {
            let near = nearest.remove(&memory);
            let rank = match (&near, mode) {
                (Some(near), Mode::Semantic) => near.score,
                _ => counts,
            };
            Candidate {
                by_text: versions.remove(&memory),
                place: SearchPlace { rank, memory },
                near,
            }
        };
        let all: Vec<Candidate> = fused(&lists).into_iter().map(candidate).collect();
        let begin = after.map_or(0, |after| {
            let same = all.iter().position(|found| found.place.memory == after.memory);
            let next_by_rank = || all.iter().position(|found| found.place.rank < after.rank);
            same.map_or_else(|| next_by_rank().unwrap_or(all.len()), |place| place + 1)
        });
        let found = all.into_iter().skip(begin).take(request.limit).collect();
        Ok(SearchResults {
            found,
            mode,
            degraded,
        })
    }

    /// The similar passages, the mode that was used, and why it differs from the requested one.
    pub(super) async fn by_meaning(
        &self,
        request: &SearchRequest<'_>,
        memory: Option<&MemoryId>,
    ) -> Result<(Mode, Option<String>, Vec<Near>), StorageError> {
        let default = if self.is_configured() {
            Mode::Hybrid
        } else {
            Mode::Text
        };
        let mode = request.mode.unwrap_or(default);
        if mode == Mode::Text {
            return Ok((mode, None, Vec::new()));
        }
        let mut tries = 1;
        loop {
            let EmbeddedQuery { space, vector } = match self.embed_query(request.vault, request.text).await? {
                Ok(embedded) => embedded,
                Err(why) => return Ok((Mode::Text, Some(why.to_string()), Vec::new())),
            };
            let wanted = Nearest {
                vault: request.vault,
                memory,
                space: &space.id,
                query: &vector,
                filter: &request.filter,
                limit: BY_MEANING,
            };
            let mut near = self.storage.nearest_passages(wanted).await?;
            // If another model has become current, vectors of this one may have been deleted meanwhile.
            if tries == TRIES || self.answers_still(&space).await? {
                if let Some(least) = request.min_score {
                    near.retain(|near| near.score >= least);
                }
                return Ok((mode, None, near));
            }
            tries += 1;
        }
    }

    /// Whether a document with matching text has the match in a passage that the filter accepts.
    async fn holds(
        &self,
        request: &SearchRequest<'_>,
        query: &Query,
        memory: &MemoryId,
    ) -> Result<bool, StorageError> {
        if request.filter == PassageFilter::active() {
            return Ok(true);
        }
        let sources = self
            .storage
            .search_sources(request.vault, memory, Class::Search)
            .await?;
        Ok(sources.is_some_and(|sources| {
            let wanted: Vec<String> = wanted(&sources, &request.filter)
                .map(|(passage, _)| passage.text)
                .collect();
            let texts: Vec<&str> = wanted.iter().map(String::as_str).collect();
            !ranked(query, &texts).is_empty()
        }))
    }

    /// Builds the results of matching memories. Memories that were deleted meanwhile are omitted.
    ///
    /// # Errors
    /// Database errors.
    pub async fn show(
        &self,
        request: &SearchRequest<'_>,
        found: Vec<Candidate>,
    ) -> Result<Vec<Hit>, StorageError> {
        let query = Query::parse(request.text);
        let mut hits = Vec::with_capacity(found.len());
        if found.iter().all(|found| found.near.is_none()) && request.filter == PassageFilter::active() {
            let matches: Vec<_> = found
                .into_iter()
                .filter_map(|found| {
                    let version = found.by_text?;
                    Some(crate::storage::search::SearchMatch {
                        place: found.place,
                        version,
                    })
                })
                .collect();
            let results = self
                .storage
                .search_results(request.vault, &query, &matches)
                .await?;
            hits.extend(results.into_iter().map(Hit::from));
        } else {
            for found in found {
                let memory = &found.place.memory;
                let sources = self
                    .storage
                    .search_sources(request.vault, memory, Class::Search)
                    .await?;
                hits.extend(sources.and_then(|sources| Hit::of(request, &query, found, &sources)));
            }
        }
        self.with_origins(request.vault, hits).await
    }

    /// Adds the origins of the records to the results.
    pub(super) async fn with_origins(
        &self,
        vault: &VaultId,
        mut hits: Vec<Hit>,
    ) -> Result<Vec<Hit>, StorageError> {
        let records: Vec<(&MemoryId, i64, RecordId)> = hits
            .iter()
            .filter_map(|hit| Some((&hit.memory, hit.version, hit.passage.record?)))
            .collect();
        let mut origins = self.storage.record_origins(vault, &records).await?;
        for hit in &mut hits {
            if let Some(record) = hit.passage.record {
                hit.passage.origin = origins.remove(&(hit.memory.clone(), record));
            }
        }
        Ok(hits)
    }
}

impl PassageFilter {
    /// The default filter: what the newest documents contain.
    #[must_use]
    pub fn active() -> Self {
        Self {
            status: Some(crate::storage::records::RecordStatus::Active),
            ..Self::default()
        }
    }
}
