//! Searches inside one memory: its records, including archived ones, and the other text of its newest document.

use super::search::{Hit, HitPassage, SearchRequest, SearchResults, wanted};
use super::{Meaning, Mode};
use crate::domain::ids::{MemoryId, RecordId, VaultId};
use crate::domain::search::fused;
use crate::domain::search::{Passage, PassageHash, Query, extract, ranked};
use crate::fair;
use crate::storage::search::vectors::{PassageFilter, SourceRecord, Sources};
use crate::storage::{Class, StorageError};
use std::collections::{BTreeMap, HashMap};

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
        let Some(sources) = self
            .storage
            .search_sources(request.vault, memory, Class::Search)
            .await?
        else {
            return Ok(None);
        };
        let (mode, degraded, near) = self.by_meaning(request, Some(memory)).await?;
        let scores: HashMap<PassageHash, f32> = near.iter().map(|near| (near.hash, near.score)).collect();
        let bytes = sources.text.len()
            + sources
                .records
                .iter()
                .map(|record| record.content.len())
                .sum::<usize>();
        let look = || {
            let order: Vec<PassageHash> = near.iter().map(|near| near.hash).collect();
            hits(request, mode, memory, &sources, &order, &scores)
        };
        let mut found = fair::on_cpu(bytes, look).await;
        found.truncate(request.limit);
        let found = self.with_origins(request.vault, found).await?;
        Ok(Some(SearchResults {
            found,
            mode,
            degraded,
        }))
    }
}

/// The maximum number of similar records in a prompt.
const NEAR_RECORDS: usize = 10;

/// The similarity of each record in thousandths, and the reason if there are none.
pub type NearRecords = (BTreeMap<RecordId, u16>, Option<String>);

impl Meaning {
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
            filter: PassageFilter::active(),
            limit: NEAR_RECORDS,
        };
        let (_, degraded, near) = self.by_meaning(&request, Some(memory)).await?;
        let mut records = BTreeMap::new();
        for near in near {
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
    near: &[PassageHash],
    scores: &HashMap<PassageHash, f32>,
) -> Vec<Hit> {
    let query = Query::parse(request.text);
    let passages: Vec<(Passage, Option<&SourceRecord>)> = wanted(sources, &request.filter).collect();
    let texts: Vec<&str> = passages
        .iter()
        .map(|(passage, _)| passage.text.as_str())
        .collect();
    let by_text = match mode {
        Mode::Semantic => Vec::new(),
        Mode::Text | Mode::Hybrid => ranked(&query, &texts),
    };
    let places: HashMap<PassageHash, usize> = passages
        .iter()
        .enumerate()
        .map(|(place, (passage, _))| (passage.hash(), place))
        .collect();
    let by_meaning: Vec<usize> = near.iter().filter_map(|hash| places.get(hash).copied()).collect();
    let counts: HashMap<usize, f32> = by_text.iter().copied().collect();
    let lists = [by_text.iter().map(|(place, _)| *place).collect(), by_meaning];
    let mut returned = Vec::new();
    let mut hits = Vec::new();
    for (place, fused) in fused(&lists) {
        let (passage, _) = &passages[place];
        // A long record has several passages, but is returned once.
        if passage.record.is_some() && returned.contains(&passage.record) {
            continue;
        }
        returned.push(passage.record);
        let score = scores.get(&passage.hash()).copied();
        let rank = match mode {
            Mode::Text => counts.get(&place).copied(),
            Mode::Semantic => score,
            Mode::Hybrid => Some(fused),
        };
        hits.push(Hit {
            memory: memory.clone(),
            version: sources.version,
            context_id: sources.context_id.clone(),
            creation_time: sources.creation_time,
            rank: rank.unwrap_or_default(),
            extract: extract(&passage.text, &query),
            by_text: counts.contains_key(&place),
            score,
            passage: HitPassage {
                record: passage.record,
                section: passage.section.clone(),
                origin: None,
            },
        });
    }
    hits
}
