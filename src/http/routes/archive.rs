//! Tasks that were archived from the document.

use crate::domain::document::written_time;
use crate::domain::window::{ArchivedTask, Epic, Grouping};
use crate::http::extract::accept::{Accept, Representation};
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::{Params, Query};
use crate::http::names::GroupingName;
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::routes::window::below;
use crate::http::state::AppState;
use crate::storage::window::HistoryKey;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

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
    operation_id = "GetHistory",
    tag = "window",
    params(Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
            (List<ArchivedBody> = "application/json"),
        )),
    )
)]
pub(crate) async fn history(
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
        lookup::require(&state, &vault_id, &memory_id).await?;
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
    operation_id = "GetEpics",
    tag = "window",
    params(EpicParams, Page),
    responses(
        (status = 200, description = "One page.", headers(("Link")), content(
            (List<EpicBody> = "application/json"),
            (String = "text/markdown; charset=utf-8"),
            (String = "text/plain; charset=utf-8"),
        )),
    )
)]
pub(crate) async fn epics(
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
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let key = |epic: &Epic| epic.name.clone().unwrap_or_default();
    let list: List<EpicBody> = page.of(&name, epics, key, EpicBody::from);
    let grouping: &str = by.into();
    let path = below(&vault_id, &memory_id, &format!("archive/epics?by={grouping}&"));
    list.represented(representation, &page, &path, as_text)
}

fn as_text(epics: &[EpicBody]) -> String {
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
