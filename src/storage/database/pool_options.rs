//! The configuration of the connection pool.

use super::deadline::Deadlines;
use std::time::Duration;

/// How long a request waits for a connection before it fails: a queue that is longer than this does not get shorter.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The configuration of the pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// A PostgreSQL URL.
    pub url: String,
    /// Maximum number of connections.
    pub max_connections: u32,
    /// Whether prepared statements are named and cached; see `database.prepared_statements`.
    pub prepared_statements: bool,
    /// How long a request waits for a connection before it fails with 503.
    pub acquire_timeout: Duration,
    /// Statement deadlines.
    pub deadlines: Deadlines,
    /// The size of the head cache in bytes; 0 disables it.
    pub head_cache_bytes: u64,
    /// Whether changes that arrive while another is being committed are committed together.
    pub gather_puts: bool,
}
