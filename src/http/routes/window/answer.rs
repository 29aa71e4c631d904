//! The responses and problems of the routes that change the window.

use super::below;
use crate::domain::window::WindowError;
use crate::http::extract::conditions::{ETag, refused_write};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts::view::X_CONTEXT_VERSION;
use crate::http::routes::records::view::RecordBody;
use crate::storage::{WindowChange, WindowChangeError};
use axum::http::StatusCode;
use axum::http::header::ETAG;
use serde::Serialize;

/// A record that was written, and the version that holds it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = WindowAnswer)]
pub(in crate::http::routes) struct WindowBody {
    /// The record.
    #[serde(flatten)]
    #[schema(value_type = RecordBody)]
    record: Option<RecordBody>,
    /// The newest version.
    #[schema(minimum = 1)]
    version: i64,
    /// Its id.
    context_id: String,
    /// Whether the record was there already, so that no version was made.
    unchanged: bool,
    /// The records that left the document for it: the superseded one first, then the oldest beyond the window.
    archived: Vec<String>,
}

/// Responds with a record: 201 if it was created, 200 if it existed.
pub(in crate::http::routes) fn record(change: &WindowChange) -> JsonAnswer {
    let WindowChange {
        metadata,
        unchanged,
        record,
        archived,
        status: _,
    } = change;
    let body = WindowBody {
        record: record.clone().map(RecordBody::from),
        version: metadata.version,
        context_id: metadata.context_id.to_string(),
        unchanged: *unchanged,
        archived: archived.iter().map(ToString::to_string).collect(),
    };
    let answer = JsonAnswer::new(status(*unchanged), &body)
        .with(ETAG, ETag::of(&metadata.context_id).header_value())
        .with(X_CONTEXT_VERSION, metadata.version.into());
    let Some(record) = record else { return answer };
    answer.at(&below(
        &metadata.vault_id,
        &metadata.memory_id,
        &format!("records/{}", record.id),
    ))
}

/// 201 if a version was saved, 200 if nothing changed.
pub(in crate::http::routes) fn status(unchanged: bool) -> StatusCode {
    if unchanged {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    }
}

impl From<WindowChangeError> for Problem {
    fn from(error: WindowChangeError) -> Self {
        let message = error.to_string();
        match error {
            WindowChangeError::PreconditionFailed(failed) => refused_write(&failed),
            WindowChangeError::OtherTask(id) => Self::new(
                Kind::Conflict,
                format!("{message}; give this task another id, or send what was sent first"),
            )
            .with("field", "task_id")
            .with("record_id", id.to_string()),
            WindowChangeError::Window(WindowError::TooLarge { before, bytes, limit }) => {
                Self::invalid("context", format!("{message}; nothing was saved"))
                    .with("before", before)
                    .with("actual", bytes)
                    .with("limit", limit)
            }
            WindowChangeError::Window(WindowError::NotActive { active, .. }) => {
                let active: Vec<_> = active.iter().map(ToString::to_string).collect();
                let those = if active.is_empty() {
                    "there are none".to_owned()
                } else {
                    active.join(", ")
                };
                Self::invalid("supersedes", format!("{message}; active: {those}")).with("active", active)
            }
            WindowChangeError::Window(WindowError::IdsExhausted(_)) => Self::invalid("body", message),
            WindowChangeError::Storage(error) => error.into(),
        }
    }
}
