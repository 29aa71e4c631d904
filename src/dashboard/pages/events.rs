//! `GET /ui/vaults/{vault_id}/events`: the events, newest first; `GET …/stream`: the same as a stream, for scripts.

use super::super::failure::Failure;
use super::super::layout::{self, Page};
use super::super::link;
use super::super::parts::{Pager, When};
use super::super::visit::Visit;
use super::data::{Event, List};
use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

const KINDS: [&str; 9] = [
    "version",
    "update",
    "handoff",
    "memory_deleted",
    "redacted",
    "items",
    "proposed",
    "approved",
    "rejected",
];

#[derive(Template)]
#[template(path = "pages/events.html")]
struct View {
    page: Page,
    path: String,
    vault: String,
    memory: String,
    kind: String,
    kinds: [&'static str; 9],
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    when: When,
    kind: String,
    tone: &'static str,
    memory: String,
    href: String,
    actor: String,
    version: Option<i64>,
    run: Option<String>,
    details: String,
}

/// Shows the events.
pub(in crate::dashboard) async fn show(visit: Visit, Path(vault): Path<String>) -> Result<Response, Failure> {
    let (memory, kind, cursor) = (visit.param("memory"), visit.param("kind"), visit.param("cursor"));
    let list: List<Event> = visit
        .api
        .get(&["vaults", &vault, "events"])
        .query("order", "newest")
        .maybe("memory_id", memory)
        .maybe("kinds", kind)
        .maybe("cursor", cursor)
        .read()
        .await?;
    let path = link::vault(&vault, &["events"]);
    let row = |event: Event| Row {
        when: When::new(event.time, visit.now),
        tone: match event.kind.as_str() {
            "version" | "approved" => "good",
            "memory_deleted" | "redacted" | "rejected" => "bad",
            "proposed" => "warn",
            _ => "",
        },
        href: link::memory(&vault, &event.memory_id, &[]),
        memory: event.memory_id,
        kind: event.kind,
        actor: event.actor.unwrap_or_default(),
        version: event.version,
        run: event.update_id,
        details: details(event.details.as_ref()),
    };
    layout::render(&View {
        page: Page::of_vault(&visit, format!("{vault}, events"), &vault, "Events")
            .await
            .live(&vault, memory),
        pager: Pager::new(
            &path,
            &[("memory", memory), ("kind", kind)],
            cursor,
            list.next_cursor.as_deref(),
        ),
        memory: memory.unwrap_or_default().to_owned(),
        kind: kind.unwrap_or_default().to_owned(),
        kinds: KINDS,
        rows: list.items.into_iter().map(row).collect(),
        path,
        vault,
    })
}

/// The members of an event's details, one after the other.
fn details(details: Option<&serde_json::Value>) -> String {
    let members = details.and_then(|details| details.as_object());
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
pub(in crate::dashboard) async fn stream(
    visit: Visit,
    Path(vault): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let mut ask = visit
        .api
        .get(&["vaults", &vault, "events"])
        .header("accept", "text/event-stream")
        .maybe("memory_id", visit.param("memory_id"));
    if let Some(last) = last {
        ask = ask.header("last-event-id", last);
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
