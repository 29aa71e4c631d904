//! Searches for memories of a vault, and inside one memory (its records, also archived ones, and the other text of its newest
//! document), by text, by meaning, or by both.

use crate::domain::history::RecordLife;
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::domain::listed;
use crate::domain::search::{Passage, PassageHash, Query, extract, fused, ranked};
use crate::fair;
use crate::pipeline::meaning::Meaning;
use crate::storage::records::RecordStatus;
use crate::storage::search::vectors::{Near, Nearest, PassageFilter, Sources};
use crate::storage::search::{Hit, SearchMatch, SearchPlace};
use crate::storage::{Class, StorageError};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// How many documents with matching text are considered when they are only a part of the result.
const BY_WORDS: i64 = 100;

/// How many passages are considered. With a filter that is evaluated on their rows, this limit applies before the
/// filter.
const BY_MEANING: usize = 400;

/// How often a search is repeated when the current model changes meanwhile.
const TRIES: u32 = 3;

/// The maximum number of similar records in a prompt.
const NEAR_RECORDS: usize = 10;

/// The similarity of each record in thousandths, and the reason if there are none.
pub type NearRecords = (BTreeMap<RecordId, u16>, Option<String>);

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
        let (near, mode, degraded) = self.by_meaning(request, None).await?;
        let query = Query::parse(request.text);
        let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
        if mode == Mode::Text && request.filter == PassageFilter::active() {
            let found = self.storage.search(request.vault, &query, after, limit).await?;
            let found = found.into_iter().map(|found| Candidate {
                by_text: Some(found.version),
                place: SearchPlace {
                    rank: found.rank,
                    memory: found.memory,
                },
                near: None,
            });
            return Ok(SearchResults {
                found: found.collect(),
                mode,
                degraded,
            });
        }
        let mut by_text: Vec<(MemoryId, i64)> = Vec::new();
        if mode != Mode::Semantic {
            for found in self.storage.search(request.vault, &query, None, BY_WORDS).await? {
                if self.holds(request, &query, &found.memory).await? {
                    by_text.push((found.memory, found.version));
                }
            }
        }
        let mut by_meaning: Vec<MemoryId> = Vec::new();
        let mut nearest: HashMap<MemoryId, Near> = HashMap::new();
        for near in near {
            if let Entry::Vacant(entry) = nearest.entry(near.memory.clone()) {
                by_meaning.push(near.memory.clone());
                entry.insert(near);
            }
        }
        let by_words = by_text.iter().map(|(memory, _)| memory.clone());
        let lists = [by_words.collect(), by_meaning];
        let mut versions: HashMap<MemoryId, i64> = by_text.into_iter().collect();
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

    /// The similar passages, the mode that is used, and why it differs from the requested one.
    async fn by_meaning(
        &self,
        request: &SearchRequest<'_>,
        memory: Option<&MemoryId>,
    ) -> Result<(Vec<Near>, Mode, Option<String>), StorageError> {
        let by_words = |degraded| (Vec::new(), Mode::Text, degraded);
        let default = || match self.is_configured() && !Query::parse(request.text).excludes() {
            true => Mode::Hybrid,
            false => Mode::Text,
        };
        let mode = request.mode.unwrap_or_else(default);
        if mode == Mode::Text {
            return Ok(by_words(None));
        }
        let mut tries = 1;
        loop {
            let (space, vector) = match self.embed_query(request.vault, request.text).await? {
                Ok(embedded) => embedded,
                Err(why) => return Ok(by_words(Some(why))),
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
                return Ok((near, mode, None));
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
        let sources = self.sources(request.vault, memory).await?;
        let Some(sources) = sources else { return Ok(false) };
        let look = || !ranked_of(query, &wanted(&sources, &request.filter)).is_empty();
        Ok(fair::on_cpu(sources.bytes(), look).await)
    }

    /// What a memory says.
    async fn sources(&self, vault: &VaultId, memory: &MemoryId) -> Result<Option<Sources>, StorageError> {
        self.storage.search_sources(vault, memory, Class::Search).await
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
        let is_by_words = found.iter().all(|found| found.near.is_none());
        if is_by_words && request.filter == PassageFilter::active() {
            let matches = found.into_iter().filter_map(|Candidate { place, by_text, .. }| {
                let version = by_text?;
                let SearchPlace { memory, rank } = place;
                Some(SearchMatch {
                    memory,
                    version,
                    rank,
                })
            });
            let matches: Vec<SearchMatch> = matches.collect();
            let hits = self.storage.search_results(request.vault, &query, &matches);
            return self.with_origins(request.vault, hits.await?).await;
        }
        let mut hits = Vec::with_capacity(found.len());
        for found in found {
            let sources = self.sources(request.vault, &found.place.memory).await?;
            let Some(sources) = sources else { continue };
            let look = || Hit::of(request, &query, found, &sources);
            hits.extend(fair::on_cpu(sources.bytes(), look).await);
        }
        self.with_origins(request.vault, hits).await
    }

    /// Adds the origins of the records to the results.
    async fn with_origins(&self, vault: &VaultId, mut hits: Vec<Hit>) -> Result<Vec<Hit>, StorageError> {
        let records: Vec<(&MemoryId, RecordId)> = hits
            .iter()
            .filter_map(|hit| Some((&hit.memory, hit.record?)))
            .collect();
        let mut origins = self.storage.record_origins(vault, &records).await?;
        for hit in &mut hits {
            if let Some(record) = hit.record {
                hit.origin = origins.remove(&(hit.memory.clone(), record));
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
            status: Some(RecordStatus::Active),
            ..Self::default()
        }
    }
}

/// A memory that matched, before its text is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its position in the order of results.
    pub place: SearchPlace,
    by_text: Option<i64>,
    near: Option<Near>,
}

/// A passage, and its record if it is one.
type Wanted<'s> = (Passage, Option<&'s RecordLife>);

