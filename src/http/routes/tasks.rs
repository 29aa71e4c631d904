//! What is written into the window: `POST M/tasks`, `POST M/decisions`, `PUT M/status` and `POST M/window/import`.

use crate::domain::ids::{RecordId, RecordKind, TaskId};
use crate::domain::window::{
    Change, DECISION_BYTES, EPIC_BYTES, INTENT_BYTES, ImportCounts, ImportedDecision, ImportedTask,
    STATUS_BYTES, SUMMARY_BYTES, Status, Task, TaskDetails, WindowImport,
};
use crate::fair::run_blocking;
use crate::http::extract::body::{JsonBody, Object, exact};
use crate::http::extract::caller::{ActorHeader, UnderClaim};
use crate::http::extract::headers::ConditionHeaders;
use crate::http::extract::params::parsed;
use crate::http::problem::Problem;
use crate::http::routes::contexts::saved;
use crate::http::routes::window::fields::{self, NonBlank};
use crate::http::routes::window::{WindowAnswer, WriterOf, record_answer};
use crate::http::state::AppState;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::{Source, WindowChange, WindowImported};
use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Datelike as _, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A task that was completed.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"intent": "Add DSL parser", "summary": "FSM over lines, 60 tests"}))]
pub(crate) struct TaskRequest {
    /// What the caller calls it, unique within the memory: a task that is sent twice is one task.
    #[schema(value_type = Option<TaskId>)]
    task_id: Option<String>,
    /// What was to be done; at most 500 bytes.
    #[schema(value_type = NonBlank)]
    intent: String,
    /// What was done; at most 4,000 bytes. Its first sentence stands in the archive.
    #[schema(value_type = NonBlank)]
    summary: String,
    /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
    /// With `"success": false` the task counts as failed.
    #[serde(default, deserialize_with = "exact")]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(value_type = Option<NonBlank>)]
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
    let task_id = task_id.map(|id| parsed(&field("task_id"), &id));
    Ok(Task {
        task_id: task_id.transpose()?,
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
    params(ActorHeader, ConditionHeaders),
    request_body(content = TaskRequest, content_type = "application/json"),
    responses(
        (status = 201, description = "The record.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 200, description = "The task was recorded already; nothing was made.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 409, description = "`task_id` belongs to a task that says something else (`record_id`)."),
    )
)]
pub(crate) async fn record_task(
    State(state): State<AppState>,
    WriterOf(writer): WriterOf,
    claim: UnderClaim,
    JsonBody(body): JsonBody<TaskRequest>,
) -> Result<KeptAnswer, Problem> {
    let details = TaskDetails {
        outcome: body.outcome,
        epic: body.epic,
    };
    let task = checked_task("", body.task_id, (body.intent, body.summary), details, true)?;
    let under = claim.answering(record_answer);
    let kind = (Source::Task, Some(&task));
    let change = state
        .storage
        .edit_window(&writer, kind, |change| change.add_task(&task), under.as_ref())
        .await?;
    Ok(record_answer(&change))
}

/// A decision that was made.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "all SQL lives in storage", "reason": "one language is enough", "supersedes": "D-3"}))]
pub(crate) struct DecisionRequest {
    /// What was decided; at most 2,000 bytes.
    #[schema(value_type = NonBlank)]
    decision: String,
    /// Why, if that is known: one line of at most 2,000 bytes without a colon that a blank follows, which would end it
    /// on the record's line.
    #[schema(value_type = Option<NonBlank>)]
    reason: Option<String>,
    /// The active decision whose place it takes.
    #[schema(pattern = "^D-[1-9][0-9]{0,17}$")]
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
    params(ActorHeader, ConditionHeaders),
    request_body(content = DecisionRequest, content_type = "application/json"),
    responses(
        (status = 201, description = "The record.", body = WindowAnswer, headers(("ETag"), ("Location"), ("X-Context-Version" = i64))),
        (status = 422, description = "The request is not valid, `supersedes` names no active decision (`active` lists them), or the document would be too large; nothing was saved."),
    )
)]
pub(crate) async fn record_decision(
    State(state): State<AppState>,
    WriterOf(writer): WriterOf,
    claim: UnderClaim,
    JsonBody(body): JsonBody<DecisionRequest>,
) -> Result<KeptAnswer, Problem> {
    fields::required("decision", &body.decision, DECISION_BYTES)?;
    if let Some(reason) = &body.reason {
        fields::required("reason", reason, DECISION_BYTES)?;
        fields::reason("reason", reason)?;
    }
    let supersedes = body.supersedes.as_deref().map(decision_id).transpose()?;
    let under = claim.answering(record_answer);
    let (decision, reason) = (body.decision.as_str(), body.reason.as_deref());
    let kind = (Source::Decision, None);
    let change = state
        .storage
        .edit_window(
            &writer,
            kind,
            |change| change.add_decision(decision, reason, supersedes),
            under.as_ref(),
        )
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
#[schema(example = json!({"goal": "ship the parser"}))]
pub(crate) struct StatusRequest {
    /// At most 1,000 bytes. Absent: the goal that stands there stays. Null: there is none from now on.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<NonBlank>)]
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

/// The status as it stands now.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct StatusAnswer {
    /// What is aimed at.
    goal: Option<String>,
    /// What stands in the way; null for nothing.
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
    params(ActorHeader, ConditionHeaders),
    request_body(content = StatusRequest, content_type = "application/json"),
    responses(
        (status = 201, description = "A new version was made.", body = StatusAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
        (status = 200, description = "The status was this already; nothing was made.", body = StatusAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
    )
)]
pub(crate) async fn set_status(
    State(state): State<AppState>,
    WriterOf(writer): WriterOf,
    claim: UnderClaim,
    JsonBody(StatusRequest { goal, blocker }): JsonBody<StatusRequest>,
) -> Result<KeptAnswer, Problem> {
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
    let (goal, blocker) = (
        goal.as_ref().map(Option::as_deref),
        blocker.as_ref().map(Option::as_deref),
    );
    let set = |change: &mut Change<'_>| {
        change.set_status(goal, blocker);
        Ok(())
    };
    let kind = (Source::Status, None);
    let change = state
        .storage
        .edit_window(&writer, kind, set, under.as_ref())
        .await?;
    Ok(status_answer(&change))
}

/// The response for a status that was set or was already the same.
fn status_answer(change: &WindowChange) -> KeptAnswer {
    let body = StatusAnswer {
        goal: change.status.goal.clone(),
        blocker: change.status.blocker.clone(),
        version: change.metadata.version,
        context_id: change.metadata.context_id.to_string(),
        unchanged: change.unchanged,
    };
    saved(change.unchanged, &change.metadata, &body)
}

/// What was kept elsewhere.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WindowImport)]
pub(crate) struct ImportBody {
    /// Taken only where no goal stands.
    #[schema(value_type = Option<ImportedStatus>)]
    status: Option<Object<ImportedStatus>>,
    /// Recent tasks.
    #[serde(default)]
    #[schema(value_type = Vec<ImportedTaskBody>)]
    tasks: Vec<Object<ImportedTaskBody>>,
    /// Decisions that hold.
    #[serde(default)]
    #[schema(value_type = Vec<ImportedDecision>)]
    decisions: Vec<Object<ImportedDecision>>,
    /// Older tasks, for the archive.
    #[serde(default)]
    #[schema(value_type = Vec<ImportedTaskBody>)]
    history: Vec<Object<ImportedTaskBody>>,
}

/// Goal and blocker.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ImportedStatus {
    /// At most 1,000 bytes.
    goal: Option<String>,
    /// At most 1,000 bytes.
    blocker: Option<String>,
    /// When window and status last changed where they were kept. Where no goal stands, `Updated:` says this instead of
    /// now, unless it says a later time already.
    updated: Option<DateTime<Utc>>,
}

