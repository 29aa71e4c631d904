//! `GET M/records/{record_id}`

use super::view::RecordBody;
use crate::domain::ids::RecordId;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// Read one record
///
/// Active or archived, with its birth, its end, and what of an update's input carried it.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/records/{record_id}",
    operation_id = "GetRecord",
    tag = "records",
    responses(
        (status = 200, description = "The record.", body = RecordBody),
        (status = 404, description = "There is no such memory or record."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<RecordId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<RecordBody>, Problem> {
    let record = state.storage.record(&vault_id, &memory_id, entry).await?;
    let record = record
        .ok_or_else(|| Problem::not_found("there is no such memory or record").with("field", "record_id"))?;
    let evidence = state.storage.evidence(&vault_id, &memory_id, &[entry]).await?;
    Ok(Json(RecordBody::with_evidence(record, evidence.get(&entry))))
}