/// The passages that the filter accepts.
fn wanted<'s>(sources: &'s Sources, filter: &PassageFilter) -> Vec<Wanted<'s>> {
    let is_wanted = |(_, record): &Wanted<'_>| match record {
        Some(record) => filter.takes_record(record),
        None => filter.takes_text(&sources.actor, sources.creation_time),
    };
    sources.passages().filter(is_wanted).collect()
}

/// Which of the passages match by words, best first.
fn ranked_of(query: &Query, passages: &[Wanted<'_>]) -> Vec<(usize, f32)> {
    let texts: Vec<&str> = passages
        .iter()
        .map(|(passage, _)| passage.text.as_str())
        .collect();
    ranked(query, &texts)
}

impl Hit {
    /// A match in this passage of a memory, or anywhere in its document. By words so far, and without a score.
    fn new(place: SearchPlace, sources: &Sources, passage: Option<&Passage>, query: &Query) -> Self {
        let text = passage.map_or(sources.text.as_str(), |passage| passage.text.as_str());
        Self {
            memory: place.memory,
            version: sources.version,
            context_id: sources.context_id.clone(),
            creation_time: sources.creation_time,
            rank: place.rank,
            extract: extract(text, query).0,
            by_text: true,
            score: None,
            record: passage.and_then(|passage| passage.record),
            section: passage.and_then(|passage| passage.section.clone()),
            origin: None,
        }
    }

    /// The matching passage of a memory; `None` if the memory no longer contains it.
    fn of(request: &SearchRequest<'_>, query: &Query, found: Candidate, sources: &Sources) -> Option<Self> {
        let passages = wanted(sources, &request.filter);
        let near = found.near.as_ref();
        let by_meaning = near.and_then(|near| {
            passages
                .iter()
                .position(|(passage, _)| passage.hash() == near.hash)
        });
        let best = by_meaning.or_else(|| ranked_of(query, &passages).first().map(|(place, _)| *place));
        let is_there = by_meaning.is_some();
        if !is_there && found.by_text.is_none() {
            return None;
        }
        let passage = best
            .and_then(|best| passages.get(best))
            .map(|(passage, _)| passage);
        Some(Self {
            by_text: found.by_text.is_some(),
            score: near.filter(|_| is_there).map(|near| near.score),
            ..Self::new(found.place, sources, passage, query)
        })
    }
}

/// The mode of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// By text.
    Text,
    /// By meaning.
    Semantic,
    /// By both.
    Hybrid,
}

listed! {
    /// The values of `mode`.
    Mode as "SearchMode";
}

