//! `GET M/records`

use super::view::RecordBody;
use crate::domain::ids::{RecordId, RecordKind};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{FromQuery, Query, QueryReader};
use crate::http::names::{RecordKindName, listed};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::storage::records::{RecordFilter, RecordStatus};
use axum::Json;
use axum::extract::State;
use strum::{EnumString, VariantNames};

/// Which records to show.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordParams {
    /// Only this kind; without it all kinds.
    #[param(value_type = Option<RecordKindName>, inline)]
    kind: Option<RecordKind>,
    /// Those that stand in the newest version, those that did once, or both; `active` without it.
    #[param(value_type = Option<StatusChoiceName>, inline)]
    status: Option<RecordStatus>,
}

/// Which records are requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(in crate::http::routes) enum StatusChoice {
    #[default]
    Active,
    Archived,
    All,
}

listed! {
    /// The values of `status`.
    pub(in crate::http::routes) StatusChoiceName of StatusChoice as "StatusChoice";
}

/// Parses `status`: the records that are in the newest version, or those that are not; `None` for all.
///
/// # Errors
/// 422 for any other value.
pub(in crate::http::routes) fn read_status(query: &mut QueryReader) -> Result<Option<RecordStatus>, Problem> {
    let choice = query.name("status")?.unwrap_or_default();
    Ok(match choice {
        StatusChoice::Active => Some(RecordStatus::Active),
        StatusChoice::Archived => Some(RecordStatus::Archived),
        StatusChoice::All => None,
    })
}

impl FromQuery for RecordParams {
    fn from_query(query: &mut QueryReader) -> Result<Self, Problem> {
        Ok(Self {
            kind: query.name("kind")?,
            status: read_status(query)?,
        })
    }
}

/// List the records
///
/// By kind and number.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/records",
    operation_id = "ListRecords",
    tag = "records",
    params(RecordParams, Page),
    responses(
        (status = 200, description = "One page.", body = List<RecordBody>),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(params): Query<(RecordParams, Page)>,
) -> Result<Json<List<RecordBody>>, Problem> {
    let (RecordParams { kind, status }, page) = params;
    let name = format!("records/{vault_id}/{memory_id}/{kind:?}/{status:?}");
    let after = page.after::<RecordId>(&name)?;
    let filter = RecordFilter { kind, status };
    let _list = state.budget.list().await?;
    let records = state
        .storage
        .list_records(&vault_id, &memory_id, filter, after, page.fetch())
        .await?;
    if records.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let ids: Vec<RecordId> = records.items.iter().map(|record| record.id).collect();
    let evidence = state.storage.evidence(&vault_id, &memory_id, &ids).await?;
    Ok(Json(page.of_rows(
        &name,
        records,
        |record| record.id,
        |record| {
            let evidence = evidence.get(&record.id);
            RecordBody::with_evidence(record, evidence)
        },
    )))
}
