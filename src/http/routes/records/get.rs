//! `GET M/records/{record_id}`

use super::view::RecordBody;
use crate::domain::ids::RecordId;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// The maximum number of changes in a response; each is read from the text of its version.
const MAX_CHANGES: i64 = 50;

/// What to show of a record.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryParams {
    /// Whether to show what became of it, too: its newest 50 changes with what it said from then on.
    #[param(value_type = Option<bool>)]
    history: bool,
}

impl FromQuery for HistoryParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            history: query.flag("history")?.unwrap_or_default(),
        })
    }
}

/// Read one record
///
/// Active or archived, with its birth, its end, and what of an update's input carried it.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/records/{record_id}",
    operation_id = "GetRecord",
    tag = "records",
    params(HistoryParams),
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
    Query(HistoryParams { history }): Query<HistoryParams>,
) -> Result<Json<RecordBody>, Problem> {
    let record = state.storage.record(&vault_id, &memory_id, entry).await?;
    let record = record
        .ok_or_else(|| Problem::not_found("there is no such memory or record").with("field", "record_id"))?;
    let evidence = state.storage.evidence(&vault_id, &memory_id, &[entry]).await?;
    let body = RecordBody::with_evidence(record, evidence.get(&entry));
    if !history {
        return Ok(Json(body));
    }
    let changes = state
        .storage
        .record_history(&vault_id, &memory_id, entry, MAX_CHANGES)
        .await?;
    Ok(Json(body.with_history(changes)))
}
