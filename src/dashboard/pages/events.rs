//! `GET /ui/vaults/{vault_id}/events`: the events, newest first; `GET …/stream`: the same as a stream, for scripts.

use crate::dashboard::failure::Failure;
use crate::dashboard::filters;
use crate::dashboard::layout::{self, Page};
use crate::dashboard::visit::Visit;
use crate::http::responses::List;
use crate::storage::events::{Event, EventKind};
use askama::Template;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use strum::VariantNames;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

#[derive(Template)]
#[template(path = "pages/events.html")]
struct View {
    page: Page,
    kinds: &'static [&'static str],
    list: List<Event>,
}

/// Shows the events.
pub(in crate::dashboard) async fn show(visit: Visit) -> Result<Response, Failure> {
    let list = visit
        .of_vault(&["events"])
        .query("order", "newest")
        .maybe("memory_id", visit.param("memory"))
        .maybe("kinds", visit.param("kind"))
        .maybe("cursor", visit.param("cursor"))
        .read()
        .await?;
    layout::render(&View {
        page: Page::of_vault(&visit, format!("{}, events", visit.vault()), "Events").await,
        kinds: EventKind::VARIANTS,
        list,
    })
}

/// The members of an event's details, one after the other.
fn details(event: &Event) -> String {
    let members = event.details.as_ref().and_then(|details| details.as_object());
    let shown = members
        .into_iter()
        .flatten()
        .map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name}: {text}"),
            None => format!("{name}: {value}"),
        });
    shown.collect::<Vec<_>>().join(", ")
}

/// The stream of events, as the route sends it.
pub(in crate::dashboard) async fn stream(visit: Visit, headers: HeaderMap) -> Result<Response, Failure> {
    let mut ask = visit
        .of_vault(&["events"])
        .accept("text/event-stream")
        .maybe("memory_id", visit.param("memory_id"));
    if let Some(last) = headers.get(&LAST_EVENT_ID) {
        ask = ask.header(LAST_EVENT_ID, last.clone());
    }
    let response = ask.send().await?;
    if response.status() == StatusCode::OK {
        return Ok(response);
    }
    // A browser reconnects by itself, unless the status says that there is no stream.
    Err(Failure::with_status(
        response.status(),
        "The event stream is not available.",
    ))
}
