//! One client of a vault's event stream.

use super::{COMMENT, Feed, Feeds, Filter, Frame, PAGE, frame};
use crate::domain::ids::VaultId;
use crate::storage::StorageError;
use crate::storage::events::{Place, Resumed};
use axum::body::Bytes;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The reconnection time sent to clients, in milliseconds.
const RETRY_MILLIS: u32 = 2_000;

/// A client and its position in the stream.
pub(crate) struct Client {
    feeds: Arc<Feeds>,
    vault: VaultId,
    filter: Filter,
    heartbeat: Duration,
    feed: Arc<Feed>,
    newest: watch::Receiver<i64>,
    /// The number of the last event that was processed.
    position: i64,
    /// Frames to send before more events are read.
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
        heartbeat: Duration,
    ) -> Result<Self, StorageError> {
        let (feed, newest) = feeds.join(vault);
        let mut ready = VecDeque::new();
        feeds.storage.sequence_events(vault).await?;
        let position = match place {
            None => {
                let last = feeds.storage.stream_state(vault).await?.last;
                ready.push_back(greeting(&last));
                last.sequence
            }
            Some(place) => match feeds.storage.resume_events(vault, place).await? {
                Resumed::After(position) => {
                    ready.push_back(greeting(place));
                    position
                }
                Resumed::Lost(last) => {
                    ready.push_back(greeting(&last));
                    ready.push_back(reset(&last));
                    last.sequence
                }
            },
        };
        Ok(Self {
            feeds: feeds.clone(),
            vault: vault.clone(),
            filter,
            heartbeat,
            feed,
            newest,
            position,
            ready,
        })
    }

    /// Waits for the next bytes to send. `None` ends the stream: the client reconnects and resumes at its position.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            let newest = *self.newest.borrow_and_update();
            if newest > self.position {
                self.catch_up().await?;
                continue;
            }
            match timeout(self.heartbeat, self.newest.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(COMMENT),
            }
        }
    }

    /// Reads new events from the ring, or a page from the database if the client is behind the ring.
    async fn catch_up(&mut self) -> Option<()> {
        let frames = match self.feed.events_after(self.position) {
            Some(frames) => frames,
            None => self.page().await?,
        };
        self.position = frames.last()?.sequence;
        let wanted = frames.into_iter().filter(|frame| self.filter.takes(frame));
        self.ready.extend(wanted.map(|frame| frame.bytes));
        Some(())
    }

    async fn page(&self) -> Option<Vec<Frame>> {
        let storage = &self.feeds.storage;
        match storage
            .events_after(&self.vault, self.position, None, None, PAGE)
            .await
        {
            Ok(events) => Some(
                events
                    .into_iter()
                    .map(|event| Frame::of(&self.vault, event))
                    .collect(),
            ),
            Err(error) => {
                tracing::warn!(%error, "events could not be read, a stream ends");
                None
            }
        }
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
