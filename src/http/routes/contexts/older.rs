//! `POST M/contexts/{ref}/restore` and `…/redact`

use super::put;
use super::put::PutBody;
use super::view::ContextBody;
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::{self, JsonBody};
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::{ContextRef, RestoreJob};
use axum::Json;
use axum::extract::{Request, State};
use serde::Deserialize;

/// The maximum length of a reason, in characters.
const REASON_CHARS: usize = 1_000;

/// Why a version is restored.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RestoreRequest)]
pub(crate) struct RestoreBody {
    /// Appears in the log of the new version.
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
            ("ETag" = String, description = "ETag of the new version's text."),
            ("Location" = String, description = "Path of the new version."),
            ("X-Context-Version" = i64, description = "Its number."),
        )),
        (status = 200, description = "The newest version has this text already; nothing was made.", body = PutBody, headers(
            ("ETag" = String, description = "ETag of the newest version's text."),
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
    claim: UnderClaim,
    request: Request,
) -> Result<JsonAnswer, Problem> {
    let RestoreBody { reason } = json::optional(&state, request).await?;
    let job = RestoreJob {
        vault: vault_id,
        memory: memory_id,
        reference: entry,
        actor,
        reason: reason.as_deref().map(checked).transpose()?.map(str::to_owned),
        preconditions: conditions.for_write(),
        limit: state.settings.context_bytes,
        idempotency: put::answering(&state, claim),
    };
    let restored = state.storage.restore_context(&job).await?;
    Ok(put::answer(state.settings.context_bytes, &restored))
}

/// Why the text is to be taken out.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RedactRequest)]
pub(crate) struct RedactBody {
    /// Shown in place of the text, so it must not repeat what is taken out.
    #[schema(
        min_length = 1,
        max_length = 1_000,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
    )]
    reason: String,
}

/// Redact a version
///
/// Takes the text of a version out for good, with everything that quotes it: its log and operations, the runs that
/// made it, started from it or repeat it, and what records say that no other version holds. The version stays in
/// lists, with who redacted it, when and why, and the SHA-256 of the text. The newest version cannot be redacted.
/// Redacting a version again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts/{ref}/redact",
    operation_id = "RedactContext",
    tag = "contexts",
    params(ActorHeader, ConditionHeaders),
    request_body = RedactBody,
    responses(
        (status = 200, description = "The version without its text.", body = ContextBody),
        (status = 404, description = "There is no such memory or version."),
        (status = 409, description = "It is the newest version."),
    )
)]
pub(crate) async fn redact(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<ContextRef>,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    JsonBody(RedactBody { reason }): JsonBody<RedactBody>,
) -> Result<Json<ContextBody>, Problem> {
    let reason = checked(&reason)?;
    let preconditions = conditions.for_write();
    let redacted = state
        .storage
        .redact_context(&vault_id, &memory_id, &entry, &actor, reason, &preconditions)
        .await?;
    Ok(Json(ContextBody::of(&redacted, state.settings.context_bytes)))
}

fn checked(reason: &str) -> Result<&str, Problem> {
    let reason = reason.trim();
    let rule = match reason.chars().count() {
        0 => "must not be blank",
        count if count > REASON_CHARS => "must have at most 1000 characters",
        _ if reason.contains('\0') => "must not contain NUL",
        _ => return Ok(reason),
    };
    Err(Problem::invalid("reason", format!("reason {rule}")).with("limit", REASON_CHARS))
}
