//! `GET /v1/vaults/{vault_id}/search` and `GET M/search`

use crate::domain::document::Until;
use crate::domain::evidence::Evidence;
use crate::domain::ids::{ActorId, RecordKind, VaultId};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{MemoryPath, Path, Query, VaultPath, time};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts;
use crate::http::routes::records::{StatusChoice, status_of};
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::meaning::{Candidate, Hit, Meaning, Mode, SearchRequest, SearchResults};
use crate::storage::records::RecordStatus;
use crate::storage::search::SearchPlace;
use crate::storage::search::vectors::PassageFilter;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How many results of a search inside one memory can be paged through.
const INSIDE: usize = 500;

/// Search a vault
///
/// Memories by the words of their newest documents, by their meaning, or by both, best first; each with the place that
/// fits best. Of more than 500 that have the words the 500 that were changed last are ranked; words next to each other
/// are looked for in the 3,000 documents changed last that have them. By meaning the 400 nearest passages are found;
/// beside them, and with a filter, by words the 100 memories that fit best.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/search",
    params(SearchParams, Page),
    responses(
        (status = 200, description = "One page.", body = SearchPage),
        (status = 422, description = "A parameter is not valid, or `mode` is `semantic` and no embeddings are configured."),
    )
)]
pub(crate) async fn search_contexts(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(search): Query<SearchParams>,
    page: Page,
) -> Result<Json<SearchPage>, Problem> {
    let meaning = state.pipeline.meaning();
    search.check(meaning)?;
    let limit = usize::try_from(page.fetch()).unwrap_or(usize::MAX);
    let after = page.after::<(Mode, SearchPlace)>()?;
    let (before, after) = after.unzip();
    let request = search.request(&vault_id, before, limit)?;
    let by_words_only = search.mode == Some(Mode::Text) || !meaning.is_configured();
    if by_words_only && request.filter.status != Some(RecordStatus::Active) {
        return Err(Problem::invalid(
            "status",
            "archived records of a vault are found by meaning; by words they are found in one memory: \
             GET …/memories/{memory_id}/search?status=all",
        ));
    }
    if search.consistent == Some(true) {
        state.storage.index_vault(&vault_id).await?;
    } else {
        state.storage.note_search(&vault_id).await?;
    }
    let SearchResults {
        found,
        mode,
        degraded,
    } = of_mode(before, meaning.search(&request, after.as_ref()).await?)?;
    let key = |found: &Candidate| (mode, found.place.clone());
    let List { items, next_cursor } = page.of(found, key, |found| found);
    let found = meaning.show(&request, items).await?;
    let items = found.into_iter().map(SearchBody::from).collect();
    Ok(Json(SearchPage {
        page: List { items, next_cursor },
        mode: mode.name().into(),
        degraded,
    }))
}

/// Search one memory
///
/// What the memory says: its records, archived ones too with `status=all`, and what its newest document says besides
/// them; by words, by meaning, or by both, best first. At most 500 are found, of the active records and the 5,000 added last.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/search",
    params(SearchParams, Page),
    responses(
        (status = 200, description = "One page.", body = SearchPage),
        (status = 422, description = "A parameter is not valid, or `mode` is `semantic` and no embeddings are configured."),
    )
)]
pub(crate) async fn search_memory(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(search): Query<SearchParams>,
    page: Page,
) -> Result<Json<SearchPage>, Problem> {
    let meaning = state.pipeline.meaning();
    search.check(meaning)?;
    let (before, after) = page.after::<(Mode, usize)>()?.unzip();
    let request = search.request(&vault_id, before, INSIDE)?;
    let answer = meaning.search_memory(&request, &memory_id).await?;
    let SearchResults {
        found,
        mode,
        degraded,
    } = of_mode(before, answer.ok_or_else(contexts::missing)?)?;
    let fetch = usize::try_from(page.fetch()).unwrap_or(usize::MAX);
    let hits: Vec<(usize, Hit)> = (1..).zip(found).skip(after.unwrap_or(0)).take(fetch).collect();
    let key = |(place, _): &(usize, Hit)| (mode, *place);
    Ok(Json(SearchPage {
        page: page.of(hits, key, |(_, hit)| hit.into()),
        mode: mode.name().into(),
        degraded,
    }))
}

/// What was found in the mode of the page before, if there is one: a place in one order is none in another.
fn of_mode<T>(before: Option<Mode>, results: SearchResults<T>) -> Result<SearchResults<T>, Problem> {
    match (before, &results.degraded) {
        (Some(_), Some(why)) => {
            let detail =
                format!("the pages before are of a search by meaning: {why}; try again, or without cursor");
            Err(Problem::new(Kind::Unavailable, detail).retry_after(5))
        }
        _ => Ok(results),
    }
}