/// A task and when it was done.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportedTask)]
struct ImportedTaskBody {
    /// When it was done; whole seconds are kept.
    time: DateTime<Utc>,
    /// What its writer calls it; without one the id is made of time, intent and first sentence of the summary.
    task_id: Option<String>,
    /// What was to be done; at most 500 bytes.
    intent: String,
    /// What was done; at most 4,000 bytes.
    #[serde(default)]
    summary: String,
    /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
    /// With `"success": false` the task counts as failed.
    #[serde(default, deserialize_with = "exact")]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(value_type = Option<NonBlank>)]
    epic: Option<String>,
}

/// What was taken over.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WindowImportAnswer)]
pub(crate) struct ImportAnswer {
    /// The newest version; null for a memory that does not exist and to which nothing was brought.
    pub(crate) version: Option<i64>,
    /// Its id.
    pub(crate) context_id: Option<String>,
    /// Whether nothing was new, so that no version was made.
    pub(crate) unchanged: bool,
    /// How much was taken.
    pub(crate) taken: ImportCounts,
    /// How much was there already.
    pub(crate) present: ImportCounts,
    /// The records that left the document for it.
    pub(crate) archived: Vec<String>,
}

/// Take over a window
///
/// Takes tasks, decisions, a history and a status that were kept elsewhere into the memory, each with its own time, in
/// one version. What has no place in the window, and all of the history, goes straight to the archive. What the memory
/// has already is left alone, so that the same may be sent again. The memory is created if it does not exist.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/window/import",
    params(ActorHeader, ConditionHeaders),
    request_body(content = ImportBody, content_type = "application/json"),
    responses(
        (status = 201, description = "What was taken over.", body = ImportAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
        (status = 200, description = "Everything was there already; nothing was made.", body = ImportAnswer, headers(("ETag"), ("X-Context-Version" = i64))),
    )
)]
pub(crate) async fn import_window(
    State(state): State<AppState>,
    WriterOf(writer): WriterOf,
    claim: UnderClaim,
    JsonBody(body): JsonBody<ImportBody>,
) -> Result<KeptAnswer, Problem> {
    let import = run_blocking(|| body.into_import())?;
    let under = claim.answering(import_answer);
    let done = state
        .storage
        .import_window(&writer, &import, under.as_ref())
        .await?;
    Ok(import_answer(&done))
}

