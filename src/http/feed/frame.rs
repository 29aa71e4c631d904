//! Events in the form of `text/event-stream` (HTML standard), serialized once for all clients.

use crate::domain::ids::VaultId;
use crate::http::names::{EventKindName, Named};
use crate::storage::events::{Event, EventKind};
use axum::body::Bytes;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A comment. It shows both ends that the connection is alive.
pub(crate) const COMMENT: Bytes = Bytes::from_static(b": \n\n");

/// Something that happened in a vault. It names things and never quotes a document.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventBody {
    /// Its place in the stream: what to send as `Last-Event-ID` to go on behind it.
    #[schema(examples("12-9f0c44aa"))]
    pub(crate) id: String,
    /// What happened.
    pub(crate) kind: EventKindName,
    /// When.
    pub(crate) time: DateTime<Utc>,
    /// The vault.
    pub(crate) vault_id: String,
    /// The memory.
    pub(crate) memory_id: String,
    /// The version that was made.
    #[schema(required)]
    pub(crate) version: Option<i64>,
    /// That version's id.
    #[schema(required)]
    pub(crate) context_id: Option<String>,
    /// Who did it.
    #[schema(required)]
    pub(crate) actor: Option<String>,
    /// What made the version: `put`, `update`, `operations` and so on.
    #[schema(required)]
    pub(crate) source: Option<String>,
    /// The run it belongs to.
    #[schema(required)]
    pub(crate) update_id: Option<String>,
    /// More, by kind: of an update its `step`, with the `role` that was asked, or the `status` it ended with.
    #[schema(required)]
    pub(crate) details: Option<Value>,
}

impl EventBody {
    pub(crate) fn of(vault: &VaultId, event: Event) -> Self {
        Self {
            id: event.place.to_string(),
            kind: Named(event.kind),
            time: event.created_at,
            vault_id: vault.to_string(),
            memory_id: event.memory_id,
            version: event.version,
            context_id: event.context_id,
            actor: event.actor_id,
            source: event.source,
            update_id: event.update_id,
            details: event.details,
        }
    }
}

/// A serialized event, with the values that filters use. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(super) sequence: i64,
    pub(super) memory: String,
    pub(super) kind: EventKind,
    pub(super) bytes: Bytes,
}

impl Frame {
    pub(super) fn of(vault: &VaultId, event: Event) -> Self {
        let (sequence, kind, memory) = (event.place.sequence, event.kind, event.memory_id.clone());
        let body = EventBody::of(vault, event);
        Self {
            sequence,
            memory,
            kind,
            bytes: frame(kind.name(), Some(&body.id), &body),
        }
    }
}

/// One event of a stream, as clients of `text/event-stream` (HTML standard) hand it out.
#[derive(Debug, utoipa::ToSchema)]
pub(crate) struct ServerSentEvent<'a> {
    /// What it tells.
    event: &'a str,
    /// What to send as `Last-Event-ID` to go on behind it; not in every event.
    id: Option<&'a str>,
    /// JSON on one line.
    data: String,
}

/// Serializes an event: its name, its id if it has one, and JSON without line breaks.
pub(crate) fn frame(event: &str, id: Option<&str>, data: &impl Serialize) -> Bytes {
    // Serializing strings, numbers and maps with text keys cannot fail.
    let data = serde_json::to_string(data).unwrap_or_default();
    ServerSentEvent { event, id, data }.to_bytes()
}

impl ServerSentEvent<'_> {
    fn to_bytes(&self) -> Bytes {
        let Self { event, id, data } = self;
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        Bytes::from(format!("{id}event: {event}\ndata: {data}\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_three_lines_and_an_empty_one_whatever_it_says() {
        let data = serde_json::json!({"text": "two\nlines\r\n\u{2028}"});
        let sent = frame("done", Some("1-00000000"), &data);
        let text = std::str::from_utf8(&sent).unwrap();
        assert!(text.starts_with("id: 1-00000000\nevent: done\ndata: {"), "{text}");
        assert!(text.ends_with("}\n\n"), "{text}");
        assert_eq!(text.matches('\n').count(), 4);
        assert!(!text.contains('\r'));
    }
}
