//! `GET` and `POST …/edit`: a new version of a document, or the first one of a memory.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::form::{Form, has_crlf};
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::ContextBody;
use askama::Template;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::Value;

#[derive(Template)]
#[template(path = "pages/edit.html")]
struct View {
    page: Page,
    text: String,
    /// The newest version; `None` before the first one.
    context: Option<ContextBody>,
    line_ends: &'static str,
    /// Whether the text has line ends that saving changes: several kinds, or CR alone.
    is_mixed: bool,
    most: usize,
    /// The version of an open form, if it is no longer the newest: the script asks with `?since=`.
    since: Option<i64>,
}

impl View {
    /// The id of the newest version; empty before the first one.
    fn newest(&self) -> &str {
        let id = self.context.as_ref().map(|context| context.context_id.as_str());
        id.unwrap_or_default()
    }
}

/// The form with the newest text, or with the one that was not saved.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let sees = visit.vault().parse().is_ok_and(|vault| visit.caller.sees(&vault));
    if !sees {
        return Err(Failure::with_status(
            StatusCode::NOT_FOUND,
            "There is no such vault for this key.",
        ));
    }
    let page = Page::of_memory(&visit, format!("Edit {}", visit.memory()), "Document").here("edit");
    if !page.may_write() {
        return Err(Failure::with_status(
            StatusCode::FORBIDDEN,
            "Documents are written with the role writer or more.",
        ));
    }
    let mut context: Option<ContextBody> = visit.of_memory(&["context"]).find().await?;
    let newest = context.as_mut().and_then(|context| context.context.take());
    let newest = newest.unwrap_or_default();
    let version = context.as_ref().map_or(0, |context| context.version);
    let since = visit.number("since").filter(|since| *since < version);
    let refused = page.refused_in("edit");
    let is_crlf = has_crlf(&newest);
    let is_mixed = newest.contains('\r') && !is_crlf;
    layout::render(&View {
        line_ends: match refused {
            Some(refused) if refused.entered("line_ends") == "crlf" => "crlf",
            None if is_crlf => "crlf",
            _ => "lf",
        },
        is_mixed,
        text: refused.map_or(newest, |refused| refused.entered("text").replace("\r\n", "\n")),
        context,
        since,
        most: visit.services.context_bytes,
        page,
    })
}

/// Saves the text.
pub(in crate::dashboard) async fn save(form: Form) -> Result<Response, Failure> {
    let text = form.fields.lines("text", form.fields.text("line_ends") == "crlf");
    let ask = form
        .of_memory(Method::PUT, &["context"])?
        .maybe("confirm", form.fields.get("confirm"))
        .text(text);
    form.send(Ok(ask), show, |visit, answer: Value| {
        let is_unchanged = answer["unchanged"] == true;
        let done = if is_unchanged { "unchanged" } else { "put" };
        Ok(layout::done(&visit.link(&[]), done))
    })
    .await
}
