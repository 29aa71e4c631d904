//! `GET` and `POST …/edit`: a new version of a document, or the first one of a memory; and the page shown if another version was saved meanwhile.

use crate::dashboard::failure::{Failure, Refusal};
use crate::dashboard::form::Form;
use crate::dashboard::layout::{self, Crumb, Page};
use crate::dashboard::link;
use crate::dashboard::pages::data::{Context, Diff, MemoryEntry};
use crate::dashboard::pages::diff::unified;
use crate::dashboard::parts::{Markup, size};
use crate::dashboard::visit::Visit;
use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
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
    line_ends: &'static str,
    /// Whether the text has both kinds of line ends, which saving unifies.
    is_mixed: bool,
    once: String,
    most: String,
    refusal: Option<Refusal>,
    loses: bool,
    since: Option<Since>,
}

/// The form with the newest text.
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
    let (text, if_match) = context
        .map(|context| (context.context, context.context_id))
        .unwrap_or_default();
    layout::render(&view(&visit, (&vault, &memory), text, if_match))
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

fn view(visit: &Visit, (vault, memory): (&str, &str), text: String, if_match: String) -> View {
    View {
        page: Page::of(visit, format!("Edit {memory}"))
            .in_memory(vault, memory, "Document")
            .crumb(Crumb::here("edit")),
        base: link::memory(vault, memory, &[]),
        // A browser sends every line end as CRLF, whatever it was.
        line_ends: if text.contains("\r\n") && !has_lone_line_feed(&text) {
            "crlf"
        } else {
            "lf"
        },
        is_mixed: text.contains("\r\n") && has_lone_line_feed(&text),
        text,
        if_match,
        once: visit.once(),
        most: size(i64::try_from(visit.services.context_bytes).unwrap_or(i64::MAX)),
        refusal: None,
        loses: false,
        since: None,
    }
}

fn has_lone_line_feed(text: &str) -> bool {
    text.replace("\r\n", "").contains('\n')
}

#[derive(Deserialize)]
struct Put {
    unchanged: bool,
}

/// Saves the text. If that is rejected, the form is shown again with the edited text and the reason.
pub(in crate::dashboard) async fn save(
    Path((vault, memory)): Path<(String, String)>,
    form: Form,
) -> Result<Response, Failure> {
    let visit = &form.visit;
    let sent = form.text("text").replace("\r\n", "\n");
    let text = if form.get("line_ends") == Some("crlf") {
        sent.replace('\n', "\r\n")
    } else {
        sent
    };
    let if_match = form.text("if_match");
    let mut ask = visit
        .api
        .ask(
            axum::http::Method::PUT,
            &["vaults", &vault, "memories", &memory, "context"],
        )
        .header("idempotency-key", form.text("once"))
        .maybe("confirm", form.get("confirm"));
    ask = if if_match.is_empty() {
        ask.header("if-none-match", "*")
    } else {
        ask.if_match(if_match)
    };
    let base = link::memory(&vault, &memory, &[]);
    let failure = match ask.text(text.clone()).read::<Put>().await {
        Ok(Put { unchanged: true }) => return Ok(layout::done(&base, "unchanged").into_response()),
        Ok(_) => return Ok(layout::done(&base, "put").into_response()),
        Err(failure) => failure,
    };
    let status = failure.status();
    let may_be_mended = !matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
    let Some(refusal) = failure.refusal().filter(|_| may_be_mended).cloned() else {
        return Err(failure);
    };
    let mut view = view(visit, (&vault, &memory), text, if_match.to_owned());
    if status == StatusCode::PRECONDITION_FAILED {
        view.since = since(visit, &vault, &memory, if_match).await?;
        // Sending it again overwrites the version that exists now.
        view.if_match = view
            .since
            .as_ref()
            .map(|since| since.head_id.clone())
            .unwrap_or_default();
    }
    view.loses = refusal
        .members
        .get("field")
        .is_some_and(|field| field == "confirm");
    view.refusal = Some(refusal);
    let mut response = layout::render(&view)?;
    *response.status_mut() = status;
    Ok(response)
}

/// What changed since a version that a form was made for.
pub(super) struct Since {
    pub(super) head_id: String,
    pub(super) head_version: i64,
    pub(super) actor: String,
    pub(super) lines: Markup,
    pub(super) is_cut: bool,
}

/// Reads the changes. `None`: the document was deleted or created meanwhile.
pub(super) async fn since(
    visit: &Visit,
    vault: &str,
    memory: &str,
    seen: &str,
) -> Result<Option<Since>, Failure> {
    let place = ["vaults", vault, "memories", memory];
    let head: Option<MemoryEntry> = visit.api.get(&place).find().await?;
    let Some((head_id, head)) = head.and_then(|head| Some((head.context_id.clone()?, head))) else {
        return Ok(None);
    };
    let version = head.version.to_string();
    let route = [&place[..], &["contexts", &version, "diff"]].concat();
    // The version of the form may have been redacted since.
    let diff: Option<Diff> = match visit.api.get(&route).query("base", seen).read().await {
        Ok(diff) => Some(diff),
        Err(Failure::Refused(..)) => None,
        Err(failure) => return Err(failure),
    };
    let (lines, is_cut) = diff.map(|diff| unified(&diff.diff)).unwrap_or_default();
    Ok(Some(Since {
        head_id,
        head_version: head.version,
        actor: head.last_actor_id,
        lines: Markup(lines),
        is_cut,
    }))
}

#[derive(Template)]
#[template(path = "pages/conflict.html")]
struct Conflict {
    page: Page,
    what: &'static str,
    back: String,
    since: Option<Since>,
}

/// Converts the failure of a form: if its version is no longer the newest, a page shows what changed.
pub(super) async fn explain(
    form: &Form,
    (vault, memory): (&str, &str),
    failure: Failure,
    what: &'static str,
    back: String,
) -> Result<Response, Failure> {
    if failure.status() != StatusCode::PRECONDITION_FAILED {
        return Err(failure);
    }
    let visit = &form.visit;
    let since = since(visit, vault, memory, form.text("if_match")).await?;
    let mut response = layout::render(&Conflict {
        page: Page::of(visit, "Another change was saved first")
            .in_memory(vault, memory, "")
            .crumb(Crumb::here("conflict")),
        what,
        back: if since.is_some() {
            back
        } else {
            link::vault(vault, &[])
        },
        since,
    })?;
    *response.status_mut() = StatusCode::PRECONDITION_FAILED;
    Ok(response)
}
