//! `POST M/tasks`

use super::task_details::{self, task_request};

use super::window::{WindowAnswer, fields, record_answer, writer};
use crate::domain::ids::TaskId;
use crate::domain::window::{INTENT_BYTES, SUMMARY_BYTES, Task, TaskDetails};
use crate::http::extract::caller::{Actor, ActorHeader, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::extract::State;

task_request! {
    /// A task that was completed.
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
    }
}

/// A task as reported in a request.
pub(super) struct ReportedTask {
    pub(super) task_id: Option<String>,
    pub(super) intent: String,
    pub(super) summary: String,
    pub(super) details: TaskDetails,
}

impl ReportedTask {
    /// The validated task. `at` is the prefix of its fields' names in problems.
    pub(super) fn into_task(self, at: &str, needs_summary: bool) -> Result<Task, Problem> {
        let Self {
            task_id,
            intent,
            summary,
            details,
        } = self;
        let field = |name: &str| format!("{at}{name}");
        fields::required(&field("intent"), &intent, INTENT_BYTES)?;
        if needs_summary {
            fields::required(&field("summary"), &summary, SUMMARY_BYTES)?;
        } else {
            fields::optional(&field("summary"), &summary, SUMMARY_BYTES)?;
        }
        let details = task_details::checked(at, details)?;
        let task_id = task_id
            .map(|id| id.parse::<TaskId>())
            .transpose()
            .map_err(|rule| Problem::invalid(&field("task_id"), format!("{} {rule}", field("task_id"))))?;
        Ok(Task {
            task_id,
            intent,
            summary,
            details,
        })
    }
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
        (status = 201, description = "The record.", body = WindowAnswer, headers(
            ("ETag" = String, description = "ETag of the new version's text."),
            ("Location" = String, description = "Path of the record."),
            ("X-Context-Version" = i64, description = "The new version's number."),
        )),
        (status = 200, description = "The task was recorded already; nothing was made.", body = WindowAnswer, headers(
            ("ETag" = String, description = "ETag of the newest version's text."),
            ("Location" = String, description = "Path of the record."),
            ("X-Context-Version" = i64, description = "The newest version's number."),
        )),
        (status = 409, description = "`task_id` belongs to a task that says something else (`record_id`)."),
    )
)]
pub(crate) async fn record(
    State(state): State<AppState>,
    path: MemoryPath,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(mut body): JsonBody<TaskBody>,
) -> Result<JsonAnswer, Problem> {
    let details = body.details();
    let reported = ReportedTask {
        task_id: body.task_id,
        intent: body.intent,
        summary: body.summary,
        details,
    };
    let task = reported.into_task("", true)?;
    let under = claim.answering(record_answer);
    let writer = writer(&state, path, actor, conditions);
    let change = state.storage.record_task(&writer, &task, under.as_ref()).await?;
    Ok(record_answer(&change))
}
