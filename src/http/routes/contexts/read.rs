//! `GET M/context`, `GET M/contexts` and `GET M/contexts/{ref}`

use super::view::{self, ContextBody, SectionParams};
use crate::domain::ids::{MemoryId, VaultId};
use crate::http::extract::accept::Representation;
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::freshness::{Freshness, FreshnessHeader};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{EntryPath, MemoryPath};
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::storage::{Context, ContextRef, StorageError};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// Which state of the document to show.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LatestParams {
    /// The version that was the newest at this time, which must not lie in the future.
    as_of: Option<DateTime<Utc>>,
}

impl FromQuery for LatestParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            as_of: query.time("as_of")?,
        })
    }
}

/// Read the document
///
/// The newest version, or the one of a time. The text is the answer's body; with `Accept: application/json` it
/// stands in an envelope. Each representation has its own entity tag, and all of them are taken in `If-Match`.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/context",
    operation_id = "GetLatestContext",
    tag = "contexts",
    params(SectionParams, LatestParams, ConditionHeaders, FreshnessHeader),
    responses(
        (status = 200, description = "The text.", headers(
            ("ETag" = String, description = "Strong; of the text it is the context_id in double quotes."),
            ("Last-Modified" = String, description = "When the version was made."),
            ("X-Context-Version" = i64, description = "Its number."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (ContextBody = "application/json"),
        )),
        (status = 304, description = "The client has it already."),
        (status = 404, description = "There is no such memory, no version at that time, or no such section."),
        (status = 406, description = "No acceptable representation"),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn latest(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(params): Query<(SectionParams, LatestParams)>,
    representation: Representation,
    conditions: Conditions,
    freshness: Freshness,
) -> Result<Response, Problem> {
    let (SectionParams { section }, LatestParams { as_of }) = params;
    let context = match as_of {
        Some(time) if time > state.clock.now() => {
            return Err(Problem::invalid("as_of", "as_of must not lie in the future"));
        }
        Some(time) => match state.storage.context_as_of(&vault_id, &memory_id, time).await? {
            Some(context) => Arc::new(context),
            None if state.storage.memory_exists(&vault_id, &memory_id).await? => {
                return Err(
                    Problem::not_found("the memory had no version at that time").with("field", "as_of")
                );
            }
            None => return Err(lookup::missing()),
        },
        None => newest(&state, &vault_id, &memory_id, freshness)
            .await?
            .ok_or_else(lookup::missing)?,
    };
    view::answer(&state, context, section.as_deref(), representation, &conditions)
}

async fn newest(
    state: &AppState,
    vault: &VaultId,
    memory: &MemoryId,
    freshness: Freshness,
) -> Result<Option<Arc<Context>>, StorageError> {
    match freshness {
        Freshness::Recent => state.storage.recent_context(vault, memory).await,
        Freshness::Latest => Ok(state.storage.latest_context(vault, memory).await?.map(Arc::new)),
    }
}

/// Read one version
///
/// By its number or its context_id, as text or as JSON.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}",
    operation_id = "GetContext",
    tag = "contexts",
    params(SectionParams, ConditionHeaders),
    responses(
        (status = 200, description = "The text.", headers(
            ("ETag" = String, description = "Strong; of the text it is the context_id in double quotes."),
            ("Last-Modified" = String, description = "When the version was made."),
            ("X-Context-Version" = i64, description = "Its number."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/plain; charset=utf-8"),
            (String = "text/markdown; charset=utf-8"),
            (ContextBody = "application/json"),
        )),
        (status = 304, description = "The client has it already."),
        (status = 404, description = "There is no such memory, version or section."),
        (status = 406, description = "No acceptable representation"),
        (status = 410, description = "The version was redacted."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<ContextRef>,
    Query(SectionParams { section }): Query<SectionParams>,
    representation: Representation,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let context = state
        .storage
        .context(&vault_id, &memory_id, &entry)
        .await?
        .ok_or_else(lookup::no_such_version)?;
    view::answer(
        &state,
        context.into(),
        section.as_deref(),
        representation,
        &conditions,
    )
}

/// List the versions
///
/// The newest first, without their texts.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts",
    operation_id = "ListContexts",
    tag = "contexts",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<ContextBody>),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<ContextBody>>, Problem> {
    let name = format!("contexts/{vault_id}/{memory_id}");
    let before = page.after::<i64>(&name)?;
    let _list = state.budget.list().await?;
    let versions = state
        .storage
        .list_contexts(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if versions.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let cap = state.settings.context_bytes;
    Ok(Json(page.of_rows(
        &name,
        versions,
        |version| version.version,
        |version| ContextBody::of(&version, cap),
    )))
}
