//! The window of recent tasks and decisions of a memory, the tasks that were archived from it, and what the routes that change it share.

pub(super) mod fields;

use crate::domain::document::written_time;
use crate::domain::ids::{ActorId, MemoryId, RecordKind, VaultId};
use crate::domain::window::{ArchivedTask, Epic, Grouping, Sizes, Status, Window};
use crate::http::extract::headers::{Accept, ConditionHeaders, Conditions, ETag, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{MemoryPath, Params, Path, Query};
use crate::http::names::GroupingName;
use crate::http::problem::Problem;
use crate::http::routes::contexts;
use crate::http::routes::contexts::{saved, validators};
use crate::http::routes::records::RecordBody;
use crate::http::state::AppState;
use crate::storage::idempotency::KeptAnswer;
use crate::storage::window::HistoryKey;
use crate::storage::{WindowChange, Writer};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;

/// The writer: actor, memory, and the window configuration of its vault.
pub(super) fn writer(state: &AppState, path: MemoryPath, actor: ActorId, conditions: Conditions) -> Writer {
    let Path((vault, memory)) = path;
    let (tasks, decisions) = state.settings.window.of_vault(vault.as_str());
    Writer {
        sizes: Sizes {
            tasks,
            decisions,
            context_bytes: state.settings.context_bytes,
        },
        vault,
        memory,
        actor,
        preconditions: conditions.for_write(),
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
    _: Query<()>,
    accept: Accept,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let version = contexts::version(&state, &vault_id, &memory_id, None).await?;
    let etag = ETag::of(&version.metadata.context_id).representation("window");
    let etag = etag.in_form(representation);
    let headers = validators(&version.metadata, &etag);
    if conditions.has_already(&etag)? {
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

/// A task that has left the document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
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
    /// The larger work it is a part of.
    #[schema(required)]
    pub(crate) epic: Option<String>,
    /// Whether its outcome says `"success": false`.
    pub(crate) failed: bool,
    /// All of it in one line: time, ids, intent and first sentence.
    pub(crate) line: String,
}

impl From<ArchivedTask> for ArchivedBody {
    fn from(task: ArchivedTask) -> Self {
        Self {
            line: task.line(),
            record_id: task.id.to_string(),
            time: task.time,
            task_id: task.task_id.map(|id| id.to_string()),
            intent: task.intent,
            summary: task.summary,
            failed: task.failed,
            epic: task.details.epic,
        }
    }
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
            (List<ArchivedBody> = "application/json"),
        )),
    )
)]
pub(crate) async fn get_history(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(page): Query<Page>,
    accept: Accept,
) -> Result<Response, Problem> {
    let representation = accept.choose(&Representation::OF_MARKDOWN)?;
    let name = format!("history/{vault_id}/{memory_id}");
    let after = page.after::<HistoryKey>(&name)?;
    let tasks = state
        .storage
        .history(&vault_id, &memory_id, after, page.fetch())
        .await?;
    if tasks.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let key = |(key, _): &(HistoryKey, ArchivedTask)| *key;
    let list: List<ArchivedBody> = page.of(&name, tasks, key, |(_, task)| task.into());
    let path = below(&vault_id, &memory_id, "archive/history?");
    list.represented(representation, &page, &path, |tasks| {
        tasks.iter().map(|task| format!("- {}\n", task.line)).collect()
    })
}

/// What the roll-ups are made by.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EpicParams {
    /// The epic that tasks name, or the ISO week of their time in UTC; `epic` without it.
    #[param(inline)]
    by: Option<GroupingName>,
}

impl Params for EpicParams {}

/// A roll-up of tasks that have left the document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Epic)]
pub(crate) struct EpicBody {
    /// The epic, or the week as in `2026-W47`; null for tasks that name no epic.
    #[schema(required)]
    pub(crate) name: Option<String>,
    /// How many tasks.
    #[schema(minimum = 1)]
    pub(crate) tasks: i64,
    /// When the first was done.
    pub(crate) first: DateTime<Utc>,
    /// When the last was done.
    pub(crate) last: DateTime<Utc>,
    /// The last ten, in the order of time.
    #[schema(max_items = 10)]
    pub(crate) latest: Vec<ArchivedBody>,
}

impl From<Epic> for EpicBody {
    fn from(epic: Epic) -> Self {
        Self {
            name: epic.name,
            tasks: epic.tasks,
            first: epic.first,
            last: epic.last,
            latest: epic.latest.into_iter().map(ArchivedBody::from).collect(),
        }
    }
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
            (List<EpicBody> = "application/json"),
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
        )),
    )
)]
pub(crate) async fn get_epics(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(params): Query<(EpicParams, Page)>,
    accept: Accept,
) -> Result<Response, Problem> {
    let (EpicParams { by }, page) = params;
    let by = by.map_or(Grouping::Epic, |by| by.0);
    let offered = [
        Representation::Json,
        Representation::Markdown,
        Representation::Plain,
    ];
    let representation = accept.choose(&offered)?;
    let name = format!("epics/{vault_id}/{memory_id}/{by:?}");
    let after = page.after::<String>(&name)?;
    let epics = state
        .storage
        .epics(&vault_id, &memory_id, by, after.as_deref(), page.fetch())
        .await?;
    if epics.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    let key = |epic: &Epic| epic.name.clone().unwrap_or_default();
    let list: List<EpicBody> = page.of(&name, epics, key, EpicBody::from);
    let grouping: &str = by.into();
    let path = below(&vault_id, &memory_id, &format!("archive/epics?by={grouping}&"));
    list.represented(representation, &page, &path, epics_as_text)
}

fn epics_as_text(epics: &[EpicBody]) -> String {
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
