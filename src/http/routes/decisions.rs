//! `POST M/decisions`

use super::window::{WindowAnswer, fields, record_answer, writer};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::window::DECISION_BYTES;
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::storage::NewDecision;
use axum::extract::State;
use serde::Deserialize;

/// A decision that was made.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DecisionRequest)]
pub(crate) struct DecisionBody {
    /// What was decided; at most 2,000 bytes.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "all SQL lives in storage"
    )]
    decision: String,
    /// Why, if that is known: one line of at most 2,000 bytes without a colon that a blank follows, which would end it
    /// on the record's line.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "one language is enough"
    )]
    reason: Option<String>,
    /// The active decision whose place it takes.
    #[schema(pattern = "^D-[1-9][0-9]{0,17}$", example = "D-3")]
    supersedes: Option<String>,
}

/// Record a decision
///
/// Writes it first in `Decisions`, with its reason if one is given, and moves `Updated:` of `Active Context`, in one version. The decision that it
/// supersedes is archived and names it in `superseded_by`; beyond `window.decisions` (10) the oldest leaves the
/// document. The memory is created if it does not exist.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/decisions",
    operation_id = "RecordDecision",
    tag = "window",
    params(ActorHeader, ConditionHeaders),
    request_body(content = DecisionBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The record.", body = WindowAnswer, headers(
            ("ETag" = String, description = "ETag of the new version's text."),
            ("Location" = String, description = "Path of the record."),
            ("X-Context-Version" = i64, description = "The new version's number."),
        )),
        (status = 422, description = "The request is not valid, `supersedes` names no active decision (`active` lists them), or the document would be too large; nothing was saved."),
    )
)]
pub(crate) async fn record(
    State(state): State<AppState>,
    path: MemoryPath,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(body): JsonBody<DecisionBody>,
) -> Result<JsonAnswer, Problem> {
    fields::required("decision", &body.decision, DECISION_BYTES)?;
    if let Some(reason) = &body.reason {
        fields::required("reason", reason, DECISION_BYTES)?;
        fields::reason("reason", reason)?;
    }
    let supersedes = body.supersedes.as_deref().map(decision_id).transpose()?;
    let under = claim.answering(record_answer);
    let writer = writer(&state, path, actor, conditions);
    let decision = NewDecision {
        decision: body.decision,
        reason: body.reason,
        supersedes,
    };
    let change = state
        .storage
        .record_decision(&writer, &decision, under.as_ref())
        .await?;
    Ok(record_answer(&change))
}

fn decision_id(text: &str) -> Result<RecordId, Problem> {
    text.parse()
        .ok()
        .filter(|id: &RecordId| id.kind == RecordKind::Decision)
        .ok_or_else(|| {
            Problem::invalid(
                "supersedes",
                "supersedes must be the id of a decision, such as D-3",
            )
        })
}
