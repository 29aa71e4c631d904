//! Tasks that were archived from the document.

pub(crate) mod epics;
pub(crate) mod history;

use crate::domain::window::ArchivedTask;
use crate::http::extract::accept::Representation;
use crate::http::problem::Problem;
use crate::http::routes::task_details::task_answer;
use axum::http::header::{CONTENT_TYPE, LINK, VARY};
use axum::http::{HeaderMap, HeaderValue};
use chrono::{DateTime, Utc};

task_answer! {
    /// A task that has left the document.
    #[schema(as = ArchivedTask)]
    pub(crate) struct ArchivedBody {
        /// Its record.
        pub(crate) record_id: String,
        /// When it was done.
        pub(crate) time: DateTime<Utc>,
        /// What its writer calls it.
        #[schema(required)]
        pub(crate) task_id: Option<String>,
        /// What was to be done; empty if it was redacted.
        pub(crate) intent: String,
        /// The first sentence of what was done.
        pub(crate) summary: String,
    } and {
        /// Whether its outcome says `"success": false`.
        pub(crate) failed: bool,
        /// All of it in one line: time, ids, intent and first sentence.
        pub(crate) line: String,
    }
}

impl From<ArchivedTask> for ArchivedBody {
    fn from(task: ArchivedTask) -> Self {
        task_answer!(Self {
            line: task.line(),
            record_id: task.id.to_string(),
            time: task.time,
            task_id: task.task_id.map(|id| id.to_string()),
            intent: task.intent,
            summary: task.summary,
            failed: task.failed,
        } of task.details)
    }
}

/// The headers of a page; `next` is the path of the next page.
fn page_headers(representation: Representation, next: Option<String>) -> Result<HeaderMap, Problem> {
    let mut headers = HeaderMap::new();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(representation.content_type()),
    );
    if let Some(next) = next {
        // Ids and cursors contain only characters that are allowed in a header.
        let next = format!("<{next}>; rel=\"next\"")
            .parse()
            .map_err(Problem::internal)?;
        headers.insert(LINK, next);
    }
    Ok(headers)
}
