//! `GET …/timeline`: the versions of a memory, newest first, with what each changed in words; and the slider over them.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Pager, Visit};
use crate::http::responses::{ContextBody, List, LogEntry, MemoryEntry};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use std::collections::HashMap;

#[derive(Template)]
#[template(path = "pages/timeline.html")]
struct View {
    page: Page,
    newest: i64,
    versions: Vec<ContextBody>,
    logs: HashMap<i64, String>,
    /// Later versions are marked.
    since: i64,
    pager: Pager,
}

/// Shows the versions.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let ask = |below: &[&str]| visit.api.of_memory(&vault, &memory, below);
    let (head, versions, log) = futures::join!(
        ask(&[]).read::<MemoryEntry>(),
        ask(&["contexts"])
            .maybe("cursor", visit.param("cursor"))
            .read::<List<ContextBody>>(),
        ask(&["log"])
            .maybe("cursor", visit.param("log"))
            .read::<List<LogEntry>>(),
    );
    let (head, versions, log) = (head?, versions?, log?);
    // Both lists go on with the next page.
    let link = |cursor: Option<&str>, log| visit.with(&[("cursor", cursor), ("log", log)]);
    let next = versions.next_cursor.as_deref();
    let logs = log.items.into_iter().map(|entry| (entry.version, entry.log));
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, timeline")).in_memory(&vault, &memory, "Timeline"),
        newest: head.version,
        pager: Pager {
            first: visit.param("cursor").map(|_| link(None, None)),
            next: next.map(|next| link(Some(next), log.next_cursor.as_deref())),
        },
        versions: versions.items,
        logs: logs.collect(),
        since: visit.number("since").unwrap_or(i64::MAX),
    })
}

impl View {
    /// The size of the largest version of this page.
    fn largest(&self) -> i32 {
        let sizes = self.versions.iter().map(|version| version.bytes);
        sizes.max().unwrap_or(0).max(1)
    }

    fn log(&self, version: &ContextBody) -> &str {
        self.logs.get(&version.version).map_or("", |log| log.trim())
    }
}
