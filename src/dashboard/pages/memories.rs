//! `GET /ui/vaults/{vault_id}`: the memories of a vault.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Bar, Pager, When, grouped, size};
use super::super::visit::Visit;
use super::data::{List, MemoryEntry, Source};
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
    vault: String,
    path: String,
    prefix: String,
    sort: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
    pager: Pager,
    can_write: bool,
}

struct Column {
    label: &'static str,
    href: String,
    sorted: Option<&'static str>,
    is_number: bool,
}

struct Row {
    id: String,
    href: String,
    version: String,
    size: String,
    fill: Bar,
    percent: String,
    actor: String,
    source: Option<Source>,
    changed: When,
}

/// Shows them, sorted and filtered.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let path = link::vault(&vault, &[]);
    let (prefix, cursor) = (visit.param("prefix"), visit.param("cursor"));
    let sort = visit.param("sort").unwrap_or("memory_id");
    let list: List<MemoryEntry> = visit
        .api
        .get(&["vaults", &vault, "memories"])
        .maybe("prefix", prefix)
        .maybe("cursor", cursor)
        .query("sort", sort)
        .read()
        .await?;
    let column = |(name, label, order): (&'static str, &'static str, &'static str)| Column {
        label,
        href: link::with_query(&path, &[("sort", Some(name)), ("prefix", prefix)]),
        sorted: (name == sort).then_some(order),
        is_number: name == "bytes",
    };
    let cap = visit.services.context_bytes as f64;
    let row = |memory: MemoryEntry| {
        let percent = memory.bytes as f64 / cap * 100.0;
        Row {
            href: link::memory(&vault, &memory.memory_id, &[]),
            version: grouped(memory.version),
            size: size(memory.bytes),
            fill: Bar::new(percent, format!("{percent:.0} percent of the largest size")),
            percent: format!("{percent:.0} %"),
            actor: memory.last_actor_id,
            source: memory.last_source,
            changed: When::new(memory.changed_at, visit.now),
            id: memory.memory_id,
        }
    };
    let query = [("sort", Some(sort)), ("prefix", prefix)];
    layout::render(&View {
        page: Page::of_vault(&visit, vault.clone(), &vault, "Memories")
            .await
            .live(&vault, None),
        columns: SORTS.map(column).into(),
        rows: list.items.into_iter().map(row).collect(),
        pager: Pager::new(&path, &query, cursor, list.next_cursor.as_deref()),
        prefix: prefix.unwrap_or_default().to_owned(),
        sort: sort.to_owned(),
        can_write: visit.may_write(),
        path,
        vault,
    })
}

/// `GET /ui/vaults/{vault_id}/open`: the memory whose name was entered, or the form for its first document.
pub(in crate::dashboard) async fn open(visit: Visit, Path(vault): Path<String>) -> Redirect {
    match visit.param("memory") {
        Some(memory) => Redirect::to(&link::memory(&vault, memory.trim(), &["edit"])),
        None => Redirect::to(&link::vault(&vault, &[])),
    }
}
