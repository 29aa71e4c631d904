//! `GET …/window`: status, recent tasks, decisions, and the archive.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Pager, When};
use super::super::visit::Visit;
use super::data::{ArchivedTask, Epic, List, Window};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use chrono::{DateTime, Utc};

#[derive(Template)]
#[template(path = "pages/window.html")]
struct View {
    page: Page,
    base: String,
    here: String,
    window: Window,
    history: Vec<ArchivedTask>,
    pager: Pager,
    epics: Vec<Epic>,
    by_week: bool,
    now: DateTime<Utc>,
}

impl View {
    fn when(&self, time: &DateTime<Utc>) -> When {
        When::new(*time, self.now)
    }
}

/// Shows the window; `?by=week` groups the archive by week instead of epic.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let place = ["vaults", &vault, "memories", &memory];
    let (cursor, by) = (visit.param("cursor"), visit.param("by").unwrap_or("epic"));
    let (window, history, epics) = futures::join!(
        visit
            .api
            .get(&[&place[..], &["window"]].concat())
            .read::<Window>(),
        visit
            .api
            .get(&[&place[..], &["archive", "history"]].concat())
            .maybe("cursor", cursor)
            .read::<List<ArchivedTask>>(),
        visit
            .api
            .get(&[&place[..], &["archive", "epics"]].concat())
            .query("by", by)
            .read::<List<Epic>>(),
    );
    let (window, history, epics) = (window?, history?, epics?);
    let here = link::memory(&vault, &memory, &["window"]);
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, window"))
            .in_memory(&vault, &memory, "Window")
            .live(&vault, Some(&memory)),
        base: link::memory(&vault, &memory, &[]),
        pager: Pager::new(&here, &[("by", Some(by))], cursor, history.next_cursor.as_deref()),
        window,
        history: history.items,
        epics: epics.items,
        by_week: by == "week",
        now: visit.now,
        here,
    })
}
