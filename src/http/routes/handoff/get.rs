//! `GET M/handoff`

use super::view::{HandoffBody, OFFERED, answer};
use crate::domain::handoff::preface;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::pipeline::judge;
use axum::extract::State;
use axum::response::Response;

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
