//! The events of a vault for all its watchers: one reader, however many clients.
//!
//! While a vault has watchers, one task reads its new events, serializes each of them once, and keeps the newest in a
//! ring buffer. Clients copy handles from the ring as fast as their connections allow. A client that is too slow for
//! the ring reads from the database, like one that reconnects, so a slow client takes no extra memory. The reader is
//! woken by notifications, and polls more often while these are not reliable.

mod client;
mod frame;

pub(crate) use client::Client;
pub(crate) use frame::{COMMENT, EventBody, Frame, ServerSentEvent, frame};

use crate::domain::ids::VaultId;
use crate::fair::Party;
use crate::storage::database::notification::Notification;
use crate::storage::events::EventKind;
use crate::storage::{Storage, StorageError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;

/// The number of events in the ring, for clients that are slightly behind.
const RING: usize = 1_024;

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
    open: Mutex<HashMap<VaultId, Arc<Feed>>>,
}

/// The state that the clients of one vault share.
struct Feed {
    ring: Mutex<VecDeque<Frame>>,
    /// The number of the newest event in the ring; -1 until the reader has started.
    newest: watch::Sender<i64>,
}

impl Feeds {
    pub(crate) fn new(storage: Storage) -> Self {
        Self {
            storage,
            open: Mutex::default(),
        }
    }

    /// The feed of a vault, with a running reader.
    fn join(self: &Arc<Self>, vault: &VaultId) -> (Arc<Feed>, watch::Receiver<i64>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = open.get(vault) {
            // Subscribes under the lock: the reader stops only if it finds no subscriber.
            return (feed.clone(), feed.newest.subscribe());
        }
        let feed = Arc::new(Feed {
            ring: Mutex::default(),
            newest: watch::Sender::new(-1),
        });
        let newest = feed.newest.subscribe();
        open.insert(vault.clone(), feed.clone());
        let party = Party::new(Some(vault.as_str()), None);
        tokio::spawn(party.scope(self.clone().read(vault.clone(), feed.clone())));
        (feed, newest)
    }

    /// Reads events while there are watchers.
    async fn read(self: Arc<Self>, vault: VaultId, feed: Arc<Feed>) {
        let mut notifications = self.storage.notifications();
        let listening = self.storage.listening();
        let mut last = None;
        while !self.leave(&vault, &feed) {
            let idle = match self.read_new(&vault, &feed, &mut last).await {
                Ok(()) if *listening.borrow() => IDLE,
                Ok(()) => UNTOLD,
                Err(error) => {
                    tracing::warn!(%error, "events could not be read, trying again");
                    tokio::time::sleep(AFTER_FAILURE).await;
                    continue;
                }
            };
            tokio::select! {
                () = of_vault(&mut notifications, &vault) => tokio::time::sleep(BATCH_DELAY).await,
                () = tokio::time::sleep(idle) => {}
                () = feed.newest.closed() => {}
            }
            while notifications.try_recv().is_ok() {}
        }
    }

    /// Removes the feed if it has no watchers.
    fn leave(&self, vault: &VaultId, feed: &Feed) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = feed.newest.receiver_count() == 0;
        if alone {
            open.remove(vault);
        }
        alone
    }

    async fn read_new(
        &self,
        vault: &VaultId,
        feed: &Feed,
        last: &mut Option<i64>,
    ) -> Result<(), StorageError> {
        self.storage.sequence_events(vault).await?;
        let mut position = match *last {
            Some(position) => position,
            None => self.storage.stream_state(vault).await?.last.sequence,
        };
        loop {
            let events = self
                .storage
                .events_after(vault, position, None, None, PAGE)
                .await?;
            let full = i64::try_from(events.len()) == Ok(PAGE);
            position = events.last().map_or(position, |event| event.place.sequence);
            feed.add(events.into_iter().map(|event| Frame::of(vault, event)));
            *last = Some(position);
            feed.newest
                .send_if_modified(|newest| std::mem::replace(newest, position) != position);
            if !full {
                return Ok(());
            }
        }
    }
}

impl Feed {
    fn add(&self, frames: impl Iterator<Item = Frame>) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        for frame in frames {
            if ring.len() == RING {
                ring.pop_front();
            }
            ring.push_back(frame);
        }
    }

    /// The events after a number; `None` if the ring does not reach back that far. Numbers have no gaps.
    fn events_after(&self, sequence: i64) -> Option<Vec<Frame>> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ring.front()?.sequence;
        let skip = usize::try_from(sequence + 1 - first).ok()?;
        Some(ring.iter().skip(skip).cloned().collect())
    }
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
