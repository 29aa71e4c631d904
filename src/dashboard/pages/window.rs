//! `GET …/window`: status, recent tasks, decisions, and the archive; with `?by=week` by week instead of epic.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Pager, Visit};
use crate::http::responses::{ArchivedBody, EpicBody, List, WindowBody};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/window.html")]
struct View {
    page: Page,
    window: WindowBody,
    history: Vec<ArchivedBody>,
    pager: Pager,
    epics: Vec<EpicBody>,
    by_week: bool,
}

/// Shows the window.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let ask = |below: &[&str]| visit.api.of_memory(&vault, &memory, below);
    let by = visit.param("by").unwrap_or("epic");
    let (window, history, epics) = futures::join!(
        ask(&["window"]).read::<WindowBody>(),
        ask(&["archive", "history"])
            .maybe("cursor", visit.param("cursor"))
            .read::<List<ArchivedBody>>(),
        ask(&["archive", "epics"])
            .query("by", by)
            .read::<List<EpicBody>>(),
    );
    let (window, history, epics) = (window?, history?, epics?);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, window")).in_memory(&vault, &memory, "Window"),
        pager: visit.pager(history.next_cursor.as_deref()),
        window,
        history: history.items,
        epics: epics.items,
        by_week: by == "week",
    })
}
