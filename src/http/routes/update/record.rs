//! The session record of an update request.

use crate::domain::window::{STATUS_BYTES, SessionRecord, TaskDetails};
use crate::http::extract::json::exact;
use crate::http::problem::Problem;
use crate::http::routes::tasks::checked_task;
use crate::http::routes::window::fields;
use serde::Deserialize;
use serde_json::Value;

/// What a session ends with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SessionRecord)]
pub(crate) struct RecordBody {
    /// What was to be done; at most 500 bytes. A bullet of In Progress that is equal to it, case and blanks aside, moves
    /// to Completed.
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
    /// What the caller calls the task, unique within the memory: a call that is sent twice is one.
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
    )]
    task_id: Option<String>,
    /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
    /// With `"success": false` the task counts as failed.
    #[serde(default, deserialize_with = "exact")]
    #[schema(value_type = Option<Value>)]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    epic: Option<String>,
    /// What is aimed at from now on; at most 1,000 bytes. Without it the goal that stands there stays.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    goal: Option<String>,
    /// What stands in the way; at most 1,000 bytes. A goal without one says that nothing does.
    #[schema(pattern = r"^[^\u0000]*$")]
    blocker: Option<String>,
}

impl RecordBody {
    /// The validated record.
    ///
    /// # Errors
    /// 422 that names the field and the limit.
    pub(super) fn into_record(self) -> Result<SessionRecord, Problem> {
        if let Some(goal) = &self.goal {
            fields::required("record.goal", goal, STATUS_BYTES)?;
        }
        if let Some(blocker) = &self.blocker {
            fields::optional("record.blocker", blocker, STATUS_BYTES)?;
        }
        let details = TaskDetails {
            outcome: self.outcome,
            epic: self.epic,
        };
        let told = (self.intent, self.summary);
        Ok(SessionRecord {
            task: checked_task("record.", self.task_id, told, details, true)?,
            goal: self.goal,
            blocker: self.blocker,
        })
    }
}
