//! What a pool of connections is set up with.

use super::deadline::Deadlines;
use std::time::Duration;

/// How the pool is set up.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// A PostgreSQL URL.
    pub url: String,
    /// Connections at most.
    pub max_connections: u32,
    /// Whether statements are prepared by name and kept; see `database.prepared_statements`.
    pub prepared_statements: bool,
    /// How long a request waits for a connection before it is answered 503.
    pub acquire_timeout: Duration,
    /// How long a statement may be without an answer.
    pub deadlines: Deadlines,
    /// How many bytes of newest versions are kept in the process, while it hears what others write; 0 keeps none.
    pub head_cache_bytes: u64,
    /// Whether changes that come while another is being committed are sent together.
    pub gather_puts: bool,
}
