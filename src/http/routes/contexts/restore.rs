//! `POST M/contexts/{ref}/restore`

use super::put::{self, PutBody};
use super::view;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::conditions::{Conditions, WriteHeaders, refused_write};
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::{ContextRef, RestoreError};
use axum::extract::State;
use axum::response::Response;

/// Restore a version
///
/// Makes a new version with the text of an older one, unless the newest has that text already. Records that were
/// archived meanwhile are active again under their ids; numbers given meanwhile are not given again.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/restore",
    operation_id = "RestoreContext",
    tag = "contexts",
    params(ActorHeader, WriteHeaders),
    responses(
        (status = 201, description = "A new version was made.", body = PutBody, headers(
            ("ETag" = String, description = "Of the new version's text."),
            ("Location" = String, description = "Of the new version."),
            ("X-Context-Version" = i64, description = "Its number."),
        )),
        (status = 200, description = "The newest version has this text already; nothing was made.", body = PutBody, headers(
            ("ETag" = String, description = "Of the newest version's text."),
            ("X-Context-Version" = i64, description = "Its number."),
        )),
        (status = 404, description = "There is no such memory or version."),
        (status = 410, description = "The version was redacted."),
        (status = 412, description = "A precondition does not hold."),
    )
)]
pub(crate) async fn restore(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<ContextRef>,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let preconditions = conditions.for_write();
    let limit = state.settings.context_bytes;
    let restored = state
        .storage
        .restore_context(&vault_id, &memory_id, &entry, &actor, &preconditions, limit)
        .await?;
    put::answer(&state, restored)
}

impl From<RestoreError> for Problem {
    fn from(error: RestoreError) -> Self {
        let message = error.to_string();
        match error {
            RestoreError::PreconditionFailed { current } => refused_write(current.as_ref()),
            RestoreError::NotFound => Self::not_found(message).with("field", "ref"),
            RestoreError::Redacted { version, redaction } => view::redacted(version, &redaction),
            RestoreError::Invalid(rule) => {
                Self::invalid("ref", format!("the version cannot be restored: {rule}"))
            }
            RestoreError::Storage(error) => error.into(),
        }
    }
}