/// The maximum length of the query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// What to search for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// Words as in a web search: `"…"` next to each other, `or` either of them, `-` not; the last word may be the
    /// beginning of one. By meaning it is taken as a sentence. At most 1,000 bytes.
    #[param(
        min_length = 1,
        max_length = 1000,
        pattern = r"\S",
        example = "parser -legacy"
    )]
    q: String,
    /// Also find by words what was written in this moment: searches lag behind writes by less than a second otherwise.
    consistent: Option<bool>,
    /// By words, by meaning, or by both. Without it by both where embeddings are configured, by words otherwise.
    #[param(inline)]
    mode: Option<Mode>,
    /// How like the query what is found by meaning has to be, from -1 to 1 (the cosine of the angle between their
    /// vectors; what is much depends on the model).
    #[param(value_type = Option<f32>, minimum = -1, maximum = 1)]
    min_score: Option<String>,
    /// Only records of this kind; without it all, and what documents say besides records.
    #[param(inline)]
    kind: Option<RecordKind>,
    /// What stands in the newest version, what did once, or both; `active` without it.
    #[param(inline)]
    status: Option<StatusChoice>,
    /// Only what this actor wrote.
    actor: Option<ActorId>,
    /// Only what was written at this time or later.
    #[param(value_type = Option<DateTime<Utc>>)]
    since: Option<String>,
    /// Only what was written before this time.
    #[param(value_type = Option<DateTime<Utc>>)]
    until: Option<String>,
}

impl SearchParams {
    /// Rejects what the types do not exclude, and what the service cannot do with its configuration.
    fn check(&self, meaning: &Meaning) -> Result<(), Problem> {
        let q = &self.q;
        if q.trim().is_empty() {
            return Err(Problem::invalid("q", "q must contain the words to search for"));
        }
        if q.len() > MAX_QUERY_BYTES {
            return Err(fields::too_long("q", q.len(), MAX_QUERY_BYTES));
        }
        if self.min_score.is_some() && self.min_score().is_none() {
            return Err(Problem::invalid(
                "min_score",
                "min_score must be a number from -1 to 1",
            ));
        }
        if self.mode == Some(Mode::Semantic) && !meaning.is_configured() {
            return Err(Problem::invalid(
                "mode",
                "mode=semantic needs an embedding model: set embeddings.base_url and embeddings.model \
                 (WORKING_MEMORY__EMBEDDINGS__BASE_URL, WORKING_MEMORY__EMBEDDINGS__MODEL)",
            ));
        }
        if self.mode == Some(Mode::Text) && self.min_score.is_some() {
            return Err(Problem::invalid(
                "min_score",
                "min_score is of searches by meaning, and mode is text",
            ));
        }
        Ok(())
    }

    fn min_score(&self) -> Option<f32> {
        let score = self.min_score.as_ref()?.parse().ok();
        score.filter(|score| (-1.0..=1.0).contains(score))
    }

    /// The request, in the mode of the page before.
    fn request<'s>(
        &'s self,
        vault: &'s VaultId,
        before: Option<Mode>,
        limit: usize,
    ) -> Result<SearchRequest<'s>, Problem> {
        Ok(SearchRequest {
            vault,
            text: &self.q,
            mode: before.or(self.mode),
            min_score: self.min_score(),
            filter: PassageFilter {
                records_only: false,
                kind: self.kind,
                status: status_of(self.status),
                actor: self.actor.clone(),
                since: time("since", self.since.as_ref())?,
                until: time("until", self.until.as_ref())?,
            },
            limit,
        })
    }
}

/// One page of a search.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct SearchPage {
    /// What was found, best first.
    #[serde(flatten)]
    pub(crate) page: List<SearchBody>,
    /// How it was searched: `text`, `semantic` or `hybrid`.
    #[schema(example = "hybrid")]
    pub(crate) mode: Cow<'static, str>,
    /// Why it was searched by words although meaning was asked for; null where nothing is amiss.
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
    pub(crate) score: Option<f32>,
    /// The record that the extract is of; null for other text.
    #[schema(example = "KL-7")]
    pub(crate) record_id: Option<String>,
    /// The section that the extract is of, where it is not a record found by meaning.
    pub(crate) section: Option<String>,
    /// Whether the record stands in the newest version.
    pub(crate) status: Option<RecordStatus>,
    /// The version that brought the record.
    pub(crate) record_version: Option<i64>,
    /// When that was made.
    pub(crate) recorded_at: Option<DateTime<Utc>>,
    /// Who made it.
    pub(crate) recorded_by: Option<String>,
    /// Whether the record is pinned.
    pub(crate) pinned: Option<bool>,
    /// Until when the record holds: a date, the last day (UTC), or a time; null without an end.
    #[schema(value_type = Option<String>, example = "2027-08-31")]
    pub(crate) until: Option<Until>,
    /// What of the task and the messages carried the record into the memory.
    pub(crate) evidence: Vec<Evidence>,
}

impl From<Hit> for SearchBody {
    fn from(hit: Hit) -> Self {
        let by_text = hit.by_text.then_some(Mode::Text);
        let by_meaning = hit.score.map(|_| Mode::Semantic);
        let by = by_text.into_iter().chain(by_meaning);
        let origin = hit.origin.as_ref();
        Self {
            found_by: by.map(|mode| mode.name().into()).collect(),
            score: hit.score,
            record_id: hit.record.map(|record| record.to_string()),
            status: origin.map(|origin| origin.status),
            record_version: origin.map(|origin| origin.version),
            recorded_at: origin.map(|origin| origin.at),
            pinned: origin.map(|origin| origin.marks.pinned),
            until: origin.and_then(|origin| origin.marks.until),
            recorded_by: origin.map(|origin| origin.by.to_string()),
            evidence: origin.map_or_else(Vec::new, |origin| origin.evidence.clone()),
            section: hit.section,
            memory_id: hit.memory.to_string(),
            version: hit.version,
            context_id: hit.context_id.to_string(),
            creation_time: hit.creation_time,
            rank: hit.rank,
            extract: hit.extract,
        }
    }
}
