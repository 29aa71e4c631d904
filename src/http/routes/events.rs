//! `GET /v1/vaults/{vault_id}/events`

use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::listed;
use crate::fair::{Party, Permit, ShareLimits};
use crate::http::extract::headers::{Accept, Representation, single_header};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{Path, Query, VaultPath};
use crate::http::feed::{COMMENT, Client, Filter, ServerSentEvent};
use crate::http::middleware::access::Admission;
use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use crate::storage::events::{Event, EventKind, Place};
use crate::telemetry;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use strum::{EnumString, IntoStaticStr, VariantNames};
use tokio::time::timeout;

const LAST_EVENT_ID: &str = "Last-Event-ID";

/// Which events.
#[derive(Debug, Clone, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Chosen {
    /// Only those of this memory.
    memory_id: Option<MemoryId>,
    /// Only those of these kinds, with commas between: `version`, `update`, `handoff`, `memory_deleted`,
    /// `redacted`, `items`, `proposed`, `approved`, `rejected`.
    #[param(nullable = false, example = "version,memory_deleted")]
    kinds: Option<String>,
    /// As the header `Last-Event-ID`, for browsers, which cannot send it at first; the header counts for more, since that
    /// is what they send when they come back.
    #[param(nullable = false, pattern = "^(0|[1-9][0-9]{0,18}-[0-9A-Fa-f]{8})?$")]
    last_event_id: Option<String>,
    /// For pages of JSON: `oldest` first (the default) or `newest` first, over all stored events.
    #[param(inline)]
    order: Option<Order>,
}

/// The order of a page of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Order {
    Oldest,
    Newest,
}

listed! {
    /// The values of `order`.
    Order as "EventOrder";
}

impl Chosen {
    fn filter(self) -> Result<Filter, Problem> {
        let kinds = self.kinds.map(|names| {
            let kinds = names.split(',').map(|name| name.trim().parse::<EventKind>());
            kinds.collect::<Result<Vec<_>, _>>().map_err(|_| {
                let names = EventKind::VARIANTS.join(", ");
                Problem::invalid(
                    "kinds",
                    format!("kinds must be some of: {names}, with commas between"),
                )
            })
        });
        Ok(Filter {
            memory: self.memory_id.map(|id| id.to_string()),
            kinds: kinds.transpose()?,
        })
    }
}

/// The header of a client that comes back, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header that the handler reads")]
pub(crate) struct LastEventId {
    /// The `id` of the last event the client has seen: it goes on behind it. `0`: with the oldest that is kept. Without
    /// it a stream begins now, and a page of JSON with the oldest that is kept.
    #[param(
        rename = "Last-Event-ID",
        nullable = false,
        pattern = "^(0|[1-9][0-9]{0,18}-[0-9A-Fa-f]{8})?$"
    )]
    last_event_id: Option<String>,
}

/// One page of events.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct EventPage {
    #[serde(flatten)]
    list: List<Event>,
    /// What to send as `Last-Event-ID` to get what happens next, once `next_cursor` is null.
    last_event_id: String,
    /// The place asked for is not kept any more: something may be missing before the first entry.
    reset: bool,
}

/// Watch a vault
///
/// What happens in the vault, as server-sent events or, with `Accept: application/json`, as a page of them, oldest
/// first. Each event is told in the same order to everybody, within a memory in the order in which it happened. A
/// client that comes back with `Last-Event-ID` misses nothing and sees nothing twice; where that is not possible any
/// more an event `reset` says so. A stream ends with its key.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/events",
    params(Chosen, Page, LastEventId),
    responses(
        (status = 200, description = "The events.", content(
            (ServerSentEvent<'static> = "text/event-stream"),
            (EventPage = "application/json"),
        )),
        (status = 406, description = "Neither representation is accepted."),
        (status = 429, description = "The vault or the key has reached its limit of open streams."),
        (status = 503, description = "The service has reached its limit of open streams."),
    )
)]
pub(crate) async fn stream_events(
    State(state): State<AppState>,
    Path((vault_id,)): VaultPath,
    Query(chosen): Query<Chosen>,
    page: Page,
    accept: Accept,
    admission: Admission,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let sent = place(LAST_EVENT_ID, single_header(&headers, LAST_EVENT_ID)?.as_deref())?;
    let named = match sent {
        Some(_) => None,
        None => place("last_event_id", chosen.last_event_id.as_deref())?,
    };
    let order = chosen.order.unwrap_or(Order::Oldest);
    let filter = chosen.filter()?;
    match accept.choose(&[Representation::EventStream, Representation::Json])? {
        Representation::Json => {
            let body = read_page(&state, &vault_id, &filter, &page, (order, sent.or(named))).await?;
            Ok(Json(body).into_response())
        }
        _ => {
            // The header of a client that comes back is newer than the query of its URL.
            let from = sent.or(page.after()?).or(named);
            stream(&state, &vault_id, filter, from, admission).await
        }
    }
}

