//! Notifications about memories between instances.

use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::storage::head_cache::HeadCache;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// The channel of all instances on one database.
pub(in crate::storage) const CHANNEL: &str = "working_memory";

/// A change of a memory. It is sent as JSON, which is far shorter than the 8,000 bytes that PostgreSQL accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The newest version, if the change created one.
    pub version: Option<i64>,
    /// The id of that version. A number may be reused after the memory was deleted; an id never is.
    pub context: Option<ContextId>,
    /// Cached data of the memory is invalid: it was deleted, one of its versions was redacted, or its records were
    /// rebuilt.
    pub forget: bool,
    /// Its queue of updates changed: an update was added or cancelled.
    pub queue: bool,
}

impl Notification {
    /// A notification about a memory, without any change yet.
    pub(in crate::storage) fn of(vault: &VaultId, memory: &MemoryId) -> Self {
        Self {
            vault: vault.clone(),
            memory: memory.clone(),
            version: None,
            context: None,
            forget: false,
            queue: false,
        }
    }

    pub(in crate::storage) fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

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
