//! The page shown instead of a document's pages if a memory has prompt items and no document.

use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::When;
use super::super::visit::Visit;
use super::data::MemoryEntry;
use askama::Template;
use axum::extract::{Path, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "pages/items_only.html")]
struct View {
    page: Page,
    memory: String,
    base: String,
    actor: String,
    changed: When,
    can_write: bool,
    can_admin: bool,
}

/// Returns the response of the page. If that is 404 but the memory exists, it returns the substitute page.
pub(in crate::dashboard) async fn instead(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
    request: Request,
    next: Next,
) -> Response {
    let is_read = request.method() == Method::GET;
    let answer = next.run(request).await;
    if !is_read || answer.status() != StatusCode::NOT_FOUND {
        return answer;
    }
    let place = ["vaults", &vault, "memories", &memory];
    match visit.api.get(&place).find::<MemoryEntry>().await {
        Ok(Some(entry)) if entry.context_id.is_none() => show(&visit, &vault, entry),
        Ok(_) => answer,
        Err(failure) => failure.into_response(),
    }
}

fn show(visit: &Visit, vault: &str, entry: MemoryEntry) -> Response {
    let memory = entry.memory_id;
    let shown = layout::render(&View {
        page: Page::of(visit, memory.clone())
            .in_memory(vault, &memory, "Document")
            .live(vault, Some(&memory)),
        base: link::memory(vault, &memory, &[]),
        actor: entry.last_actor_id,
        changed: When::new(entry.changed_at, visit.now),
        can_write: visit.may_write(),
        can_admin: visit.may_admin(),
        memory,
    });
    shown.into_response()
}
