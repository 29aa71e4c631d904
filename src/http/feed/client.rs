//! One client of a vault's events.

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

/// How many milliseconds a client waits before it comes back.
const RETRY_MILLIS: u32 = 2_000;

/// A client and where it stands.
pub(crate) struct Client {
    feeds: Arc<Feeds>,
    vault: VaultId,
    filter: Filter,
    heartbeat: Duration,
    feed: Arc<Feed>,
    newest: watch::Receiver<i64>,
    /// The number of the last event that was looked at.
    position: i64,
    /// What is to be sent before anything else is looked at.
    ready: VecDeque<Bytes>,
}

impl Client {
    /// A client that goes on behind `place`, or with what happens from now on.
    ///
    /// # Errors
    /// The database's.
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
                Resumed::Behind(position) => {
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

    /// What to send next; waits for it. `None` ends the stream: the client comes back and goes on where it was.
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

    /// Takes what is new out of the ring, or, behind its end, a page out of the database.
    async fn catch_up(&mut self) -> Option<()> {
        let frames = match self.feed.behind(self.position) {
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
            .events_behind(&self.vault, self.position, None, None, PAGE)
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

/// What a client is sent first: when to come back and, so that it misses nothing if the connection is lost before the
/// first event, where it stands. It is no event: it has no data.
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
