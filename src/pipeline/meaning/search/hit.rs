//! The result that is returned for a match.

use super::candidate::{Candidate, wanted};
use super::request::SearchRequest;
use crate::domain::ids::{ContextId, MemoryId, RecordId};
use crate::domain::search::{Passage, Query, extract, ranked};
use crate::storage::search::SearchResult;
use crate::storage::search::vectors::{RecordOrigin, SourceRecord, Sources};
use chrono::{DateTime, Utc};

/// Where in a memory the match is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HitPassage {
    /// Its record.
    pub record: Option<RecordId>,
    /// Its section, if known.
    pub section: Option<String>,
    /// The origin of the record.
    pub origin: Option<RecordOrigin>,
}

/// A match.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its memory.
    pub memory: MemoryId,
    /// That memory's newest version.
    pub version: i64,
    /// The id of that version.
    pub context_id: ContextId,
    /// When that version was created.
    pub creation_time: DateTime<Utc>,
    /// The rank; higher is better.
    pub rank: f32,
    /// An extract of the text as HTML.
    pub extract: String,
    /// Whether the text matched.
    pub by_text: bool,
    /// The similarity to the query, if it matched by meaning.
    pub score: Option<f32>,
    /// Where in the memory the match is.
    pub passage: HitPassage,
}

impl From<SearchResult> for Hit {
    fn from(result: SearchResult) -> Self {
        Self {
            memory: result.place.memory,
            version: result.version,
            context_id: result.context_id,
            creation_time: result.creation_time,
            rank: result.place.rank,
            extract: result.extract,
            by_text: true,
            score: None,
            passage: HitPassage {
                record: result.record,
                section: result.section,
                origin: None,
            },
        }
    }
}

impl Hit {
    /// The matching passage of a memory; `None` if the memory no longer contains it.
    pub(super) fn of(
        request: &SearchRequest<'_>,
        query: &Query,
        found: Candidate,
        sources: &Sources,
    ) -> Option<Self> {
        let passages: Vec<(Passage, Option<&SourceRecord>)> = wanted(sources, &request.filter).collect();
        let texts: Vec<&str> = passages
            .iter()
            .map(|(passage, _)| passage.text.as_str())
            .collect();
        let near = found.near.as_ref();
        let by_meaning = near.and_then(|near| {
            passages
                .iter()
                .position(|(passage, _)| passage.hash() == near.hash)
        });
        let best = by_meaning.or_else(|| ranked(query, &texts).first().map(|(place, _)| *place));
        let is_there = by_meaning.is_some();
        if !is_there && found.by_text.is_none() {
            return None;
        }
        let passage = best
            .and_then(|best| passages.get(best))
            .map(|(passage, _)| passage);
        let text = passage.map_or(sources.text.as_str(), |passage| passage.text.as_str());
        Some(Self {
            memory: found.place.memory,
            version: sources.version,
            context_id: sources.context_id.clone(),
            creation_time: sources.creation_time,
            rank: found.place.rank,
            extract: extract(text, query),
            by_text: found.by_text.is_some(),
            score: found.near.filter(|_| is_there).map(|near| near.score),
            passage: HitPassage {
                record: passage.and_then(|passage| passage.record),
                section: passage.and_then(|passage| passage.section.clone()),
                origin: None,
            },
        })
    }
}
