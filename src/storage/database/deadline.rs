//! The statement deadlines, one for each class of work.
//!
//! The client enforces the deadline, so the wait also ends if the server or the network is silent. The connection of an
//! abandoned statement is closed. The outcome of an abandoned commit is unknown. A server that answers may cancel a
//! statement earlier, as its `statement_timeout` says.

use std::time::Duration;

/// The class of work that a statement belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A request that reads a memory or a list.
    Read,
    /// A request that changes data; also commits.
    Write,
    /// Full-text search, blame and other reads that may scan many rows.
    Search,
    /// Work that no request waits for: export and import, rebuilding.
    Maintenance,
    /// Maintenance that loops over vaults. Its transactions fail if another session holds a row lock for long, and the
    /// work goes on with other vaults.
    Sweep,
    /// Events, which have connections of their own.
    Events,
    /// API keys and health checks, which must fail soon and have connections of their own.
    Health,
    /// Schema changes, which have no deadline.
    Migration,
}

/// The deadline of a statement of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Of [`Class::Read`] and [`Class::Events`].
    pub read: Duration,
    /// Of [`Class::Write`].
    pub write: Duration,
    /// Of [`Class::Search`].
    pub search: Duration,
    /// Of [`Class::Maintenance`] and [`Class::Sweep`].
    pub maintenance: Duration,
    /// Of [`Class::Health`]; also how long the database may be silent before everything that waits for it fails.
    pub silence: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            // A request has 30 s: a read or a write that takes 10 s is stuck.
            read: Duration::from_secs(10),
            write: Duration::from_secs(10),
            search: Duration::from_secs(30),
            // An index of a large table, or the pruning of a large vault, takes minutes.
            maintenance: Duration::from_mins(10),
            // Eight heartbeats: shorter would take a pause of the network for an outage.
            silence: Duration::from_secs(2),
        }
    }
}

impl Deadlines {
    /// The deadline of a statement of this class; `None` means no deadline.
    #[must_use]
    pub fn of(&self, class: Class) -> Option<Duration> {
        match class {
            Class::Read | Class::Events => Some(self.read),
            Class::Write => Some(self.write),
            Class::Search => Some(self.search),
            Class::Maintenance | Class::Sweep => Some(self.maintenance),
            Class::Health => Some(self.silence),
            Class::Migration => None,
        }
    }
}
