//! `GET /v1/vaults/{vault_id}/search`

use crate::domain::search::Query as Words;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::VaultPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::search::{SearchPlace, SearchResult};
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// The longest query.
const MAX_QUERY_BYTES: usize = 1_000;

/// What to search for.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// Words that the document has, as in a web search: `"…"` next to each other, `or` either of them, `-` not. The
    /// last word may be the beginning of one. At most 1,000 bytes.
    #[param(
        min_length = 1,
        max_length = 1000,
        pattern = r"\S",
        example = "parser -legacy"
    )]
    q: String,
    /// Also find what was written in this moment: searches lag behind writes by less than a second otherwise.
    consistent: Option<bool>,
}

impl FromQuery for SearchParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        let q = query.text("q")?.unwrap_or_default();
        if q.trim().is_empty() {
            return Err(Problem::invalid("q", "q must hold the words to search for"));
        }
        if q.len() > MAX_QUERY_BYTES {
            let detail = format!("q has {} bytes; at most {MAX_QUERY_BYTES} are taken", q.len());
            return Err(Problem::invalid("q", detail)
                .with("limit", MAX_QUERY_BYTES)
                .with("actual", q.len()));
        }
        Ok(Self {
            q,
            consistent: query.flag("consistent")?,
        })
    }
}

/// A document that was found.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = SearchResult)]
pub(crate) struct SearchBody {
    /// The memory.
    memory_id: String,
    /// Its newest version.
    #[schema(minimum = 1)]
    version: i64,
    /// That version's id.
    context_id: String,
    /// When it was made.
    creation_time: DateTime<Utc>,
    /// How well it fits; the larger the better. Comparable within one search only.
    #[schema(minimum = 0)]
    rank: f32,
    /// A part of the text as HTML: the words searched for stand in `<mark>…</mark>`, everything else is escaped.
    #[schema(example = "ship the <mark>parser</mark> &amp; its tests")]
    extract: String,
}

impl From<SearchResult> for SearchBody {
    fn from(result: SearchResult) -> Self {
        Self {
            memory_id: result.place.memory.to_string(),
            version: result.version,
            context_id: result.context_id.to_string(),
            creation_time: result.creation_time,
            rank: result.place.rank,
            extract: result.extract,
        }
    }
}

/// Search the newest documents
///
/// The newest versions of the vault's memories that have the words, best first. Of more than 500 that have them the 500
/// that were changed last are ranked; words next to each other are looked for in the 3,000 documents changed last
/// that have them.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/search",
    operation_id = "SearchContexts",
    tag = "search",
    params(SearchParams, Page),
    responses((status = 200, description = "One page.", body = List<SearchBody>))
)]
pub(crate) async fn search(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(params): Query<(SearchParams, Page)>,
) -> Result<Json<List<SearchBody>>, Problem> {
    let (SearchParams { q, consistent }, page) = params;
    let name = format!("search/{vault_id}/{q}");
    let after = page.after::<SearchPlace>(&name)?;
    if consistent.unwrap_or(false) {
        state.storage.index_vault(&vault_id).await?;
    }
    let words = Words::parse(&q);
    let results = state
        .storage
        .search(&vault_id, &words, after.as_ref(), page.fetch())
        .await?;
    Ok(Json(page.of(
        &name,
        results,
        |result| result.place.clone(),
        SearchBody::from,
    )))
}
