//! How long a statement may be without an answer, by the class of work that it is part of.
//!
//! The deadline is the client's: it ends the wait also where the server, or the network before it, is silent. The
//! connection of a statement that was given up is closed, and a commit that was given up has an unknown outcome. A
//! server that answers ends a statement by itself earlier where `statement_timeout` says so.

use crate::config::database::DatabaseConfig;
use std::time::Duration;

/// What a statement is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A request that reads a memory or a list.
    Read,
    /// A request that changes something; also a commit.
    Write,
    /// Whole-text search, blame and other reads that may go through many rows.
    Search,
    /// What no request waits for: retention, purge, indexing, export and import, rebuilding.
    Maintenance,
    /// Whether the database answers at all, which has to be known soon.
    Health,
    /// A change of the schema, which takes what it takes.
    Migration,
}

/// The deadline of a statement of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Of [`Class::Read`].
    pub read: Duration,
    /// Of [`Class::Write`].
    pub write: Duration,
    /// Of [`Class::Search`].
    pub search: Duration,
    /// Of [`Class::Maintenance`].
    pub maintenance: Duration,
    /// Of [`Class::Health`], and how long the database may be silent before all that waits for it is given up.
    pub silence: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            read: Duration::from_secs(10),
            write: Duration::from_secs(10),
            search: Duration::from_secs(30),
            maintenance: Duration::from_mins(10),
            silence: Duration::from_secs(2),
        }
    }
}

impl Deadlines {
    /// How long a statement of this class may wait; `None` for as long as it takes.
    #[must_use]
    pub fn of(&self, class: Class) -> Option<Duration> {
        match class {
            Class::Read => Some(self.read),
            Class::Write => Some(self.write),
            Class::Search => Some(self.search),
            Class::Maintenance => Some(self.maintenance),
            Class::Health => Some(self.silence),
            Class::Migration => None,
        }
    }
}

impl From<&DatabaseConfig> for Deadlines {
    fn from(config: &DatabaseConfig) -> Self {
        Self {
            read: Duration::from_secs(config.read_timeout_seconds),
            write: Duration::from_secs(config.write_timeout_seconds),
            search: Duration::from_secs(config.search_timeout_seconds),
            maintenance: Duration::from_secs(config.maintenance_timeout_seconds),
            silence: Duration::from_secs(config.silence_timeout_seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_configuration() {
        assert_eq!(Deadlines::from(&DatabaseConfig::default()), Deadlines::default());
    }
}
