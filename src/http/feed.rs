//! The events of a vault for all its watchers: one reader, however many clients.
//!
//! While a vault has watchers, one task reads its new events, serializes each of them once, and broadcasts it. A client that
//! is too slow for the channel reads from the database, like one that reconnects, so a slow client takes no extra memory. The
//! reader is woken by notifications, and polls more often while these are not reliable.

use crate::domain::ids::VaultId;
use crate::fair::Party;
use crate::storage::database::notification::Notification;
use crate::storage::events::{Event, EventKind, Place, StreamState};
use crate::storage::{Storage, StorageError};
use axum::body::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver};

/// The number of events that the channel of a vault keeps, for clients that are slightly behind.
const KEPT: usize = 256;

/// The number of events that are read from the database at once.
const PAGE: i64 = 500;

/// How long to wait after a notification before reading, so that one query covers the changes of many writers.
const BATCH_DELAY: Duration = Duration::from_millis(10);

/// The polling intervals while the listening connection is known to work, and while it is not.
const IDLE: Duration = Duration::from_secs(5);
const UNTOLD: Duration = Duration::from_millis(250);

/// How long to wait after a database error.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Which events a client receives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only those of this memory.
    pub(crate) memory: Option<String>,
    /// Only those of these kinds.
    pub(crate) kinds: Option<Vec<EventKind>>,
}

impl Filter {
    fn takes(&self, frame: &Frame) -> bool {
        self.memory.as_ref().is_none_or(|memory| *memory == frame.memory)
            && self
                .kinds
                .as_ref()
                .is_none_or(|kinds| kinds.contains(&frame.kind))
    }

    /// The names of the kinds, for the database query.
    pub(crate) fn kind_names(&self) -> Option<Vec<String>> {
        let kinds = self.kinds.as_ref()?;
        Some(kinds.iter().map(|kind| kind.name().to_owned()).collect())
    }
}

/// The feeds of all vaults that have watchers.
pub(crate) struct Feeds {
    storage: Storage,
    open: Mutex<HashMap<VaultId, broadcast::Sender<Frame>>>,
}

impl Feeds {
    pub(crate) fn new(storage: Storage) -> Self {
        Self {
            storage,
            open: Mutex::default(),
        }
    }

    /// The feed of a vault. Its reader is started with the first watcher, and with the events after `last`; those before it are
    /// in the database.
    fn join(self: &Arc<Self>, vault: &VaultId, last: Place) -> Receiver<Frame> {
        let mut open = self.open.lock();
        if let Some(feed) = open.get(vault) {
            // Subscribes under the lock: the reader stops only if it finds no subscriber.
            return feed.subscribe();
        }
        let (feed, frames) = broadcast::channel(KEPT);
        open.insert(vault.clone(), feed.clone());
        let party = Party::new(Some(vault.as_str()), None);
        tokio::spawn(party.scope(self.clone().read(vault.clone(), feed, last)));
        frames
    }

    /// Reads events while there are watchers and the database knows the position.
    async fn read(self: Arc<Self>, vault: VaultId, feed: broadcast::Sender<Frame>, mut position: Place) {
        let mut notifications = self.storage.notifications();
        let listening = self.storage.listening();
        while !self.leave(&vault, &feed) {
            let idle = match self.read_new(&vault, &feed, &mut position).await {
                Ok(true) if *listening.borrow() => IDLE,
                Ok(true) => UNTOLD,
                Ok(false) => {
                    // Each watcher joins again, from its own position.
                    self.open.lock().remove(&vault);
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "events could not be read, trying again");
                    tokio::time::sleep(AFTER_FAILURE).await;
                    continue;
                }
            };
            tokio::select! {
                () = of_vault(&mut notifications, &vault) => tokio::time::sleep(BATCH_DELAY).await,
                () = tokio::time::sleep(idle) => {}
                () = feed.closed() => {}
            }
            while notifications.try_recv().is_ok() {}
        }
    }

    /// Removes the feed if it has no watchers.
    fn leave(&self, vault: &VaultId, feed: &broadcast::Sender<Frame>) -> bool {
        let mut open = self.open.lock();
        let alone = feed.receiver_count() == 0;
        if alone {
            open.remove(vault);
        }
        alone
    }

    /// Whether the database knows the position.
    async fn read_new(
        &self,
        vault: &VaultId,
        feed: &broadcast::Sender<Frame>,
        position: &mut Place,
    ) -> Result<bool, StorageError> {
        self.storage.sequence_events(vault).await?;
        loop {
            let Some((events, is_full)) = next_page(&self.storage, vault, position).await? else {
                return Ok(false);
            };
            for event in events {
                *position = event.place();
                // The last watcher may have left.
                let _ = feed.send(Frame::of(&event));
            }
            if !is_full {
                return Ok(true);
            }
        }
    }
}

/// The events after a position, and whether there may be more. `None` if the database does not know the position, as after a
/// failover that lost commits: its number may have been given again.
async fn next_page(
    storage: &Storage,
    vault: &VaultId,
    position: &Place,
) -> Result<Option<(Vec<Event>, bool)>, StorageError> {
    // Begins with the event at the position, which shows that it is still the same one.
    let before = position.sequence - 1;
    let mut events = storage.events_after(vault, before, None, None, PAGE).await?;
    let is_full = i64::try_from(events.len()) == Ok(PAGE);
    if events.first().is_some_and(|first| first.place() == *position) {
        events.remove(0);
    } else {
        let state = storage.stream_state(vault).await?;
        // Whoever was at the newest event that was purged has missed nothing.
        let is_known = state.purged == position.sequence
            || storage.resume_events(vault, &state, position).await?.is_some();
        if !is_known {
            return Ok(None);
        }
    }
    Ok(Some((events, is_full)))
}

