//! `PUT M/status`

use super::window::{fields, saved_status, writer};
use crate::domain::window::{FieldUpdate, STATUS_BYTES};
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::routes::contexts::read::X_CONTEXT_VERSION;
use crate::http::state::AppState;
use crate::storage::WindowChange;
use axum::extract::State;
use axum::http::header::ETAG;
use serde::{Deserialize, Deserializer, Serialize};

/// What is aimed at, and what stands in the way. At least one of both must be given.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = StatusRequest)]
pub(crate) struct StatusBody {
    /// At most 1,000 bytes. Absent: the goal that stands there stays. Null: there is none from now on.
    #[serde(default, deserialize_with = "present")]
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "ship the parser"
    )]
    goal: Option<Option<String>>,
    /// At most 1,000 bytes. Absent: the blocker that stands there stays. Null, empty or `none`: there is none from now
    /// on.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, pattern = r"^[^\u0000]*$")]
    blocker: Option<Option<String>>,
}

/// Distinguishes a member that is present, including null, from an absent one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn field_update(member: Option<&Option<String>>) -> FieldUpdate<'_> {
    match member {
        None => FieldUpdate::Keep,
        Some(None) => FieldUpdate::Clear,
        Some(Some(text)) => FieldUpdate::Set(text),
    }
}

/// The status as it stands now.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = StatusAnswer)]
pub(crate) struct StatusAnswer {
    /// What is aimed at.
    #[schema(required)]
    goal: Option<String>,
    /// What stands in the way; null for nothing.
    #[schema(required)]
    blocker: Option<String>,
    /// The newest version.
    #[schema(minimum = 1)]
    version: i64,
    /// Its id.
    context_id: String,
    /// Whether the status was this already, so that no version was made.
    unchanged: bool,
}

/// Set the status
///
/// Writes goal and blocker into `Active Context` and moves its `Updated:`, in one version: a member that is absent stays
/// as it stands, null clears it. Lines that a person wrote there stay. The memory is created if it does not exist.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/status",
    operation_id = "SetStatus",
    tag = "window",
    params(ActorHeader, ConditionHeaders),
    request_body(content = StatusBody, content_type = "application/json"),
    responses(
        (status = 201, description = "A new version was made.", body = StatusAnswer, headers(
            ("ETag" = String, description = "ETag of the new version's text."),
            ("X-Context-Version" = i64, description = "Its number."),
        )),
        (status = 200, description = "The status was this already; nothing was made.", body = StatusAnswer, headers(
            ("ETag" = String, description = "ETag of the newest version's text."),
            ("X-Context-Version" = i64, description = "Its number."),
        )),
    )
)]
pub(crate) async fn set(
    State(state): State<AppState>,
    path: MemoryPath,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(StatusBody { goal, blocker }): JsonBody<StatusBody>,
) -> Result<JsonAnswer, Problem> {
    if goal.is_none() && blocker.is_none() {
        return Err(Problem::invalid(
            "goal",
            "goal, blocker or both must be given; null clears one, and one that is absent stays",
        ));
    }
    if let Some(Some(goal)) = &goal {
        fields::required("goal", goal, STATUS_BYTES)?;
    }
    if let Some(Some(blocker)) = &blocker {
        fields::optional("blocker", blocker, STATUS_BYTES)?;
    }
    let under = claim.answering(answer);
    let writer = writer(&state, path, actor, conditions);
    let change = state
        .storage
        .set_status(
            &writer,
            field_update(goal.as_ref()),
            field_update(blocker.as_ref()),
            under.as_ref(),
        )
        .await?;
    Ok(answer(&change))
}

/// The response for a status that was set or was already the same.
fn answer(change: &WindowChange) -> JsonAnswer {
    let body = StatusAnswer {
        goal: change.status.goal.clone(),
        blocker: change.status.blocker.clone(),
        version: change.metadata.version,
        context_id: change.metadata.context_id.to_string(),
        unchanged: change.unchanged,
    };
    JsonAnswer::new(saved_status(change.unchanged), &body)
        .with(ETAG, ETag::of(&change.metadata.context_id).header_value())
        .with(X_CONTEXT_VERSION, change.metadata.version.into())
}
