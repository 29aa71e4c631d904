//! `GET M/handoffs/{handoff_id}`

use crate::domain::ids::HandoffId;
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::routes::handoff::view::{HandoffBody, OFFERED, answer};
use crate::http::state::AppState;
use crate::pipeline::judge;
use axum::extract::State;
use axum::response::Response;

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
pub(crate) async fn get(
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
