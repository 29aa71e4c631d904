//! `DELETE M/updates/{update_id}`

use super::view::RunBody;
use crate::domain::ids::UpdateId;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::updates::queue::Cancelled;
use axum::Json;
use axum::extract::State;

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
