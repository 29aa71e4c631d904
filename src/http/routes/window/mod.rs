//! The window of recent tasks and decisions of a memory, and what the routes that change it share.

use crate::domain::ids::{ActorId, MemoryId, RecordKind, VaultId};
use crate::domain::window::{Sizes, Status, Window};
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::caller::JsonAnswer;
use crate::http::extract::conditions::{ConditionHeaders, Conditions, ETag, Verdict};
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::contexts::read::{X_CONTEXT_VERSION, validators};
use crate::http::routes::lookup;
use crate::http::routes::records::RecordBody;
use crate::http::state::AppState;
use crate::storage::{WindowChange, Writer};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) mod fields;
pub(crate) mod import;

/// The writer: actor, memory, and the window configuration of its vault.
pub(super) fn writer(state: &AppState, path: MemoryPath, actor: ActorId, conditions: Conditions) -> Writer {
    let Path((vault_id, memory_id)) = path;
    Writer {
        sizes: sizes(state, &vault_id),
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
    }
}

fn sizes(state: &AppState, vault: &VaultId) -> Sizes {
    let (tasks, decisions) = state.settings.window.of_vault(vault.as_str());
    Sizes {
        tasks,
        decisions,
        context_bytes: state.settings.context_bytes,
    }
}

/// A path below a memory. Ids contain only characters that are allowed in a header.
pub(super) fn below(vault: &VaultId, memory: &MemoryId, what: &str) -> String {
    format!("/v1/vaults/{vault}/memories/{memory}/{what}")
}

/// What stands in the window.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Window)]
pub(crate) struct WindowBody {
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The version it was read from.
    #[schema(minimum = 1)]
    pub(crate) version: i64,
    /// Its id.
    pub(crate) context_id: String,
    /// What is aimed at.
    pub(crate) status: Status,
    /// Recent tasks in the order of the document, the newest first.
    pub(crate) tasks: Vec<TaskBody>,
    /// Decisions, likewise.
    pub(crate) decisions: Vec<DecisionBody>,
}

/// A recent task.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WindowTask)]
pub(crate) struct TaskBody {
    /// Its record.
    pub(crate) record_id: String,
    /// When it was done, if its line says so.
    #[schema(required)]
    pub(crate) time: Option<DateTime<Utc>>,
    /// What its writer calls it.
    #[schema(required)]
    pub(crate) task_id: Option<String>,
    /// What was to be done.
    pub(crate) intent: String,
    /// What was done.
    pub(crate) summary: String,
    /// A report on it.
    #[schema(required, value_type = Option<serde_json::Value>)]
    pub(crate) outcome: Option<Value>,
    /// Whether the outcome says `"success": false`.
    pub(crate) failed: bool,
    /// The larger work it is a part of.
    #[schema(required)]
    pub(crate) epic: Option<String>,
}

/// A decision that holds.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WindowDecision)]
pub(crate) struct DecisionBody {
    /// Its record.
    pub(crate) record_id: String,
    /// When it was made, if its line says so.
    #[schema(required)]
    pub(crate) time: Option<DateTime<Utc>>,
    /// What was decided.
    pub(crate) decision: String,
    /// Why.
    #[schema(required)]
    pub(crate) reason: Option<String>,
}

/// Read the window
///
/// Status, recent tasks in full, and decisions, as Markdown or, with `Accept: application/json`, as JSON. What is
/// older stands in the archive.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/window",
    operation_id = "GetWindow",
    tag = "window",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The window.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (WindowBody = "application/json"),
        )),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    _: Query<()>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let version = lookup::version(&state, &vault_id, &memory_id, None).await?;
    let mut etag = ETag::of(&version.metadata.context_id).representation("window");
    if representation == Representation::Json {
        etag = etag.representation("json");
    }
    let headers = validators(&version.metadata, &etag);
    if conditions.for_read(&etag)? == Verdict::NotModified {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let ids: Vec<i64> = crate::domain::document::records(&version.text)
        .into_iter()
        .filter(|record| record.id.kind == RecordKind::Task)
        .map(|record| record.id.number)
        .collect();
    let reported = state.storage.reported_tasks(&vault_id, &memory_id, &ids).await?;
    let window = Window::of(&version.text, reported);
    if representation != Representation::Json {
        return Ok((headers, representation, window.markdown()).into_response());
    }
    let tasks = window.tasks.into_iter().map(|mut recent| TaskBody {
        record_id: recent.id.to_string(),
        time: recent.time,
        failed: recent.task.has_failed(),
        task_id: recent.task.task_id.map(|id| id.to_string()),
        intent: recent.task.intent,
        summary: recent.task.summary,
        outcome: recent.task.details.outcome.take(),
        epic: recent.task.details.epic,
    });
    let decisions = window.decisions.into_iter().map(|made| DecisionBody {
        record_id: made.id.to_string(),
        time: made.time,
        decision: made.decision,
        reason: made.reason,
    });
    let body = WindowBody {
        vault_id: vault_id.to_string(),
        memory_id: memory_id.to_string(),
        version: version.metadata.version,
        context_id: version.metadata.context_id.to_string(),
        status: window.status,
        tasks: tasks.collect(),
        decisions: decisions.collect(),
    };
    Ok((headers, Json(body)).into_response())
}

/// A record that was written, and the version that holds it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = WindowAnswer)]
pub(in crate::http::routes) struct WindowAnswer {
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
pub(in crate::http::routes) fn record_answer(change: &WindowChange) -> JsonAnswer {
    let WindowChange {
        metadata,
        unchanged,
        record,
        archived,
        status: _,
    } = change;
    let body = WindowAnswer {
        record: record.clone().map(RecordBody::from),
        version: metadata.version,
        context_id: metadata.context_id.to_string(),
        unchanged: *unchanged,
        archived: archived.iter().map(ToString::to_string).collect(),
    };
    let answer = JsonAnswer::new(saved_status(*unchanged), &body)
        .with(ETAG, ETag::of(&metadata.context_id).header_value())
        .with(X_CONTEXT_VERSION, metadata.version.into());
    let Some(record) = record else { return answer };
    answer.at(&below(
        &metadata.vault_id,
        &metadata.memory_id,
        &format!("records/{}", record.record.id),
    ))
}

/// 201 if a version was saved, 200 if nothing changed.
pub(in crate::http::routes) fn saved_status(unchanged: bool) -> StatusCode {
    if unchanged {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    }
}
