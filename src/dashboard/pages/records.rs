//! `GET …/records`: the records of a memory, active and archived, of one kind or all.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Pager, Visit};
use crate::http::responses::{List, RecordBody};
use askama::Template;
use axum::extract::Path;
use axum::response::Response;

#[derive(Template)]
#[template(path = "pages/records.html")]
struct View {
    page: Page,
    kind: String,
    status: String,
    records: Vec<RecordBody>,
    pager: Pager,
}

/// Shows the records.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let (kind, status) = (visit.param("kind"), visit.param("status"));
    let list: List<RecordBody> = visit
        .api
        .of_memory(&vault, &memory, &["records"])
        .maybe("kind", kind)
        .maybe("status", status)
        .maybe("cursor", visit.param("cursor"))
        .read()
        .await?;
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, records")).in_memory(&vault, &memory, "Records"),
        kind: kind.unwrap_or_default().to_owned(),
        status: status.unwrap_or("active").to_owned(),
        pager: visit.pager(list.next_cursor.as_deref()),
        records: list.items,
    })
}