impl Mode {
    /// The name in requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A search request.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// The vault to search.
    pub vault: &'a VaultId,
    /// The query text.
    pub text: &'a str,
    /// The mode; by default hybrid if a model is configured and the query excludes no words, text otherwise.
    pub mode: Option<Mode>,
    /// The minimum similarity of semantic matches.
    pub min_score: Option<f32>,
    /// Which passages are searched.
    pub filter: PassageFilter,
    /// The maximum number of results.
    pub limit: usize,
}

impl Meaning {
    /// Current and archived content of a memory that matches, best first, up to the ranking limit; `None` if the
    /// memory does not exist.
    ///
    /// # Errors
    /// Database errors. An unavailable model is not an error.
    pub async fn search_memory(
        &self,
        request: &SearchRequest<'_>,
        memory: &MemoryId,
    ) -> Result<Option<SearchResults<Hit>>, StorageError> {
        let sources = self.sources(request.vault, memory).await?;
        let Some(sources) = sources else { return Ok(None) };
        let (near, mode, degraded) = self.by_meaning(request, Some(memory)).await?;
        let look = || hits(request, mode, memory, &sources, &near);
        let found = fair::on_cpu(sources.bytes(), look).await;
        let found = self.with_origins(request.vault, found).await?;
        Ok(Some(SearchResults {
            found,
            mode,
            degraded,
        }))
    }

    /// The active records of a memory that are most similar to a query; none without a model.
    ///
    /// # Errors
    /// Database errors. An unavailable model is not an error.
    pub async fn near_records(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        query: &str,
    ) -> Result<NearRecords, StorageError> {
        if !self.is_configured() || query.trim().is_empty() {
            return Ok((BTreeMap::new(), None));
        }
        let request = SearchRequest {
            vault,
            text: query,
            mode: Some(Mode::Semantic),
            min_score: None,
            filter: PassageFilter {
                records_only: true,
                ..PassageFilter::active()
            },
            limit: NEAR_RECORDS,
        };
        let (found, _, degraded) = self.by_meaning(&request, Some(memory)).await?;
        let mut records = BTreeMap::new();
        for near in found {
            if let Some(record) = near.record
                && records.len() < NEAR_RECORDS
            {
                records.entry(record).or_insert_with(|| thousandths(near.score));
            }
        }
        Ok((records, degraded))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 1000"
)]
fn thousandths(similarity: f32) -> u16 {
    (similarity.clamp(0.0, 1.0) * 1_000.0).round() as u16
}

fn hits(
    request: &SearchRequest<'_>,
    mode: Mode,
    memory: &MemoryId,
    sources: &Sources,
    near: &[Near],
) -> Vec<Hit> {
    let query = Query::parse(request.text);
    let passages = wanted(sources, &request.filter);
    let by_text = match mode {
        Mode::Semantic => Vec::new(),
        Mode::Text | Mode::Hybrid => ranked_of(&query, &passages),
    };
    let mut places: HashMap<PassageHash, usize> = HashMap::new();
    if !near.is_empty() {
        let hashes = passages.iter().map(|(passage, _)| passage.hash());
        places.extend(hashes.zip(0..));
    }
    let by_meaning = near
        .iter()
        .filter_map(|near| Some((*places.get(&near.hash)?, near.score)));
    let by_meaning: Vec<(usize, f32)> = by_meaning.collect();
    let counts: HashMap<usize, f32> = by_text.iter().copied().collect();
    let scores: HashMap<usize, f32> = by_meaning.iter().copied().collect();
    let lists: [Vec<usize>; 2] =
        [by_text, by_meaning].map(|list| list.into_iter().map(|(place, _)| place).collect());
    let mut returned: HashSet<RecordId> = HashSet::new();
    let mut hits = Vec::new();
    for (place, fused) in fused(&lists) {
        if hits.len() == request.limit {
            break;
        }
        let (passage, _) = &passages[place];
        // A long record has several passages, but is returned once.
        if passage.record.is_some_and(|record| !returned.insert(record)) {
            continue;
        }
        let score = scores.get(&place).copied();
        let rank = match mode {
            Mode::Text => counts.get(&place).copied(),
            Mode::Semantic => score,
            Mode::Hybrid => Some(fused),
        };
        let found = SearchPlace {
            rank: rank.unwrap_or_default(),
            memory: memory.clone(),
        };
        hits.push(Hit {
            by_text: counts.contains_key(&place),
            score,
            ..Hit::new(found, sources, Some(passage), &query)
        });
    }
    hits
}
