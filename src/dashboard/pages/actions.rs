//! Actions on versions and memories: restore, redact, delete.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::visit::Visit;
use super::data::MemoryEntry;
use crate::dashboard::pages::edit::explain;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// `POST …/versions/{ref}/restore`
pub(in crate::dashboard) async fn restore(
    Path((vault, memory, reference)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let route = [
        "vaults", &vault, "memories", &memory, "contexts", &reference, "restore",
    ];
    let body = match form.get("reason") {
        Some(reason) => json!({ "reason": reason }),
        None => json!({}),
    };
    let ask = form
        .visit
        .api
        .post(&route)
        .if_match(form.text("if_match"))
        .header("idempotency-key", form.text("once"));
    match ask.json(&body).done().await {
        Ok(_) => Ok(layout::done(&link::memory(&vault, &memory, &[]), "restored").into_response()),
        Err(failure) => {
            let back = link::memory(&vault, &memory, &["versions", &reference]);
            explain(&form, (&vault, &memory), failure, "Restoring a version", back).await
        }
    }
}

/// `POST …/versions/{ref}/redact`
pub(in crate::dashboard) async fn redact(
    Path((vault, memory, reference)): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    is_sure(&form)?;
    let route = [
        "vaults", &vault, "memories", &memory, "contexts", &reference, "redact",
    ];
    let ask = form
        .visit
        .api
        .post(&route)
        .if_match(form.text("if_match"))
        .header("idempotency-key", form.text("once"));
    let here = link::memory(&vault, &memory, &["versions", &reference]);
    match ask.json(&json!({ "reason": form.text("reason") })).done().await {
        Ok(_) => {
            // The version itself has no text any more.
            let timeline = link::memory(&vault, &memory, &["timeline"]);
            Ok(layout::done(&timeline, "redacted").into_response())
        }
        Err(failure) => explain(&form, (&vault, &memory), failure, "Redacting a version", here).await,
    }
}

/// Irreversible actions require a confirmation.
pub(super) fn is_sure(form: &Form) -> Result<(), Failure> {
    if form.get("sure") == Some("yes") {
        return Ok(());
    }
    Err(Failure::with_status(
        StatusCode::UNPROCESSABLE_ENTITY,
        "Nothing was done: tick the box that says that it cannot be undone.",
    ))
}

#[derive(Template)]
#[template(path = "pages/delete.html")]
struct View {
    page: Page,
    base: String,
    memory: String,
    entry: MemoryEntry,
}

/// `GET …/delete`
pub(in crate::dashboard) async fn ask_delete(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    if !visit.may_admin() {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "Memories are deleted with the role admin.",
        ));
    }
    let entry = visit
        .api
        .get(&["vaults", &vault, "memories", &memory])
        .read()
        .await?;
    layout::render(&View {
        page: Page::of(&visit, format!("Delete {memory}"))
            .in_memory(&vault, &memory, "Document")
            .crumb(Crumb::here("delete")),
        base: link::memory(&vault, &memory, &[]),
        memory,
        entry,
    })
}

/// `POST …/delete`
pub(in crate::dashboard) async fn delete(
    Path((vault, memory)): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    if form.text("name").trim() != memory {
        return Err(Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Nothing was deleted: the entered text is not the memory's id.",
        ));
    }
    let ask = form
        .visit
        .api
        .ask(Method::DELETE, &["vaults", &vault, "memories", &memory]);
    let ask = match form.get("if_match") {
        Some(seen) => ask.if_match(seen),
        // There was no document; one written meanwhile was not confirmed.
        None => ask.header("if-none-match", "*"),
    };
    match ask.done().await {
        Ok(_) => Ok(layout::done(&link::vault(&vault, &[]), "deleted").into_response()),
        Err(failure) => {
            let back = link::memory(&vault, &memory, &["delete"]);
            explain(&form, (&vault, &memory), failure, "Deleting the memory", back).await
        }
    }
}