fn import_answer(done: &WindowImported) -> KeptAnswer {
    let metadata = done.metadata.as_ref();
    let body = ImportAnswer {
        version: metadata.map(|metadata| metadata.version),
        context_id: metadata.map(|metadata| metadata.context_id.to_string()),
        unchanged: done.unchanged,
        taken: done.imported,
        present: done.present,
        archived: done.archived.iter().map(ToString::to_string).collect(),
    };
    match metadata {
        Some(metadata) => saved(done.unchanged, metadata, &body),
        None => KeptAnswer::json(StatusCode::OK, &body),
    }
}

impl ImportBody {
    fn into_import(self) -> Result<WindowImport, Problem> {
        let mut status = Status::default();
        if let Some(Object(status_body)) = self.status {
            for (field, text) in [
                ("status.goal", &status_body.goal),
                ("status.blocker", &status_body.blocker),
            ] {
                fields::optional(field, text.as_deref().unwrap_or_default(), STATUS_BYTES)?;
            }
            status = Status::new(status_body.goal.as_deref(), status_body.blocker.as_deref());
            let updated = status_body
                .updated
                .map(|time| checked_time("status.updated", time));
            status.updated = updated.transpose()?;
        }
        let decisions = self.decisions.into_iter().enumerate();
        let decisions = decisions.map(|(index, Object(made))| checked_decision(index, made));
        Ok(WindowImport {
            status,
            tasks: imported_tasks("tasks", self.tasks)?,
            decisions: decisions.collect::<Result<_, _>>()?,
            history: imported_tasks("history", self.history)?,
        })
    }
}

fn imported_tasks(list: &str, tasks: Vec<Object<ImportedTaskBody>>) -> Result<Vec<ImportedTask>, Problem> {
    let tasks = tasks.into_iter().enumerate().map(|(index, Object(body))| {
        let at = format!("{list}[{index}].");
        let time = checked_time(&format!("{at}time"), body.time)?;
        let details = TaskDetails {
            outcome: body.outcome,
            epic: body.epic,
        };
        let told = (body.intent, body.summary);
        Ok(ImportedTask {
            time,
            record: None,
            task: checked_task(&at, body.task_id, told, details, false)?,
        })
    });
    tasks.collect()
}

fn checked_decision(index: usize, made: ImportedDecision) -> Result<ImportedDecision, Problem> {
    let at = |name: &str| format!("decisions[{index}].{name}");
    fields::required(&at("decision"), &made.decision, DECISION_BYTES)?;
    if let Some(reason) = &made.reason {
        fields::optional(&at("reason"), reason, DECISION_BYTES)?;
        fields::reason(&at("reason"), reason)?;
    }
    checked_time(&at("time"), made.time)?;
    Ok(made)
}

/// A time that both the database and a record line can contain.
fn checked_time(field: &str, time: DateTime<Utc>) -> Result<DateTime<Utc>, Problem> {
    if (1..=9999).contains(&time.year()) {
        Ok(time)
    } else {
        Err(Problem::invalid(
            field,
            format!("{field} must be in the years 1 to 9999"),
        ))
    }
}
