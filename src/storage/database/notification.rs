//! Notifications about memories between instances, and their text format.

use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::storage::head_cache::HeadCache;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// The channel of all instances on one database.
pub(in crate::storage) const CHANNEL: &str = "working_memory";

/// The maximum length of a payload: PostgreSQL accepts less than 8,000 bytes.
const MOST_BYTES: usize = 7_900;

/// A change of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The prefix of a version's id in a line.
const CONTEXT: &str = "context=";

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

    /// Ids contain no blanks, so the fields are separated by blanks. A line is far shorter than [`MOST_BYTES`].
    pub(in crate::storage) fn to_line(&self) -> String {
        let version = self
            .version
            .map_or_else(|| "-".to_owned(), |version| version.to_string());
        let mut line = format!("memory {} {} {version}", self.vault, self.memory);
        if let Some(context) = &self.context {
            line.push(' ');
            line.push_str(CONTEXT);
            line.push_str(context.as_str());
        }
        for (is, word) in [(self.forget, " gone"), (self.queue, " queue")] {
            if is {
                line.push_str(word);
            }
        }
        line
    }

    pub(super) fn from_line(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("memory ")?.split(' ');
        let (vault, memory, version) = (words.next()?, words.next()?, words.next()?);
        let flags: Vec<&str> = words.collect();
        Some(Self {
            vault: vault.parse().ok()?,
            memory: memory.parse().ok()?,
            version: version.parse().ok(),
            context: flags
                .iter()
                .find_map(|flag| flag.strip_prefix(CONTEXT)?.parse().ok()),
            forget: flags.contains(&"gone"),
            queue: flags.contains(&"queue"),
        })
    }
}

/// The payloads that contain all these notifications.
pub(in crate::storage) fn joined_words<'a>(
    notifications: impl Iterator<Item = &'a Notification>,
) -> Vec<String> {
    let words = words(notifications.map(Notification::to_line));
    words.iter().map(|lines| lines.join("\n")).collect()
}

/// Joins lines into payloads, as many as fit in each.
pub(in crate::storage) fn words(lines: impl Iterator<Item = String>) -> Vec<Vec<String>> {
    let mut words: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for line in lines {
        bytes += line.len() + 1;
        match words.last_mut().filter(|_| bytes <= MOST_BYTES) {
            Some(word) => word.push(line),
            None => {
                bytes = line.len() + 1;
                words.push(vec![line]);
            }
        }
    }
    words
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_read_as_it_is_written() {
        for (version, forget, queue) in [(Some(7), false, false), (None, true, false), (None, false, true)] {
            let notification = Notification {
                vault: "acme".parse().unwrap(),
                memory: "agent:1".parse().unwrap(),
                version,
                context: version.map(|version| format!("id-{version}").parse().unwrap()),
                forget,
                queue,
            };
            let line = notification.to_line();
            assert_eq!(Notification::from_line(&line), Some(notification), "{line}");
        }
        for bad in [
            "",
            "memory",
            "memory a",
            "memory a b",
            "memory -a b 1",
            "word x 1",
        ] {
            assert_eq!(Notification::from_line(bad), None, "{bad}");
        }
    }
}