/// Returns when the vault was changed, or may have been.
async fn of_vault(notifications: &mut Receiver<Notification>, vault: &VaultId) {
    loop {
        match notifications.recv().await {
            Ok(notification) if notification.vault == *vault => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// The reconnection time sent to clients, in milliseconds.
const RETRY_MILLIS: u32 = 2_000;

/// A client and its position in the stream.
pub(crate) struct Client {
    feeds: Arc<Feeds>,
    vault: VaultId,
    filter: Filter,
    frames: Receiver<Frame>,
    /// The last event that was processed.
    position: Place,
    /// Whether there may be events after it that are not in the channel any more, or never were.
    is_behind: bool,
    /// What to send before more events are read.
    ready: VecDeque<Bytes>,
}

impl Client {
    /// A client that resumes after `place`, or begins with new events.
    ///
    /// # Errors
    /// Database errors.
    pub(crate) async fn start(
        feeds: &Arc<Feeds>,
        vault: &VaultId,
        place: Option<&Place>,
        filter: Filter,
    ) -> Result<Self, StorageError> {
        feeds.storage.sequence_events(vault).await?;
        let state = feeds.storage.stream_state(vault).await?;
        // The old place also before a reset: if that does not arrive, the client must ask for it again.
        let position = place.unwrap_or(&state.last).clone();
        let mut client = Self {
            feeds: feeds.clone(),
            vault: vault.clone(),
            filter,
            frames: feeds.join(vault, state.last.clone()),
            ready: VecDeque::from([greeting(&position)]),
            position,
            // What was numbered before the client joined is read once from the database.
            is_behind: true,
        };
        client.resume(state).await?;
        Ok(client)
    }

    /// Goes on after its position, or with new events if the database does not know that.
    async fn resume(&mut self, state: StreamState) -> Result<(), StorageError> {
        let storage = &self.feeds.storage;
        let known = storage.resume_events(&self.vault, &state, &self.position);
        if known.await?.is_none() {
            self.ready.push_back(reset(&state.last));
            self.position = state.last;
        }
        Ok(())
    }

    /// Joins the vault's feed again, which ended, or will, since the database did not know a position.
    async fn rejoin(&mut self) -> Result<(), StorageError> {
        let state = self.feeds.storage.stream_state(&self.vault).await?;
        self.frames = self.feeds.join(&self.vault, state.last.clone());
        self.is_behind = true;
        self.resume(state).await
    }

    /// Waits for the next bytes to send. `None` ends the stream: the client reconnects and resumes at its position.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            let read = match self.is_behind {
                true => self.read_page().await,
                false => self.receive().await,
            };
            read.inspect_err(|error| tracing::warn!(%error, "events could not be read, a stream ends"))
                .ok()?;
        }
    }

    async fn receive(&mut self) -> Result<(), StorageError> {
        match self.frames.recv().await {
            Ok(frame) => self.take(frame),
            Err(RecvError::Lagged(_)) => self.is_behind = true,
            Err(RecvError::Closed) => self.rejoin().await?,
        }
        Ok(())
    }

    /// Processes an event unless it was already: the database and the channel may both have it.
    fn take(&mut self, frame: Frame) {
        if frame.place.sequence > self.position.sequence {
            self.position = frame.place.clone();
            if self.filter.takes(&frame) {
                self.ready.push_back(frame.bytes);
            }
        }
    }

    async fn read_page(&mut self) -> Result<(), StorageError> {
        let page = next_page(&self.feeds.storage, &self.vault, &self.position).await?;
        let Some((events, is_full)) = page else {
            return self.rejoin().await;
        };
        self.is_behind = is_full;
        for event in events {
            self.take(Frame::of(&event));
        }
        Ok(())
    }
}

/// The first bytes of a stream: the reconnection time, and the client's position, so that no event is missed if the
/// connection is lost before the first one. It has no data and is therefore no event.
fn greeting(place: &Place) -> Bytes {
    Bytes::from(format!("retry: {RETRY_MILLIS}\nid: {place}\n\n"))
}

fn reset(last: &Place) -> Bytes {
    let data = json!({
        "detail": "the event you were at is not kept any more, or never was: look at the memories themselves; \
                   what happens from now on follows",
        "last_event_id": last.to_string(),
    });
    frame("reset", Some(&last.to_string()), &data)
}

/// A comment. It shows both ends that the connection is alive.
pub(crate) const COMMENT: Bytes = Bytes::from_static(b": \n\n");

/// A serialized event, with the values that filters use. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(super) place: Place,
    pub(super) memory: String,
    pub(super) kind: EventKind,
    pub(super) bytes: Bytes,
}

impl Frame {
    pub(super) fn of(event: &Event) -> Self {
        Self {
            place: event.place(),
            memory: event.memory_id.to_string(),
            kind: event.kind,
            bytes: frame(event.kind.name(), Some(&event.id), event),
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
