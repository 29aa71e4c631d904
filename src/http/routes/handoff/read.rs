//! `GET M/handoff`, `GET M/handoff/status`, `GET M/handoffs` and `GET M/handoffs/{handoff_id}`

use super::view::{HandoffBody, HandoffEntry, OFFERED, answer};
use crate::domain::handoff::{Freshness, preface};
use crate::domain::ids::HandoffId;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{EntryPath, MemoryPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::pipeline::judge;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// Read the handoff
///
/// The newest one: its freshness, judged now, above the Markdown as it was made; or both as JSON. Reading never
/// makes it fresh.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff",
    operation_id = "GetHandoff",
    tag = "handoff",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The handoff.", headers(
            ("ETag" = String, description = "Strong; another one as soon as the freshness is."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (HandoffBody = "application/json"),
        )),
        (status = 304, description = "The client has it already."),
        (status = 404, description = "There is no such memory, or it has no handoff yet: then `freshness` is `missing`."),
        (status = 406, description = "No acceptable representation"),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&OFFERED)?;
    let Some(handoff) = state.storage.latest_handoff(&vault_id, &memory_id).await? else {
        lookup::require(&state, &vault_id, &memory_id).await?;
        return Err(Problem::not_found(
            "the memory has no handoff yet: make one with POST …/handoff/refresh",
        )
        .with("freshness", "missing"));
    };
    let freshness = judge(&state.storage, &handoff).await?;
    let id = handoff.handoff_id.clone();
    let body = match representation {
        Representation::Json => {
            serde_json::to_string(&HandoffBody::of(handoff, &freshness, None)).map_err(Problem::internal)?
        }
        _ => {
            let mut text = preface(&freshness, handoff.generated_at, handoff.base_version);
            text.push_str(&handoff.markdown);
            text
        }
    };
    answer(id.as_str(), body, representation, &conditions)
}

/// Whether the newest handoff can be relied on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = HandoffStatus)]
pub(crate) struct StatusBody {
    /// What is so now.
    #[serde(flatten)]
    freshness: Freshness,
    /// The handoff; null if there is none.
    #[schema(required)]
    handoff_id: Option<String>,
    /// The moment it shows.
    #[schema(required)]
    generated_at: Option<DateTime<Utc>>,
    /// How far back it looks, as a duration of ISO 8601.
    #[schema(required)]
    window: Option<String>,
}

/// Read the handoff's freshness
///
/// `missing` for a memory without a handoff.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff/status",
    operation_id = "GetHandoffStatus",
    tag = "handoff",
    responses(
        (status = 200, description = "The freshness.", body = StatusBody),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn status(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<StatusBody>, Problem> {
    let Some(handoff) = state.storage.latest_handoff(&vault_id, &memory_id).await? else {
        lookup::require(&state, &vault_id, &memory_id).await?;
        return Ok(Json(StatusBody {
            freshness: Freshness::missing(),
            handoff_id: None,
            generated_at: None,
            window: None,
        }));
    };
    let freshness = judge(&state.storage, &handoff).await?;
    Ok(Json(StatusBody {
        freshness,
        handoff_id: Some(handoff.handoff_id.to_string()),
        generated_at: Some(handoff.generated_at),
        window: Some(handoff.window.to_string()),
    }))
}

/// List the handoffs
///
/// Those that are kept (`handoff.keep`), the newest first, without their Markdown.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoffs",
    operation_id = "ListHandoffs",
    tag = "handoff",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<HandoffEntry>),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<HandoffEntry>>, Problem> {
    let name = format!("handoffs/{vault_id}/{memory_id}");
    let before = page.after::<i64>(&name)?;
    let handoffs = state
        .storage
        .list_handoffs(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if handoffs.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of(
        &name,
        handoffs,
        |handoff| handoff.number,
        HandoffEntry::from,
    )))
}

/// Read one handoff
///
/// The Markdown as it was made, or JSON with its manifest and its freshness now.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoffs/{handoff_id}",
    operation_id = "GetHandoffArtifact",
    tag = "handoff",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The handoff.", headers(
            ("ETag" = String, description = "Strong."),
            ("Vary" = String, description = "Accept"),
        ), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (HandoffBody = "application/json"),
        )),
        (status = 304, description = "The client has it already."),
        (status = 404, description = "There is no such memory or handoff."),
        (status = 406, description = "No acceptable representation"),
    )
)]
pub(crate) async fn artifact(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<HandoffId>,
    Query(NoParams): Query<NoParams>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&OFFERED)?;
    let handoff = state.storage.handoff(&vault_id, &memory_id, &entry).await?;
    let handoff = handoff.ok_or_else(|| {
        Problem::not_found("there is no such memory or handoff").with("field", "handoff_id")
    })?;
    let body = match representation {
        Representation::Json => {
            let freshness = judge(&state.storage, &handoff).await?;
            serde_json::to_string(&HandoffBody::of(handoff, &freshness, None)).map_err(Problem::internal)?
        }
        _ => handoff.markdown,
    };
    answer(entry.as_str(), body, representation, &conditions)
}
