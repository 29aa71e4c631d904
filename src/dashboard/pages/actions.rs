//! Actions on versions and memories: restore, redact, delete.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::visit::Visit;
use super::data::MemoryEntry;
use super::version;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// `POST …/versions/{ref}/restore`
pub(in crate::dashboard) async fn restore(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, reference) = &path;
    let route = [
        "vaults", vault, "memories", memory, "contexts", reference, "restore",
    ];
    let body = match form.get("reason") {
        Some(reason) => json!({ "reason": reason }),
        None => json!({}),
    };
    match form.ask(Method::POST, &route).json(&body).done().await {
        Ok(_) => Ok(layout::done(&link::memory(vault, memory, &[]), "restored").into_response()),
        Err(failure) => {
            form.again(failure, |visit| version::show(visit, Path(path)))
                .await
        }
    }
}

/// `POST …/versions/{ref}/redact`
pub(in crate::dashboard) async fn redact(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, reference) = &path;
    let route = [
        "vaults", vault, "memories", memory, "contexts", reference, "redact",
    ];
    let body = json!({ "reason": form.text("reason") });
    let done = match form.is_sure() {
        Ok(()) => form.ask(Method::POST, &route).json(&body).done().await,
        Err(failure) => Err(failure),
    };
    match done {
        // The version itself has no text any more.
        Ok(_) => Ok(layout::done(&link::memory(vault, memory, &["timeline"]), "redacted").into_response()),
        Err(failure) => {
            form.again(failure, |visit| version::show(visit, Path(path)))
                .await
        }
    }
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
    Path(path): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory) = &path;
    let done = match form.text("name").trim() == memory {
        // Without a document `if_match` is empty; one that was written meanwhile was not confirmed.
        true => {
            form.ask(Method::DELETE, &["vaults", vault, "memories", memory])
                .done()
                .await
        }
        false => Err(Failure::with_status(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Nothing was deleted: the entered text is not the memory's id.",
        )),
    };
    match done {
        Ok(_) => Ok(layout::done(&link::vault(vault, &[]), "deleted").into_response()),
        Err(failure) => form.again(failure, |visit| ask_delete(visit, Path(path))).await,
    }
}
