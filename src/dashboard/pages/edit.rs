//! `GET` and `POST …/edit`: a new version of a document, or the first one of a memory.

use crate::dashboard::failure::Failure;
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Crumb, Page};
use crate::dashboard::link;
use crate::dashboard::pages::data::Context;
use crate::dashboard::pages::refused::Refused;
use crate::dashboard::parts::size;
use crate::dashboard::visit::Visit;
use askama::Template;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

#[derive(Template)]
#[template(path = "pages/edit.html")]
struct View {
    page: Page,
    base: String,
    text: String,
    /// The version that the text was edited from; empty for a first one.
    if_match: String,
    version: i64,
    actor: String,
    line_ends: &'static str,
    /// Whether the text has both kinds of line ends, which saving unifies.
    is_mixed: bool,
    most: String,
    asks_to_confirm: bool,
    is_late: bool,
    /// The version of an open form, if it is no longer the newest: the script asks with `?since=`.
    since: Option<i64>,
}

/// The form with the newest text, or with the one that was not saved.
pub(in crate::dashboard) async fn show(
    visit: Visit,
    Path((vault, memory)): Path<(String, String)>,
) -> Result<Response, Failure> {
    writes_here(&visit, &vault)?;
    let context: Option<Context> = visit
        .api
        .get(&["vaults", &vault, "memories", &memory, "context"])
        .find()
        .await?;
    let page = Page::of(&visit, format!("Edit {memory}"))
        .in_memory(&vault, &memory, "Document")
        .live(&vault, Some(&memory))
        .crumb(Crumb::here("edit"));
    let refused = page.refused_in("edit");
    let (newest, if_match, version, actor) = match context {
        Some(context) => (
            context.context,
            context.context_id,
            context.version,
            context.actor_id,
        ),
        None => Default::default(),
    };
    let since = visit.param("since").and_then(|text| text.parse().ok());
    layout::render(&View {
        base: link::memory(&vault, &memory, &[]),
        // A browser sends every line end as CRLF, whatever it was.
        line_ends: match refused {
            Some(refused) if refused.entered("line_ends") == "crlf" => "crlf",
            None if newest.contains("\r\n") && !has_lone_line_feed(&newest) => "crlf",
            _ => "lf",
        },
        is_mixed: newest.contains("\r\n") && has_lone_line_feed(&newest),
        asks_to_confirm: refused.is_some_and(Refused::asks_to_confirm),
        is_late: refused.is_some_and(Refused::is_late),
        text: refused.map_or(newest, |refused| refused.entered("text").replace("\r\n", "\n")),
        if_match,
        since: since.filter(|since| *since < version),
        version,
        actor,
        most: size(i64::try_from(visit.services.context_bytes).unwrap_or(i64::MAX)),
        page,
    })
}

/// Rejects visitors who may not write.
fn writes_here(visit: &Visit, vault: &str) -> Result<(), Failure> {
    let sees = vault.parse().is_ok_and(|vault| visit.caller.sees(&vault));
    if !sees {
        return Err(Failure::with_status(
            StatusCode::NOT_FOUND,
            "There is no such vault for this key.",
        ));
    }
    if visit.may_write() {
        return Ok(());
    }
    Err(Failure::with_status(
        StatusCode::FORBIDDEN,
        "Documents are written with the role writer or more.",
    ))
}

fn has_lone_line_feed(text: &str) -> bool {
    text.replace("\r\n", "").contains('\n')
}

#[derive(Deserialize)]
struct Put {
    unchanged: bool,
}

/// Saves the text.
pub(in crate::dashboard) async fn save(
    Path(path): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let (vault, memory) = &path;
    let sent = form.text("text").replace("\r\n", "\n");
    let text = match form.get("line_ends") {
        Some("crlf") => sent.replace('\n', "\r\n"),
        _ => sent,
    };
    let ask = form
        .ask(Method::PUT, &["vaults", vault, "memories", memory, "context"])
        .maybe("confirm", form.get("confirm"));
    match ask.text(text).read::<Put>().await {
        Ok(Put { unchanged }) => {
            let done = if unchanged { "unchanged" } else { "put" };
            Ok(layout::done(&link::memory(vault, memory, &[]), done).into_response())
        }
        Err(failure) => form.again(failure, |visit| show(visit, Path(path))).await,
    }
}
