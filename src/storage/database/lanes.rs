//! Concurrency limits in front of the pool, so that no vault can use up the connections.
//!
//! - A vault holds at most half of the pool's connections, an API key three quarters. Waiting callers are served in
//!   rotation by vault.
//! - Searches, each of which keeps a CPU of the database busy, have a low limit, and a lower one for each vault.
//! - API keys, readiness and event streams have their own connections: authentication does not wait for other requests.
//!
//! Some connections are reserved for the service's own work (batches, indexing, retention).

use crate::fair::{FairSemaphore, Party, Permit, ShareLimits};
use crate::storage::database::pool::PoolOptions;
use crate::storage::{Class, Storage, StorageError};
use sqlx::PgPool;
use std::time::Duration;

/// Connections outside the pool, for API keys, readiness and events.
pub const OWN_CONNECTIONS: u32 = 3;

/// Connections reserved for the service, if the pool has more than twice as many: the batchers run at most this many
/// batches at the same time.
const OF_THE_SERVICE: u32 = 5;

/// One search may run for each so many connections: a search keeps a CPU of the database busy, while the other
/// statements mostly wait for a disk or are idle.
const CONNECTIONS_PER_SEARCH: u32 = 8;

/// The concurrency limits of the connections.
#[derive(Debug, Clone)]
pub(in crate::storage) struct Lanes {
    connections: FairSemaphore,
    searches: FairSemaphore,
    events: FairSemaphore,
    own: PgPool,
    acquire_timeout: Duration,
}

impl Lanes {
    pub(in crate::storage) fn new(options: &PoolOptions, own: PgPool) -> Self {
        let most = options.max_connections;
        let of_vaults = if most > 2 * OF_THE_SERVICE {
            most - OF_THE_SERVICE
        } else {
            most
        };
        let gate = |connections: u32| {
            FairSemaphore::new(ShareLimits::of(
                usize::try_from(connections).unwrap_or(usize::MAX),
            ))
        };
        Self {
            connections: gate(of_vaults),
            searches: gate(most / CONNECTIONS_PER_SEARCH),
            events: gate(OWN_CONNECTIONS - 1),
            own,
            acquire_timeout: options.acquire_timeout,
        }
    }

    /// The pool for a class of work, and the limit of its connections.
    pub(super) fn of<'p>(
        &'p self,
        class: Class,
        requests: &'p PgPool,
    ) -> (&'p PgPool, Option<&'p FairSemaphore>) {
        match class {
            Class::Events => (&self.own, Some(&self.events)),
            Class::Health => (&self.own, None),
            _ => (requests, Some(&self.connections)),
        }
    }

    /// Waits for the current caller's permit; `None` for the service itself.
    pub(super) async fn acquire(&self, gate: &FairSemaphore) -> Result<Option<Permit>, StorageError> {
        let party = Party::current();
        if party.is_service() {
            return Ok(None);
        }
        match tokio::time::timeout(self.acquire_timeout, gate.acquire(&party, 1)).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(sqlx::Error::PoolTimedOut.into()),
        }
    }

    pub(in crate::storage) fn own(&self) -> &PgPool {
        &self.own
    }
}

impl Storage {
    /// Waits for the current caller's search permit, before it acquires a connection.
    pub(in crate::storage) async fn search_permit(&self) -> Result<Option<Permit>, StorageError> {
        self.lanes.acquire(&self.lanes.searches).await
    }
}
