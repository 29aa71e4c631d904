//! `GET /ui/vaults/{vault_id}`: the memories of a vault, sorted and filtered.

use crate::dashboard::failure::Failure;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::{Pager, Visit};
use crate::dashboard::{filters, link};
use crate::http::responses::{List, MemoryEntry};
use askama::Template;
use axum::extract::Path;
use axum::response::{Redirect, Response};

/// The sort orders: the route's name, the column's heading, its `aria-sort`.
const SORTS: [(&str, &str, &str); 3] = [
    ("memory_id", "Memory", "ascending"),
    ("bytes", "Size", "descending"),
    ("changed_at", "Last change", "descending"),
];

#[derive(Template)]
#[template(path = "pages/memories.html")]
struct View {
    page: Page,
    prefix: String,
    sort: String,
    columns: Vec<Column>,
    memories: Vec<MemoryEntry>,
    pager: Pager,
    /// The largest document, in bytes.
    cap: usize,
}

struct Column {
    label: &'static str,
    href: String,
    sorted: Option<&'static str>,
    is_number: bool,
}

/// Shows them.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let sort = visit.param("sort").unwrap_or("memory_id");
    let list: List<MemoryEntry> = visit
        .api
        .get(&["vaults", &vault, "memories"])
        .maybe("prefix", visit.param("prefix"))
        .maybe("cursor", visit.param("cursor"))
        .query("sort", sort)
        .read()
        .await?;
    let column = |(name, label, order): (&'static str, &'static str, &'static str)| Column {
        label,
        href: visit.with(&[("sort", Some(name)), ("cursor", None)]),
        sorted: (name == sort).then_some(order),
        is_number: name == "bytes",
    };
    layout::render(&View {
        page: Page::of_vault(&visit, vault.clone(), &vault, "Memories").await,
        columns: SORTS.map(column).into(),
        pager: visit.pager(list.next_cursor.as_deref()),
        memories: list.items,
        prefix: visit.param("prefix").unwrap_or_default().to_owned(),
        sort: sort.to_owned(),
        cap: visit.services.context_bytes,
    })
}

/// `GET /ui/vaults/{vault_id}/open`: the memory whose name was entered, or the form for its first document.
pub(in crate::dashboard) async fn open(visit: Visit, Path(vault): Path<String>) -> Redirect {
    match visit.param("memory") {
        Some(memory) => Redirect::to(&link::memory(&vault, memory.trim(), &["edit"])),
        None => Redirect::to(&link::vault(&vault, &[])),
    }
}
