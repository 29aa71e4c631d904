//! Where notifications come together, of this process and of others.

use super::notification::Notification;
use crate::storage::head_cache::HeadCache;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// Notifications that a receiver may be behind; one that is further behind is told that it missed some.
const KEPT: usize = 4_096;

/// Where notifications come together.
pub(in crate::storage) struct Notifications {
    pub(super) head_cache: Arc<HeadCache>,
    pub(super) heard: broadcast::Sender<Notification>,
    pub(super) proved: watch::Sender<bool>,
    /// What the words of this instance begin with.
    word: String,
}

impl Notifications {
    pub(in crate::storage) fn new(head_cache: Arc<HeadCache>) -> Self {
        Self {
            head_cache,
            heard: broadcast::Sender::new(KEPT),
            proved: watch::Sender::new(false),
            word: format!("word {:032x} ", fastrand::u128(..)),
        }
    }

    /// A word of this instance, as it is sent.
    pub(in crate::storage) fn word(&self, number: u64) -> String {
        format!("{}{number}", self.word)
    }

    pub(super) fn number_of_word(&self, line: &str) -> Option<u64> {
        line.strip_prefix(&self.word)?.parse().ok()
    }

    /// Tells everybody in this process; nobody may be listening. Cached heads are invalidated when it returns.
    pub(in crate::storage) fn publish(&self, notification: Notification) {
        self.head_cache.invalidate(&notification);
        let _ = self.heard.send(notification);
    }
}
