//! Connections by vault: before the pool, so that no vault ever waits behind all that another asks for.
//!
//! - Of the pool's connections one vault holds at most half, one key three quarters. Who waits gets its turn vault by vault.
//! - Searches, which keep a processor of the database busy, are few at once, and of one vault fewer.
//! - Keys, readiness and streams of events have connections of their own: whether a request is let in does not depend on
//!   how many others are at work.
//!
//! The service's own work (batches, indexing, retention) has a few connections that no vault is given.

use crate::fair::{Gate, Party, Permit, Shares};
use crate::storage::StorageError;
use crate::storage::database::pool_options::PoolOptions;
use sqlx::PgPool;
use std::time::Duration;

/// Connections beside the pool for keys, readiness and events.
pub const OWN_CONNECTIONS: u32 = 3;

/// Connections that no vault is given, of a pool that has more than twice as many: the batchers have as many batches in
/// flight.
const OF_THE_SERVICE: u32 = 5;

/// Of so many connections one may be at work on a search: a search keeps a processor of the database busy, and the others
/// mostly wait for a disk or for nothing.
const CONNECTIONS_PER_SEARCH: u32 = 8;

/// Who may have how many connections.
#[derive(Debug, Clone)]
pub(in crate::storage) struct Lanes {
    connections: Gate,
    pub(super) searches: Gate,
    pub(super) events: Gate,
    own: PgPool,
    patience: Duration,
}

impl Lanes {
    pub(in crate::storage) fn new(options: &PoolOptions, own: PgPool) -> Self {
        let most = options.max_connections;
        let of_vaults = if most > 2 * OF_THE_SERVICE {
            most - OF_THE_SERVICE
        } else {
            most
        };
        let gate =
            |connections: u32| Gate::new(Shares::of(usize::try_from(connections).unwrap_or(usize::MAX)));
        Self {
            connections: gate(of_vaults),
            searches: gate(most / CONNECTIONS_PER_SEARCH),
            events: gate(OWN_CONNECTIONS - 1),
            own,
            patience: options.acquire_timeout,
        }
    }

    /// Waits for a connection of the pool to be the current party's turn; `None` for the service itself.
    pub(in crate::storage) async fn connection(&self) -> Result<Option<Permit>, StorageError> {
        self.turn(&self.connections).await
    }

    pub(super) async fn turn(&self, gate: &Gate) -> Result<Option<Permit>, StorageError> {
        let party = Party::current();
        if party.is_service() {
            return Ok(None);
        }
        match tokio::time::timeout(self.patience, gate.acquire(&party, 1)).await {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => Err(sqlx::Error::PoolTimedOut.into()),
        }
    }

    pub(in crate::storage) fn own(&self) -> &PgPool {
        &self.own
    }
}
