//! The session record of an update request.

use crate::domain::window::{STATUS_BYTES, SessionRecord};
use crate::http::problem::Problem;
use crate::http::routes::task_details::task_request;
use crate::http::routes::tasks::ReportedTask;
use crate::http::routes::window::fields;

task_request! {
    /// What a session ends with.
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
    } and {
        /// What is aimed at from now on; at most 1,000 bytes. Without it the goal that stands there stays.
        #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
        goal: Option<String>,
        /// What stands in the way; at most 1,000 bytes. A goal without one says that nothing does.
        #[schema(pattern = r"^[^\u0000]*$")]
        blocker: Option<String>,
    }
}

impl RecordBody {
    /// The validated record.
    ///
    /// # Errors
    /// 422 that names the field and the limit.
    pub(super) fn into_record(mut self) -> Result<SessionRecord, Problem> {
        if let Some(goal) = &self.goal {
            fields::required("record.goal", goal, STATUS_BYTES)?;
        }
        if let Some(blocker) = &self.blocker {
            fields::optional("record.blocker", blocker, STATUS_BYTES)?;
        }
        let details = self.details();
        let task = ReportedTask {
            task_id: self.task_id,
            intent: self.intent,
            summary: self.summary,
            details,
        };
        Ok(SessionRecord {
            task: task.into_task("record.", true)?,
            goal: self.goal,
            blocker: self.blocker,
        })
    }
}
