//! `GET …/updates`: the runs of a memory; `GET /ui/vaults/{vault_id}/inbox`: proposals of a vault that wait for approval, or with
//! `?status=` runs of another status.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::link;
use crate::dashboard::visit::{Pager, Visit};
use crate::http::responses::List;
use crate::storage::updates::{Run, RunStatus};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use http::Method;
use serde_json::{Value, json};
use strum::VariantNames;

#[derive(Template)]
#[template(path = "pages/updates.html")]
struct View {
    page: Page,
    /// Of an inbox: the status of its runs.
    status: Option<String>,
    statuses: &'static [&'static str],
    runs: Vec<Run>,
    pager: Pager,
}

fn view(visit: &Visit, page: Page, status: Option<&str>, list: List<Run>) -> Result<Response, Failure> {
    layout::render(&View {
        page,
        status: status.map(str::to_owned),
        statuses: RunStatus::VARIANTS,
        pager: visit.pager(list.next_cursor.as_deref()),
        runs: list.items,
    })
}

/// Shows the runs of a memory.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let ask = visit.api.of_memory(&vault, &memory, &["updates"]);
    let list = ask.maybe("cursor", visit.param("cursor")).read().await?;
    let page = Page::of(&visit, format!("{memory}, updates")).in_memory(&vault, &memory, "Updates");
    view(&visit, page, None, list)
}

/// Proposes a consolidation, and shows the proposal.
pub(in crate::dashboard) async fn consolidate(
    Path(path): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory) = &path;
    let ask = form.of_memory(Method::POST, vault, memory, &["consolidate"])?;
    let runs = link::memory(vault, memory, &["updates"]);
    let proposed = |answer: &Value| {
        Some(answer["update_id"].as_str()?.to_owned()).filter(|_| answer["status"] == "proposed")
    };
    form.send(
        Ok(ask.json(&json!({ "mode": "propose" }))),
        |visit| show(visit, Path(path)),
        |_, answer: Value| {
            Ok(match proposed(&answer) {
                Some(run) => layout::done(&format!("{runs}/{run}"), "proposed"),
                None => layout::done(&runs, "consolidated"),
            })
        },
    )
    .await
}

/// Shows the runs of a vault.
pub(in crate::dashboard) async fn inbox(
    visit: Visit,
    Path(vault): Path<String>,
) -> Result<Response, Failure> {
    let status = visit.param("status").unwrap_or("proposed");
    let ask = visit
        .api
        .get(&["vaults", &vault, "updates"])
        .query("status", status);
    let list = ask.maybe("cursor", visit.param("cursor")).read().await?;
    let page = Page::of_vault(&visit, format!("{vault}, inbox"), &vault, "Inbox").await;
    view(&visit, page, Some(status), list)
}
