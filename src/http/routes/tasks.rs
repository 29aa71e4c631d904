//! What is written into the window: `POST M/tasks`, `POST M/decisions`, `PUT M/status`.

use crate::domain::ids::{RecordId, RecordKind, TaskId};
use crate::domain::window::{
    DECISION_BYTES, EPIC_BYTES, FieldUpdate, INTENT_BYTES, STATUS_BYTES, SUMMARY_BYTES, Task, TaskDetails,
};
use crate::http::extract::caller::{Actor, ActorHeader, JsonAnswer, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag};
use crate::http::extract::json::{JsonBody, exact};
use crate::http::extract::params::{MemoryPath, Query};
use crate::http::problem::Problem;
use crate::http::routes::contexts::read::X_CONTEXT_VERSION;
use crate::http::routes::window::{WindowAnswer, fields, record_answer, saved_status, writer};
use crate::http::state::AppState;
use crate::storage::{NewDecision, WindowChange};
use axum::extract::State;
use axum::http::header::ETAG;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A task that was completed.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TaskRequest)]
pub(crate) struct TaskBody {
    /// What the caller calls it, unique within the memory: a task that is sent twice is one task.
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
    )]
    task_id: Option<String>,
    /// What was to be done; at most 500 bytes.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "Add DSL parser"
    )]
    intent: String,
    /// What was done; at most 4,000 bytes. Its first sentence stands in the archive.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "FSM over lines, 60 tests"
    )]
    summary: String,
    /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
    /// With `"success": false` the task counts as failed.
    #[serde(default, deserialize_with = "exact")]
    #[schema(value_type = Option<Value>)]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    epic: Option<String>,
}

/// A validated task: what it is called, what was to be done, what was done, and the rest. `at` is the prefix of its fields'
/// names in problems.
pub(super) fn checked_task(
    at: &str,
    task_id: Option<String>,
    (intent, summary): (String, String),
    details: TaskDetails,
    needs_summary: bool,
) -> Result<Task, Problem> {
    let field = |name: &str| format!("{at}{name}");
    fields::required(&field("intent"), &intent, INTENT_BYTES)?;
    if needs_summary {
        fields::required(&field("summary"), &summary, SUMMARY_BYTES)?;
    } else {
        fields::optional(&field("summary"), &summary, SUMMARY_BYTES)?;
    }
    if let Some(outcome) = &details.outcome {
        fields::outcome(&field("outcome"), outcome)?;
    }
    if let Some(epic) = &details.epic {
        fields::required(&field("epic"), epic, EPIC_BYTES)?;
    }
    let task_id = task_id
        .map(|id| id.parse::<TaskId>())
        .transpose()
        .map_err(|rule| Problem::invalid(&field("task_id"), format!("{} {rule}", field("task_id"))))?;
    Ok(Task {
        task_id,
        intent,
        summary,
        details: details.normalized(),
    })
}

/// Record a completed task
///
/// Writes it first in `Recent Tasks` and moves `Updated:` of `Active Context`, in one version. Beyond `window.tasks`
/// (5) the oldest task leaves the document and stands in the archive from then on. The memory is made if it does not
/// exist. A task that is sent again with its `task_id` is answered with the record that it has, also when that has
/// left the document.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/tasks",
    operation_id = "RecordTask",
    tag = "window",
    params(ActorHeader, ConditionHeaders),
    request_body(content = TaskBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The record.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 200, description = "The task was recorded already; nothing was made.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 409, description = "`task_id` belongs to a task that says something else (`record_id`)."),
    )
)]
pub(crate) async fn record(
    State(state): State<AppState>,
    path: MemoryPath,
    _: Query<()>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(body): JsonBody<TaskBody>,
) -> Result<JsonAnswer, Problem> {
    let details = TaskDetails {
        outcome: body.outcome,
        epic: body.epic,
    };
    let task = checked_task("", body.task_id, (body.intent, body.summary), details, true)?;
    let under = claim.answering(record_answer);
    let writer = writer(&state, path, actor, conditions);
    let change = state.storage.record_task(&writer, &task, under.as_ref()).await?;
    Ok(record_answer(&change))
}

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
        (status = 201, description = "The record.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 422, description = "The request is not valid, `supersedes` names no active decision (`active` lists them), or the document would be too large; nothing was saved."),
    )
)]
pub(crate) async fn record_decision(
    State(state): State<AppState>,
    path: MemoryPath,
    _: Query<()>,
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
        (status = 201, description = "A new version was made.", body = StatusAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
        (status = 200, description = "The status was this already; nothing was made.", body = StatusAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
    )
)]
pub(crate) async fn set_status(
    State(state): State<AppState>,
    path: MemoryPath,
    _: Query<()>,
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
    let under = claim.answering(status_answer);
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
    Ok(status_answer(&change))
}

/// The response for a status that was set or was already the same.
fn status_answer(change: &WindowChange) -> JsonAnswer {
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
