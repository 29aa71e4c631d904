//! `GET /v1/vaults/{vault_id}/search` and `GET M/search`

mod params;
pub(in crate::http) mod view;

use params::{FilterParams, SearchParams};
use view::SearchPage;

use crate::http::extract::page::Page;
use crate::http::extract::path::{MemoryPath, VaultPath};
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::pipeline::meaning::{Hit, Mode, SearchRequest, SearchResults};
use crate::storage::records::RecordStatus;
use crate::storage::search::SearchPlace;
use axum::Json;
use axum::extract::State;

/// How many results of a search inside one memory can be paged through.
const INSIDE: usize = 500;

/// Search a vault
///
/// Memories by the words of their newest documents, by their meaning, or by both, best first; each with the place that
/// fits best. Of more than 500 that have the words the 500 that were changed last are ranked; words next to each other
/// are looked for in the 3,000 documents changed last that have them. By meaning the 400 nearest passages are found.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/search",
    operation_id = "SearchContexts",
    tag = "search",
    params(SearchParams, FilterParams, Page),
    responses(
        (status = 200, description = "One page.", body = SearchPage),
        (status = 422, description = "A parameter is not valid, or `mode` is `semantic` and no embeddings are configured."),
    )
)]
pub(crate) async fn search(
    State(state): State<AppState>,
    VaultPath { vault_id }: VaultPath,
    Query(params): Query<((SearchParams, FilterParams), Page)>,
) -> Result<Json<SearchPage>, Problem> {
    let ((search, filter), page) = params;
    let meaning = state.pipeline.meaning();
    search.check(meaning)?;
    let by_words_only = search.mode == Some(Mode::Text) || !meaning.is_configured();
    if by_words_only && filter.status != Some(RecordStatus::Active) {
        return Err(Problem::invalid(
            "status",
            "archived records of a vault are found by meaning; by words they are found in one memory: \
             GET …/memories/{memory_id}/search?status=all",
        ));
    }
    let name = format!("search/{vault_id}/{search:?}/{filter:?}");
    let after = page.after::<SearchPlace>(&name)?;
    if search.consistent {
        state.storage.index_vault(&vault_id).await?;
    } else {
        state.storage.note_search(&vault_id).await?;
    }
    let request = SearchRequest {
        vault: &vault_id,
        text: &search.q,
        mode: search.mode,
        min_score: search.min_score,
        filter: filter.into(),
        limit: usize::try_from(page.fetch()).unwrap_or(usize::MAX),
    };
    let SearchResults {
        found,
        mode,
        degraded,
    } = meaning.search(&request, after.as_ref()).await?;
    let mut page = page.of(&name, found, |found| found.place.clone(), |found| found);
    let hits = meaning.show(&request, page.take()).await?;
    Ok(Json(SearchPage::of(page.with(hits), mode, degraded)))
}

/// Search one memory
///
/// What the memory says: its records, archived ones too with `status=all`, and what its newest document says besides
/// them; by words, by meaning, or by both, best first. At most 500 are found, of the active records and the 5,000 added last.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/search",
    operation_id = "SearchMemory",
    tag = "search",
    params(SearchParams, FilterParams, Page),
    responses(
        (status = 200, description = "One page.", body = SearchPage),
        (status = 404, description = "There is no such memory."),
        (status = 422, description = "A parameter is not valid, or `mode` is `semantic` and no embeddings are configured."),
    )
)]
pub(crate) async fn search_memory(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(params): Query<((SearchParams, FilterParams), Page)>,
) -> Result<Json<SearchPage>, Problem> {
    let ((search, filter), page) = params;
    let meaning = state.pipeline.meaning();
    search.check(meaning)?;
    let name = format!("search/{vault_id}/{memory_id}/{search:?}/{filter:?}");
    let after = page.after::<usize>(&name)?.unwrap_or(0);
    let request = SearchRequest {
        vault: &vault_id,
        text: &search.q,
        mode: search.mode,
        min_score: search.min_score,
        filter: filter.into(),
        limit: INSIDE,
    };
    let Some(answer) = meaning.search_memory(&request, &memory_id).await? else {
        return Err(lookup::missing());
    };
    let SearchResults {
        found,
        mode,
        degraded,
    } = answer;
    let fetch = usize::try_from(page.fetch()).unwrap_or(usize::MAX);
    let hits: Vec<(usize, Hit)> = (1..).zip(found).skip(after).take(fetch).collect();
    let page = page.of(&name, hits, |(place, _)| *place, |(_, hit)| hit);
    Ok(Json(SearchPage::of(page, mode, degraded)))
}
