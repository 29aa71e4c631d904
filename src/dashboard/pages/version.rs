//! `GET …/versions/{ref}`: one version of a document; and the forms that restore and redact it.

use super::document::{About, Document, start};
use crate::dashboard::failure::Failure;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::dashboard::{filters, link};
use crate::http::responses::ContextBody;
use crate::storage::memories::MemorySummary;
use askama::Template;
use axum::extract::Path;
use axum::http::Method;
use axum::response::{Redirect, Response};
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "pages/version.html")]
struct View {
    page: Page,
    context: ContextBody,
    document: Document,
    newest: i64,
    head_id: String,
}

/// Shows the version.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory, reference)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let ask = |below: &[&str]| visit.api.of_memory(&vault, &memory, below);
    let (context, head) = futures::join!(
        ask(&["contexts", &reference]).read::<ContextBody>(),
        ask(&[]).read::<MemorySummary>(),
    );
    let (context, head) = (context?, head?);
    let text = context.context.as_deref().unwrap_or_default();
    let number = context.version;
    layout::render(&View {
        page: Page::of(&visit, format!("{memory}, version {number}"))
            .in_memory(&vault, &memory, "Timeline")
            .here(format!("version {number}")),
        document: Document::of(text, start(&visit, text)?, About::default()),
        newest: head.version,
        head_id: head.context_id.map_or_else(String::new, |id| id.to_string()),
        context,
    })
}

/// `GET …/versions?version=`: redirects the slider to a version.
pub(in crate::dashboard) async fn travel(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Redirect {
    let below: Vec<&str> = match visit.param("version") {
        Some(version) => vec!["versions", version],
        None => vec!["timeline"],
    };
    Redirect::to(&link::memory(&vault, &memory, &below))
}

/// `POST …/versions/{ref}/restore`
pub(in crate::dashboard) async fn restore(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, reference) = &path;
    let body = match form.fields.get("reason") {
        Some(reason) => json!({ "reason": reason }),
        None => json!({}),
    };
    let below = ["contexts", reference, "restore"];
    let ask = form.of_memory(Method::POST, vault, memory, &below)?.json(&body);
    let there = link::memory(vault, memory, &[]);
    form.send(
        Ok(ask),
        |visit| show(visit, Path(path)),
        |_, _: Value| Ok(layout::done(&there, "restored")),
    )
    .await
}

/// `POST …/versions/{ref}/redact`
pub(in crate::dashboard) async fn redact(
    Path(path): Path<(String, String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory, reference) = &path;
    let body = json!({ "reason": form.fields.text("reason") });
    let below = ["contexts", reference, "redact"];
    let ask = form.of_memory(Method::POST, vault, memory, &below)?.json(&body);
    let ask = form.if_sure(ask);
    // The version itself has no text any more.
    let there = link::memory(vault, memory, &["timeline"]);
    form.send(
        ask,
        |visit| show(visit, Path(path)),
        |_, _: Value| Ok(layout::done(&there, "redacted")),
    )
    .await
}
