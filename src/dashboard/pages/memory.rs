//! `GET …/memories/{memory_id}`: the newest document of a memory, with its records; and its deletion. If a memory has prompt items
//! and no document, a page that says so takes the place of the document's.

use super::document::{About, Document, start};
use crate::dashboard::failure::Failure;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::dashboard::{filters, link};
use crate::domain::handoff::Steps;
use crate::http::responses::{ContextBody, List, MemoryBody, RecordBody};
use crate::storage::memories::MemorySummary;
use crate::storage::updates::Run;
use askama::Template;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// Records whose age and evidence are shown.
const RECORDS: usize = 500;

#[derive(Template)]
#[template(path = "pages/memory.html")]
struct View {
    page: Page,
    about: MemoryBody,
    context: ContextBody,
    document: Document,
    starts_at: usize,
    /// Records that are new since this version are marked.
    since: Option<i64>,
    /// What an agent works on, and what it has to wait for.
    steps: Steps,
    /// The only proposal, if just one waits.
    waiting: Option<Run>,
}

/// Shows the memory.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let memory = visit.memory();
    let ask = |below: &[&str]| visit.of_memory(below);
    let waiting = visit.of_vault(&["updates"]);
    let (about, context, records, waiting) = futures::join!(
        ask(&[]).read::<MemoryBody>(),
        ask(&["context"]).read::<ContextBody>(),
        ask(&["records"])
            .query("limit", RECORDS)
            .read::<List<RecordBody>>(),
        waiting
            .query("status", "proposed")
            .query("limit", 100)
            .read::<List<Run>>(),
    );
    let (about, context, records) = (about?, context?, records?);
    // The list is the vault's and may go on; the number is the memory's own.
    let is_only = |run: &Run| about.open_proposals == 1 && run.memory_id.as_str() == memory;
    let waiting = waiting?.items.into_iter().find(is_only);
    let text = context.context.as_deref().unwrap_or_default();
    let since: Option<i64> = visit.number("since");
    let known = records.items.into_iter();
    let known = known.map(|record| (record.record_id.clone(), record)).collect();
    let starts_at = start(&visit, text)?;
    layout::render(&View {
        page: Page::of_memory(&visit, memory, "Document"),
        document: Document::of(text, starts_at, About { known, since }),
        starts_at,
        since: since.filter(|since| *since < context.version),
        steps: Steps::of(text),
        about,
        context,
        waiting,
    })
}

impl View {
    /// What is done now, or else what is left to do.
    fn next_step(&self) -> Option<&String> {
        let progress = &self.steps.progress;
        progress.in_progress.first().or(progress.remaining.first())
    }
}

#[derive(Template)]
#[template(path = "pages/items_only.html")]
struct ItemsOnly {
    page: Page,
    entry: MemorySummary,
}

/// Returns the response of the page. If that is 404 but the memory exists, it returns the substitute page.
pub(in crate::dashboard) async fn instead(visit: Visit, request: Request, next: Next) -> Response {
    let is_read = request.method() == Method::GET;
    let answer = next.run(request).await;
    if !is_read || answer.status() != StatusCode::NOT_FOUND {
        return answer;
    }
    let page = match visit.of_memory(&[]).find::<MemorySummary>().await {
        Ok(Some(entry)) if entry.context_id.is_none() => layout::render(&ItemsOnly {
            page: Page::of_memory(&visit, visit.memory(), "Document"),
            entry,
        }),
        Ok(_) => return answer,
        Err(failure) => Err(failure),
    };
    page.into_response()
}

#[derive(Template)]
#[template(path = "pages/delete.html")]
struct Delete {
    page: Page,
    entry: MemorySummary,
}

impl Delete {
    /// The id of the newest version; empty without a document.
    fn newest(&self) -> &str {
        self.entry.context_id.as_ref().map_or("", |id| id.as_str())
    }
}

/// `GET …/delete`
pub(in crate::dashboard) async fn ask_delete(visit: Visit) -> Result<Response, Failure> {
    let page = Page::of_memory(&visit, format!("Delete {}", visit.memory()), "Document");
    if !page.may_admin() {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "Memories are deleted with the role admin.",
        ));
    }
    layout::render(&Delete {
        page: page.here("delete"),
        entry: visit.of_memory(&[]).read().await?,
    })
}

/// `POST …/delete`
pub(in crate::dashboard) async fn delete(form: Form) -> Result<Response, Failure> {
    let ask = match form.fields.text("name").trim() == form.visit.memory() {
        // Without a document `if_match` is empty; one that was written meanwhile was not confirmed.
        true => form.of_memory(Method::DELETE, &[]),
        false => Err(Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Nothing was deleted: the entered text is not the memory's id.",
        )),
    };
    form.send(ask, ask_delete, |visit, _: Value| {
        Ok(layout::done(&link::vault(visit.vault(), &[]), "deleted"))
    })
    .await
}
