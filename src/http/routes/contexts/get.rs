//! `GET M/contexts/{ref}`

use super::view::{self, ContextBody, SectionParams};
use crate::http::extract::accept::Representation;
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::ContextRef;
use axum::extract::State;
use axum::response::Response;

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
        .ok_or_else(|| Problem::not_found("there is no such memory or version").with("field", "ref"))?;
    view::answer(
        &state,
        context.into(),
        section.as_deref(),
        representation,
        &conditions,
    )
}
