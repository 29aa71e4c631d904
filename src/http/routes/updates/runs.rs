//! `GET M/updates`, and `GET` and `DELETE` of `M/updates/{update_id}`

use super::view::RunBody;
use crate::domain::ids::UpdateId;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{EntryPath, MemoryPath};
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::storage::updates::queue::Cancelled;
use axum::Json;
use axum::extract::State;

/// List the runs
///
/// The newest first, without what the models were asked and answered.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates",
    operation_id = "ListUpdates",
    tag = "updates",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<RunBody>),
        (status = 404, description = "There is no such memory, nor a run that tried to make it."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<RunBody>>, Problem> {
    let name = format!("updates/{vault_id}/{memory_id}");
    let before = page.after::<UpdateId>(&name)?;
    let _list = state.budget.list().await?;
    let runs = state
        .storage
        .list_runs(&vault_id, &memory_id, before.as_ref(), page.fetch())
        .await?;
    if runs.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of_rows(
        &name,
        runs,
        |run| run.update_id.clone(),
        RunBody::summary,
    )))
}

/// Read one run
///
/// With the prompts, the raw answers, the tokens and the times.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}",
    operation_id = "GetUpdate",
    tag = "updates",
    responses(
        (status = 200, description = "The run.", body = RunBody),
        (status = 404, description = "There is no such memory or run."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<UpdateId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<RunBody>, Problem> {
    let run = state.storage.run(&vault_id, &memory_id, &entry).await?;
    let run =
        run.ok_or_else(|| Problem::not_found("there is no such memory or run").with("field", "update_id"))?;
    Ok(Json(RunBody::full(run)))
}

/// Call an update off
///
/// One that is queued or running is cancelled at once and saves nothing any more; a model that is being asked for it
/// may answer for nobody. One that has ended stays as it is.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}",
    operation_id = "CancelUpdate",
    tag = "updates",
    responses(
        (status = 200, description = "It is cancelled; its run.", body = RunBody),
        (status = 404, description = "There is no such memory or run."),
        (status = 409, description = "It has ended; `run_status` says how."),
    )
)]
pub(crate) async fn cancel(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<UpdateId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<RunBody>, Problem> {
    match state.storage.cancel_update(&vault_id, &memory_id, &entry).await? {
        Cancelled::Done(run) => Ok(Json(RunBody::full(*run))),
        Cancelled::Unknown => {
            Err(Problem::not_found("there is no such memory or run").with("field", "update_id"))
        }
        Cancelled::Ended(status) => Err(Problem::new(
            Kind::Conflict,
            format!("the update has ended already: it is {}", status.name()),
        )
        .with("field", "update_id")
        .with("run_status", status.name())),
    }
}
