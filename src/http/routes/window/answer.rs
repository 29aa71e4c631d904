//! The responses and problems of the routes that change the window.

use super::below;
use crate::http::extract::conditions::ETag;
use crate::http::json_answer::JsonAnswer;
use crate::http::routes::contexts::view::X_CONTEXT_VERSION;
use crate::http::routes::records::view::RecordBody;
use crate::storage::WindowChange;
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