/// The place after which a client goes on. A browser sends an empty text before its first event.
fn place(name: &str, text: Option<&str>) -> Result<Option<Place>, Problem> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    text.map(str::parse)
        .transpose()
        .map_err(|rule| Problem::malformed(name, format!("{name} {rule}")))
}

async fn stream(
    state: &AppState,
    vault: &VaultId,
    filter: Filter,
    place: Option<Place>,
    admission: Admission,
) -> Result<Response, Problem> {
    let open = OpenStream::new(state)?;
    let client = Client::start(&state.feeds, vault, place.as_ref(), filter).await?;
    let chunks = unfold(client, |mut client| async move {
        let bytes = client.next().await?;
        Some((bytes, client))
    });
    let chunks = chunks.take_until(state.stopping.clone().cancelled_owned());
    Ok(open.response(state, chunks, admission))
}

async fn read_page(
    state: &AppState,
    vault: &VaultId,
    filter: &Filter,
    page: &Page,
    (order, place): (Order, Option<Place>),
) -> Result<EventPage, Problem> {
    let storage = &state.storage;
    let after = page.after::<Place>()?;
    storage.sequence_events(vault).await?;
    // Read before the events: what is numbered meanwhile comes behind it.
    let stream = storage.stream_state(vault).await?;
    let (memory, kinds) = (filter.memory.as_deref(), filter.kind_names());
    let (kinds, fetch) = (kinds.as_deref(), page.fetch());
    let (events, reset, last) = match order {
        Order::Newest => {
            let before = after.map_or(i64::MAX, |place| place.sequence);
            let events = storage.events_before(vault, before, memory, kinds, fetch);
            (events.await?, false, None)
        }
        Order::Oldest => {
            let place = after.or(place).unwrap_or_else(Place::beginning);
            let resumed = storage.resume_events(vault, &stream, &place).await?;
            // A client whose position is unknown receives all stored events.
            let (from, reset) = (resumed.unwrap_or(0), resumed.is_none());
            let events = storage.events_after(vault, from, memory, kinds, fetch).await?;
            let shown = usize::try_from(fetch - 1).unwrap_or_default();
            let last = events.iter().take(shown).next_back().map(Event::place);
            // On the last page nothing else up to the end passes the filter.
            let is_last = events.len() <= shown;
            let last = last.filter(|last| !is_last || last.sequence > stream.last.sequence);
            (events, reset, last)
        }
    };
    Ok(EventPage {
        list: page.of(events, Event::place, |event| event),
        last_event_id: last.unwrap_or(stream.last).to_string(),
        reset,
    })
}

/// A permit for an open stream.
pub(super) struct OpenStream(#[expect(dead_code, reason = "counts while it is there")] Permit);

impl OpenStream {
    /// # Errors
    /// 503 if all streams are in use, 429 if the vault or the key has reached its limit.
    pub(super) fn new(state: &AppState) -> Result<Self, Problem> {
        let permit = state.streams.try_acquire(&Party::current(), 1);
        let permit = permit.ok_or_else(|| no_stream(state))?;
        metrics::gauge!(telemetry::STREAMS_OPEN).increment(1.0);
        Ok(Self(permit))
    }

    /// The response that streams these chunks until the credentials of its request end, with comments where there is none for long.
    pub(super) fn response(
        self,
        state: &AppState,
        chunks: impl Stream<Item = Bytes> + Send + 'static,
        admission: Admission,
    ) -> Response {
        let heartbeat = state.settings.heartbeat;
        let chunks = Box::pin(chunks.take_until(admission.ended()));
        let chunks = unfold((chunks, self), move |(mut chunks, open)| async move {
            let next = timeout(heartbeat, chunks.next()).await;
            Some((next.unwrap_or(Some(COMMENT))?, (chunks, open)))
        });
        (
            EVENT_STREAM,
            Body::from_stream(chunks.map(Ok::<_, Infallible>).fuse()),
        )
            .into_response()
    }
}

fn no_stream(state: &AppState) -> Problem {
    telemetry::refused("streams");
    let ShareLimits {
        total,
        of_vault,
        of_key,
        ..
    } = state.streams.shares();
    if state.streams.in_use() >= total {
        return Problem::new(
            Kind::Unavailable,
            "the service has reached its limit of open streams",
        )
        .with("limit", total)
        .with("limit_name", "events.max_streams")
        .retry_after(5);
    }
    let detail = format!(
        "this vault or key has reached its limit of open streams: {of_vault}, half of events.max_streams"
    );
    Problem::new(Kind::TooManyRequests, detail)
        .with("limit", of_vault.min(of_key))
        .retry_after(5)
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        metrics::gauge!(telemetry::STREAMS_OPEN).decrement(1.0);
    }
}

/// The headers of a stream of events.
pub(super) const EVENT_STREAM: [(HeaderName, &str); 2] = [
    (CONTENT_TYPE, "text/event-stream"),
    (CACHE_CONTROL, "no-store, no-transform"),
];
