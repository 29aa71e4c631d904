//! `GET …/updates`: the runs of a memory; `GET /ui/vaults/{vault_id}/inbox`: proposals of a vault that wait for approval, or with
//! `?status=` runs of another status.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::List;
use crate::storage::updates::{Run, RunStatus};
use askama::Template;
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
    list: List<Run>,
}

/// Shows the runs of a memory.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let ask = visit.of_memory(&["updates"]);
    layout::render(&View {
        list: ask.maybe("cursor", visit.param("cursor")).read().await?,
        page: Page::of_memory(&visit, format!("{}, updates", visit.memory()), "Updates"),
        status: None,
        statuses: RunStatus::VARIANTS,
    })
}

/// Proposes a consolidation, and shows the proposal.
pub(in crate::dashboard) async fn consolidate(form: Form) -> Result<Response, Failure> {
    let ask = form.of_memory(Method::POST, &["consolidate"])?;
    let ask = ask.json(&json!({ "mode": "propose" }));
    form.send(Ok(ask), show, |visit, answer: Value| {
        let run = answer["update_id"].as_str();
        Ok(match run.filter(|_| answer["status"] == "proposed") {
            Some(run) => layout::done(&visit.link(&["updates", run]), "proposed"),
            None => layout::done(&visit.link(&["updates"]), "consolidated"),
        })
    })
    .await
}

/// Shows the runs of a vault.
pub(in crate::dashboard) async fn inbox(visit: Visit) -> Result<Response, Failure> {
    let status = visit.param("status").unwrap_or("proposed");
    let ask = visit.of_vault(&["updates"]).query("status", status);
    layout::render(&View {
        list: ask.maybe("cursor", visit.param("cursor")).read().await?,
        page: Page::of_vault(&visit, format!("{}, inbox", visit.vault()), "Inbox").await,
        status: Some(status.to_owned()),
        statuses: RunStatus::VARIANTS,
    })
}
