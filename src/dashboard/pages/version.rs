//! `GET …/versions/{ref}`: one version of a document; and the forms that restore and redact it.

use super::document::{About, Document, start};
use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::ContextBody;
use crate::storage::memories::MemorySummary;
use askama::Template;
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
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let (context, head) = futures::join!(
        visit
            .of_memory(&["contexts", visit.named("ref")])
            .read::<ContextBody>(),
        visit.of_memory(&[]).read::<MemorySummary>(),
    );
    let (context, head) = (context?, head?);
    let text = context.context.as_deref().unwrap_or_default();
    let number = context.version;
    layout::render(&View {
        page: Page::of_memory(
            &visit,
            format!("{}, version {number}", visit.memory()),
            "Timeline",
        )
        .here(format!("version {number}")),
        document: Document::of(text, start(&visit, text)?, About::default()),
        newest: head.version,
        head_id: head.context_id.map_or_else(String::new, |id| id.to_string()),
        context,
    })
}

/// `GET …/versions?version=`: redirects the slider to a version.
pub(in crate::dashboard) async fn travel(visit: Visit) -> Redirect {
    Redirect::to(&match visit.param("version") {
        Some(version) => visit.link(&["versions", version]),
        None => visit.link(&["timeline"]),
    })
}

/// `POST …/versions/{ref}/restore`
pub(in crate::dashboard) async fn restore(form: Form) -> Result<Response, Failure> {
    let body = match form.fields.get("reason") {
        Some(reason) => json!({ "reason": reason }),
        None => json!({}),
    };
    let below = ["contexts", form.visit.named("ref"), "restore"];
    let ask = form.of_memory(Method::POST, &below)?.json(&body);
    form.send(Ok(ask), show, |visit, _: Value| {
        Ok(layout::done(&visit.link(&[]), "restored"))
    })
    .await
}

/// `POST …/versions/{ref}/redact`
pub(in crate::dashboard) async fn redact(form: Form) -> Result<Response, Failure> {
    let body = json!({ "reason": form.fields.text("reason") });
    let below = ["contexts", form.visit.named("ref"), "redact"];
    let ask = form.of_memory(Method::POST, &below)?.json(&body);
    let ask = form.if_sure(ask);
    // The version itself has no text any more.
    form.send(ask, show, |visit, _: Value| {
        Ok(layout::done(&visit.link(&["timeline"]), "redacted"))
    })
    .await
}
