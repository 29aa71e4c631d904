//! Collects notifications of this process and of others.

use super::notification::Notification;
use crate::storage::head_cache::HeadCache;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// Number of notifications that a receiver may lag; beyond that it gets an error that it missed some.
const KEPT: usize = 4_096;

/// The broadcast channel of notifications.
pub(in crate::storage) struct Notifications {
    pub(super) head_cache: Arc<HeadCache>,
    pub(super) sender: broadcast::Sender<Notification>,
    pub(super) proved: watch::Sender<bool>,
    /// The prefix of this instance's words.
    word: String,
}

impl Notifications {
    pub(in crate::storage) fn new(head_cache: Arc<HeadCache>) -> Self {
        Self {
            head_cache,
            sender: broadcast::Sender::new(KEPT),
            proved: watch::Sender::new(false),
            word: format!("word {:032x} ", fastrand::u128(..)),
        }
    }

    /// The payload of a word of this instance.
    pub(in crate::storage) fn word(&self, number: u64) -> String {
        format!("{}{number}", self.word)
    }

    pub(super) fn number_of_word(&self, line: &str) -> Option<u64> {
        line.strip_prefix(&self.word)?.parse().ok()
    }

    /// Publishes a change inside this process; there may be no receiver. Cached heads are invalid when it returns.
    pub(in crate::storage) fn publish(&self, notification: Notification) {
        self.head_cache.invalidate(&notification);
        let _ = self.sender.send(notification);
    }
}
