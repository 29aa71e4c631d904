//! `POST M/contexts/{ref}/restore`

use super::put::{self, PutBody};
use super::view;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::claim::UnderClaim;
use crate::http::extract::conditions::{ConditionHeaders, Conditions, refused_write};
use crate::http::extract::json;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::{ContextRef, RestoreError, RestoreJob};
use axum::extract::{Request, State};
use axum::response::Response;
use serde::Deserialize;

/// The maximum length of a reason, in characters.
const REASON_CHARS: usize = 1_000;

/// Why a version is restored.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RestoreRequest)]
pub(crate) struct RestoreBody {
    /// Stands in the log of the new version.
    #[schema(
        min_length = 1,
        max_length = 1_000,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
    )]
    #[serde(default)]
    reason: Option<String>,
}

/// Restore a version
///
/// Makes a new version with the text of an older one, unless the newest has that text already. Records that were
/// archived meanwhile are active again under their ids; numbers given meanwhile are not given again. Active records
/// that do not stand in that text are archived, as left out by the new version, and stand in `warnings`.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/restore",
    operation_id = "RestoreContext",
    tag = "contexts",
    params(ActorHeader, ConditionHeaders),
    request_body(description = "May be left out.", content = Option<RestoreBody>),
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
    UnderClaim(idempotency): UnderClaim,
    request: Request,
) -> Result<Response, Problem> {
    let RestoreBody { reason } = json::optional(&state, request).await?;
    let job = RestoreJob {
        vault: vault_id,
        memory: memory_id,
        reference: entry,
        actor,
        reason: reason.as_deref().map(checked).transpose()?,
        preconditions: conditions.for_write(),
        limit: state.settings.context_bytes,
        idempotency,
    };
    put::answer(&state, state.storage.restore_context(&job).await?)
}

fn checked(reason: &str) -> Result<String, Problem> {
    let reason = reason.trim();
    let rule = match reason.chars().count() {
        0 => "must not be blank",
        count if count > REASON_CHARS => "must have at most 1000 characters",
        _ if reason.contains('\0') => "must not hold NUL",
        _ => return Ok(reason.to_owned()),
    };
    Err(Problem::invalid("reason", format!("reason {rule}")).with("limit", REASON_CHARS))
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
