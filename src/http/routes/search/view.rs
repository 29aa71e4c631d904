//! The JSON representation of search results.

use crate::domain::evidence::{Evidence, EvidenceForm};
use crate::http::extract::page::List;
use crate::http::names::{Named, RecordStatusName};
use crate::pipeline::meaning::{Hit, Mode};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One page of a search.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = SearchPage)]
pub(crate) struct SearchPage {
    /// What was found, best first.
    #[serde(flatten)]
    pub(crate) page: List<SearchBody>,
    /// How it was searched: `text`, `semantic` or `hybrid`.
    #[schema(example = "hybrid")]
    pub(crate) mode: Cow<'static, str>,
    /// Why it was searched by words although meaning was asked for; null where nothing is amiss.
    #[schema(required)]
    pub(crate) degraded: Option<String>,
}

/// Something that was found: in a search of a vault a memory, inside a memory a passage.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = SearchResult)]
pub(crate) struct SearchBody {
    /// The memory.
    pub(crate) memory_id: String,
    /// Its newest version.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// That version's id.
    pub(crate) context_id: String,
    /// When it was made.
    pub(crate) creation_time: DateTime<Utc>,
    /// How well it fits; the larger the better. Comparable within one search only.
    pub(crate) rank: f32,
    /// A part of the text as HTML: the words searched for stand in `<mark>…</mark>`, everything else is escaped.
    #[schema(example = "ship the <mark>parser</mark> &amp; its tests")]
    pub(crate) extract: String,
    /// Which searches found it: `text`, `semantic` or both.
    pub(crate) found_by: Vec<Cow<'static, str>>,
    /// How like the query the passage is, from -1 to 1; null where it was found by words only.
    #[schema(required)]
    pub(crate) score: Option<f32>,
    /// The record that the extract is of; null for other text.
    #[schema(required, example = "KL-7")]
    pub(crate) record_id: Option<String>,
    /// The section that the extract is of, where it is not a record found by meaning.
    #[schema(required)]
    pub(crate) section: Option<String>,
    /// Whether the record stands in the newest version.
    #[schema(required)]
    pub(crate) status: Option<RecordStatusName>,
    /// The version that brought the record.
    #[schema(required)]
    pub(crate) record_version: Option<i64>,
    /// When that was made.
    #[schema(required)]
    pub(crate) recorded_at: Option<DateTime<Utc>>,
    /// Who made it.
    #[schema(required)]
    pub(crate) recorded_by: Option<String>,
    /// What of the task and the messages carried the record into the memory.
    #[schema(value_type = Vec<EvidenceForm>)]
    pub(crate) evidence: Vec<Evidence>,
}

impl SearchPage {
    pub(super) fn of(page: List<Hit>, mode: Mode, degraded: Option<String>) -> Self {
        Self {
            page: page.map(SearchBody::from),
            mode: mode.name().into(),
            degraded,
        }
    }
}

impl From<Hit> for SearchBody {
    fn from(hit: Hit) -> Self {
        let by = [
            (hit.by_text, Mode::Text.name()),
            (hit.score.is_some(), Mode::Semantic.name()),
        ];
        let origin = hit.passage.origin.as_ref();
        Self {
            found_by: by
                .iter()
                .filter(|(found, _)| *found)
                .map(|(_, name)| (*name).into())
                .collect(),
            score: hit.score,
            record_id: hit.passage.record.map(|record| record.to_string()),
            status: origin.map(|origin| Named(origin.status)),
            record_version: origin.map(|origin| origin.version),
            recorded_at: origin.map(|origin| origin.at),
            recorded_by: origin.map(|origin| origin.by.to_string()),
            evidence: origin
                .iter()
                .flat_map(|origin| &origin.evidence)
                .cloned()
                .collect(),
            section: hit.passage.section,
            memory_id: hit.memory.to_string(),
            version: hit.version,
            context_id: hit.context_id.to_string(),
            creation_time: hit.creation_time,
            rank: hit.rank,
            extract: hit.extract,
        }
    }
}
