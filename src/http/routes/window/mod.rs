//! The window of recent tasks and decisions of a memory, the tasks that were archived from it, and what the routes that change it share.

pub(super) mod fields;

use crate::domain::document::written_time;
use crate::domain::ids::{MemoryId, RecordId, RecordKind, VaultId};
use crate::domain::window::{
    ArchivedTask, Epic, Grouping, Sizes, Status, Window, WindowDecision, WindowTask,
};
use crate::http::extract::caller::Actor;
use crate::http::extract::headers::{Accept, ConditionHeaders, Conditions, ETag, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{MemoryPath, Path, Query};
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::routes::contexts::{saved, validators};
use crate::http::routes::records::RecordBody;
use crate::http::state::AppState;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::window::HistoryKey;
use crate::storage::{WindowChange, Writer};
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Who writes into which window, and its size in that vault.
#[derive(Debug)]
pub(crate) struct WriterOf(pub(super) Writer);

impl FromRequestParts<AppState> for WriterOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Path((vault, memory)) = MemoryPath::from_request_parts(parts, state).await?;
        let Actor(actor) = Actor::from_request_parts(parts, state).await?;
        let conditions = Conditions::from_request_parts(parts, state).await?;
        let (tasks, decisions) = state.settings.config.window.of_vault(vault.as_str());
        Ok(Self(Writer {
            sizes: Sizes {
                tasks,
                decisions,
                context_bytes: state.settings.config.limits.context_bytes,
            },
            vault,
            memory,
            actor,
            preconditions: conditions.for_write(),
        }))
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
    pub(crate) tasks: Vec<WindowTask>,
    /// Decisions, likewise.
    pub(crate) decisions: Vec<WindowDecision>,
}

/// Read the window
///
/// Status, recent tasks in full, and decisions, as Markdown or, with `Accept: application/json`, as JSON. What is
/// older stands in the archive.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/window",
    params(ConditionHeaders),
    responses(
        (status = 200, description = "The window.", headers(("ETag"), ("Last-Modified"), ("X-Context-Version" = i64)), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (WindowBody = "application/json"),
        )),
    )
)]
pub(crate) async fn get_window(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let version = contexts::version(&state, &vault_id, &memory_id, None).await?;
    let etag = ETag::of(&version.metadata.context_id).representation("window");
    let etag = etag.in_form(representation);
    let is_json = representation == Representation::Json;
    let headers = validators(&version.metadata, &etag);
    if !is_json && conditions.has_already(&etag)? {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let ids: Vec<RecordId> = crate::domain::document::records(&version.text)
        .into_iter()
        .filter(|record| record.id.kind == RecordKind::Task)
        .map(|record| record.id)
        .collect();
    let tasks = state.storage.records(&vault_id, &memory_id, &ids).await?;
    let reported = tasks
        .into_iter()
        .filter_map(|task| Some((task.record.id, task.reported?)));
    let window = Window::of(&version.text, reported.collect());
    if !is_json {
        return Ok((headers, representation, window.markdown()).into_response());
    }
    let body = WindowBody {
        vault_id: vault_id.to_string(),
        memory_id: memory_id.to_string(),
        version: version.metadata.version,
        context_id: version.metadata.context_id.to_string(),
        status: window.status,
        tasks: window.tasks,
        decisions: window.decisions,
    };
    contexts::with_records(&version.metadata, etag, &conditions, &body)
}

/// A record that was written, and the version that holds it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
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
pub(in crate::http::routes) fn record_answer(change: &WindowChange) -> KeptAnswer {
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
    let answer = saved(*unchanged, metadata, &body);
    let Some(record) = record else { return answer };
    answer.with(
        LOCATION,
        below(
            &metadata.vault_id,
            &metadata.memory_id,
            &format!("records/{}", record.record.id),
        ),
    )
}

/// Read the history
///
/// The tasks that have left the document in the order of their times, one line a task, as text or, with
/// `Accept: application/json`, as a list. `Link` names the next page of the text.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/archive/history",
    params(Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (List<ArchivedTask> = "application/json"),
        )),
    )
)]
pub(crate) async fn get_history(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    page: Page,
    accept: Accept,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let after = page.after::<HistoryKey>()?;
    let tasks = state
        .storage
        .history(&vault_id, &memory_id, after, page.fetch())
        .await?;
    if tasks.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let key = |(key, _): &(HistoryKey, ArchivedTask)| *key;
    let list: List<ArchivedTask> = page.of(tasks, key, |(_, task)| task);
    list.represented(representation, &page, |tasks| {
        tasks.iter().map(|task| format!("- {}\n", task.line)).collect()
    })
}

/// What the roll-ups are made by.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EpicParams {
    /// The epic that tasks name, or the ISO week of their time in UTC; `epic` without it.
    #[param(inline)]
    by: Option<Grouping>,
}

/// Roll up the history
///
/// The tasks that have left the document by epic or by week, in the order of the names (of epics by their bytes, tasks
/// without one first): how many, from when to when, and the last ten.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/archive/epics",
    params(EpicParams, Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (List<Epic> = "application/json"),
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
        )),
    )
)]
pub(crate) async fn get_epics(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(EpicParams { by }): Query<EpicParams>,
    page: Page,
    accept: Accept,
) -> Result<Response, Problem> {
    let by = by.unwrap_or(Grouping::Epic);
    let offered = [
        Representation::Json,
        Representation::Markdown,
        Representation::Plain,
    ];
    let representation = accept.choose(&offered)?;
    let after = page.after::<String>()?;
    let epics = state
        .storage
        .epics(&vault_id, &memory_id, by, after.as_deref(), page.fetch())
        .await?;
    if epics.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let key = |epic: &Epic| epic.name.clone().unwrap_or_default();
    let list: List<Epic> = page.of(epics, key, |epic| epic);
    list.represented(representation, &page, epics_as_text)
}

fn epics_as_text(epics: &[Epic]) -> String {
    let mut text = String::new();
    for epic in epics {
        let name = epic.name.as_deref().unwrap_or("(no epic)");
        let (first, last) = (written_time(epic.first), written_time(epic.last));
        let tasks = if epic.tasks == 1 { "task" } else { "tasks" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {name}\n{} {tasks}, {first} to {last}", epic.tasks);
        for task in &epic.latest {
            let _ = writeln!(text, "- {}", task.line);
        }
        text.push('\n');
    }
    text
}
