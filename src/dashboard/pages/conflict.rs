//! The page for a failed precondition: what changed since the page with the form was loaded.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::layout::{self, Crumb, Page};
use super::super::link;
use super::super::parts::Markup;
use super::super::visit::Visit;
use super::data::{Diff, MemoryEntry};
use super::diff::unified;
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

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
struct View {
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
    let mut response = layout::render(&View {
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
