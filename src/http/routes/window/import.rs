//! `POST M/window/import`

use super::{fields, saved_status, writer};
use crate::domain::window::{
    DECISION_BYTES, ImportCounts, ImportedDecision, ImportedTask, STATUS_BYTES, Status, TaskDetails,
    WindowImport,
};
use crate::fair::run_blocking;
use crate::http::extract::caller::{Actor, ActorHeader, JsonAnswer, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag};
use crate::http::extract::json::{JsonBody, Object, exact};
use crate::http::extract::params::{MemoryPath, Query};
use crate::http::problem::Problem;
use crate::http::routes::contexts::read::X_CONTEXT_VERSION;
use crate::http::routes::tasks::checked_task;
use crate::http::state::AppState;
use crate::storage::WindowImported;
use axum::extract::State;
use axum::http::header::ETAG;
use chrono::{DateTime, Datelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was kept elsewhere.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WindowImport)]
pub(crate) struct ImportBody {
    /// Taken only where no goal stands.
    #[schema(value_type = Option<StatusBody>)]
    status: Option<Object<StatusBody>>,
    /// Recent tasks.
    #[serde(default)]
    #[schema(value_type = Vec<ImportedTaskBody>)]
    tasks: Vec<Object<ImportedTaskBody>>,
    /// Decisions that hold.
    #[serde(default)]
    #[schema(value_type = Vec<DecisionBody>)]
    decisions: Vec<Object<DecisionBody>>,
    /// Older tasks, for the archive.
    #[serde(default)]
    #[schema(value_type = Vec<ImportedTaskBody>)]
    history: Vec<Object<ImportedTaskBody>>,
}

/// Goal and blocker.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportedStatus)]
struct StatusBody {
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
    #[schema(value_type = Option<Value>)]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    epic: Option<String>,
}

/// A decision and when it was made.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportedDecision)]
struct DecisionBody {
    /// When it was made; whole seconds are kept.
    time: DateTime<Utc>,
    /// What was decided; at most 2,000 bytes.
    decision: String,
    /// Why; one line of at most 2,000 bytes without a colon that a blank follows.
    reason: Option<String>,
}

/// What was taken over.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WindowImportAnswer)]
pub(crate) struct ImportAnswer {
    /// The newest version; null for a memory that does not exist and to which nothing was brought.
    #[schema(required)]
    pub(crate) version: Option<i64>,
    /// Its id.
    #[schema(required)]
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
    operation_id = "ImportWindow",
    tag = "window",
    params(ActorHeader, ConditionHeaders),
    request_body(content = ImportBody, content_type = "application/json"),
    responses(
        (status = 201, description = "What was taken over.", body = ImportAnswer),
        (status = 200, description = "Everything was there already; nothing was made.", body = ImportAnswer),
    )
)]
pub(crate) async fn import(
    State(state): State<AppState>,
    path: MemoryPath,
    _: Query<()>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(body): JsonBody<ImportBody>,
) -> Result<JsonAnswer, Problem> {
    let import = run_blocking(|| body.into_import())?;
    let under = claim.answering(answer);
    let writer = writer(&state, path, actor, conditions);
    let done = state
        .storage
        .import_window(&writer, &import, under.as_ref())
        .await?;
    Ok(answer(&done))
}

fn answer(done: &WindowImported) -> JsonAnswer {
    let metadata = done.metadata.as_ref();
    let body = ImportAnswer {
        version: metadata.map(|metadata| metadata.version),
        context_id: metadata.map(|metadata| metadata.context_id.to_string()),
        unchanged: done.unchanged,
        taken: done.imported,
        present: done.present,
        archived: done.archived.iter().map(ToString::to_string).collect(),
    };
    let answer = JsonAnswer::new(saved_status(done.unchanged), &body);
    match metadata {
        Some(metadata) => answer
            .with(ETAG, ETag::of(&metadata.context_id).header_value())
            .with(X_CONTEXT_VERSION, metadata.version.into()),
        None => answer,
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
        let decisions = decisions.map(|(index, Object(made))| made.into_import(index));
        Ok(WindowImport {
            status,
            tasks: tasks("tasks", self.tasks)?,
            decisions: decisions.collect::<Result<_, _>>()?,
            history: tasks("history", self.history)?,
        })
    }
}

fn tasks(list: &str, tasks: Vec<Object<ImportedTaskBody>>) -> Result<Vec<ImportedTask>, Problem> {
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

impl DecisionBody {
    fn into_import(self, index: usize) -> Result<ImportedDecision, Problem> {
        let at = |name: &str| format!("decisions[{index}].{name}");
        fields::required(&at("decision"), &self.decision, DECISION_BYTES)?;
        fields::optional(
            &at("reason"),
            self.reason.as_deref().unwrap_or_default(),
            DECISION_BYTES,
        )?;
        if let Some(reason) = &self.reason {
            fields::reason(&at("reason"), reason)?;
        }
        Ok(ImportedDecision {
            time: checked_time(&at("time"), self.time)?,
            decision: self.decision,
            reason: self.reason,
        })
    }
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
