//! `GET …/updates`: the runs of a memory; `GET /ui/vaults/{vault_id}/inbox`: proposals of a vault that wait for approval.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Pager, When, took};
use super::super::visit::Visit;
use super::data::{List, Run};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/updates.html")]
struct View {
    page: Page,
    rows: Vec<Row>,
    pager: Pager,
}

pub(super) struct Row {
    pub(super) href: String,
    pub(super) memory_href: String,
    pub(super) task: String,
    pub(super) began: When,
    pub(super) took: String,
    pub(super) operations: usize,
    pub(super) rejected: usize,
    pub(super) version: Option<i64>,
    pub(super) run: Run,
}

impl Row {
    pub(super) fn of(vault: &str, run: Run, visit: &Visit) -> Self {
        let outcome = run.outcome.as_ref();
        Self {
            href: link::memory(vault, &run.memory_id, &["updates", &run.update_id]),
            memory_href: link::memory(vault, &run.memory_id, &[]),
            task: run.task(),
            began: When::new(run.created_at, visit.now),
            took: run.millis().map(took).unwrap_or_default(),
            operations: outcome.map_or(0, |outcome| outcome.operations.len()),
            rejected: outcome.map_or(0, |outcome| outcome.rejected.len()),
            version: run.version,
            run,
        }
    }
}

/// Shows the runs of a memory.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let cursor = visit.param("cursor");
    let list: List<Run> = visit
        .api
        .get(&["vaults", &vault, "memories", &memory, "updates"])
        .maybe("cursor", cursor)
        .read()
        .await?;
    let path = link::memory(&vault, &memory, &["updates"]);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, updates"))
            .in_memory(&vault, &memory, "Updates")
            .live(&vault, Some(&memory)),
        pager: Pager::new(&path, &[], cursor, list.next_cursor.as_deref()),
        rows: list
            .items
            .into_iter()
            .map(|run| Row::of(&vault, run, &visit))
            .collect(),
    })
}

#[derive(Template)]
#[template(path = "pages/inbox.html")]
struct Inbox {
    page: Page,
    vault: String,
    path: String,
    rows: Vec<Row>,
    pager: Pager,
    status: String,
    statuses: [&'static str; 14],
}

const STATUSES: [&str; 14] = [
    "proposed",
    "approved",
    "rejected",
    "expired",
    "queued",
    "running",
    "applied",
    "unchanged",
    "dry_run",
    "invalid",
    "failed",
    "conflict",
    "resolved",
    "cancelled",
];

/// Proposals of a vault that wait for approval, at most a hundred.
pub(super) async fn waiting(visit: &Visit, vault: &str) -> Result<List<Run>, Failure> {
    let ask = visit
        .api
        .get(&["vaults", vault, "updates"])
        .query("status", STATUSES[0]);
    ask.query("limit", 100).read().await
}

/// How many there are, if there are any. A page is shown without the number rather than not at all.
pub(in crate::dashboard) async fn number_of_waiting(visit: &Visit, vault: &str) -> Option<String> {
    let list = waiting(visit, vault).await.ok()?;
    let number = list.items.len();
    match list.next_cursor {
        Some(_) => Some(format!("{number}+")),
        None => (number > 0).then(|| number.to_string()),
    }
}

/// Shows proposals that wait for approval, or with `?status=` runs of another status.
pub(in crate::dashboard) async fn inbox(
    visit: Visit,
    Path(vault): Path<String>,
) -> Result<Response, Failure> {
    let cursor = visit.param("cursor");
    let status = visit.param("status").unwrap_or("proposed");
    let list: List<Run> = visit
        .api
        .get(&["vaults", &vault, "updates"])
        .query("status", status)
        .maybe("cursor", cursor)
        .read()
        .await?;
    let path = link::vault(&vault, &["inbox"]);
    layout::render(&Inbox {
        page: Page::of_vault(&visit, format!("{vault}, inbox"), &vault, "Inbox")
            .await
            .live(&vault, None),
        pager: Pager::new(
            &path,
            &[("status", Some(status))],
            cursor,
            list.next_cursor.as_deref(),
        ),
        rows: list
            .items
            .into_iter()
            .map(|run| Row::of(&vault, run, &visit))
            .collect(),
        status: status.to_owned(),
        statuses: STATUSES,
        path,
        vault,
    })
}
