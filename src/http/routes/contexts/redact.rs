//! `POST M/contexts/{ref}/redact`

use super::view::ContextBody;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, refused_write};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::{ContextRef, RedactError};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

/// The maximum length of a reason, in characters.
const REASON_CHARS: usize = 1_000;

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
        _ if reason.contains('\0') => "must not hold NUL",
        _ => return Ok(reason),
    };
    Err(Problem::invalid("reason", format!("reason {rule}")).with("limit", REASON_CHARS))
}

impl From<RedactError> for Problem {
    fn from(error: RedactError) -> Self {
        let message = error.to_string();
        match error {
            RedactError::PreconditionFailed { current } => refused_write(current.as_ref()),
            RedactError::NotFound => Self::not_found(message).with("field", "ref"),
            RedactError::IsHead { version } => Self::new(
                Kind::Conflict,
                format!(
                    "version {version} is the newest and cannot be redacted: put a new version without what is to \
                     go (PUT …/context), then redact this one"
                ),
            )
            .with("field", "ref")
            .with("version", version),
            RedactError::Storage(error) => error.into(),
        }
    }
}
