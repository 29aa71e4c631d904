//! Connections reserved for a batcher, one for each batch in flight.
//!
//! A connection from the pool costs an extra message for its liveness check, and the pool rotates its connections: at
//! low load every one of them would still be planning statements that it executes for the first time.

use crate::storage::database::connect::BELIEVED_FOR;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};
use sqlx::Connection as _;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Holds the connections of a batcher between batches.
pub(in crate::storage) struct Slots {
    pub(super) most: usize,
    idle: Mutex<Vec<Idle>>,
}

pub(super) struct Idle {
    pub(super) connection: Connection,
    pub(super) since: Instant,
    pub(super) used: Instant,
}

impl Slots {
    /// Creates this many slots.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            idle: Mutex::default(),
        }
    }

    /// Returns the connections to the pool. Connections of a closed pool are not put back.
    pub(super) fn clear(&self) {
        self.idle().clear();
    }

    /// The number of idle connections.
    pub(super) fn len(&self) -> usize {
        self.idle().len()
    }

    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a connection is reserved. Then it is returned, so that the server frees the session's memory.
const STAYS_FOR: Duration = Duration::from_mins(10);

/// The smallest pool with reserved connections: the batchers together have five batches in flight.
const SMALLEST_POOL: u32 = 8;

/// A connection on which a statement is its own transaction. It returns to the pool, unless [`Lease::release`] puts it
/// back into its slot.
pub(in crate::storage) struct Lease {
    connection: Connection,
    since: Instant,
}

impl Slots {
    /// The connection of the last batch, or another one; `None` if a statement takes a transaction of several messages.
    pub(in crate::storage) async fn lease(&self, storage: &Storage) -> Result<Option<Lease>, StorageError> {
        let idle = self.idle().pop();
        if let Some(idle) = idle
            && idle.since.elapsed() < STAYS_FOR
            && let (since, Some(connection)) = (idle.since, idle.live(storage).await)
        {
            return Ok(Some(Lease { connection, since }));
        }
        let connection = storage.autocommit().await?;
        Ok(connection.map(|connection| Lease {
            connection,
            since: Instant::now(),
        }))
    }
}

impl Idle {
    /// The connection, if it is still usable.
    async fn live(self, storage: &Storage) -> Option<Connection> {
        let mut connection = self.connection;
        if !connection.is_current() {
            return None;
        }
        if self.used.elapsed() >= BELIEVED_FOR {
            connection.set_deadline(storage.deadlines.of(Class::Health));
            connection.bounded(|raw| Box::pin(raw.ping())).await.ok()?;
            connection.set_deadline(storage.deadlines.of(Class::Write));
        }
        Some(connection)
    }
}

impl Lease {
    /// Begins a transaction on it. The future must be awaited to its end.
    pub(in crate::storage) async fn begin(self) -> Result<LeasedTransaction, sqlx::Error> {
        Ok(LeasedTransaction {
            transaction: Transaction::begin(self.connection, None).await?,
            since: self.since,
        })
    }

    /// Puts the connection back. Must be called only after all statements were answered.
    pub(in crate::storage) fn release(self, storage: &Storage, slots: &Slots) {
        let mut idle = slots.idle();
        let is_wanted = self.connection.is_current()
            && idle.len() < slots.most
            && storage.most_connections() >= SMALLEST_POOL;
        if is_wanted && !storage.pool.is_closed() {
            idle.push(Idle {
                connection: self.connection,
                since: self.since,
                used: Instant::now(),
            });
        }
    }
}

/// A transaction on a leased connection.
pub(in crate::storage) struct LeasedTransaction {
    transaction: Transaction,
    since: Instant,
}

impl LeasedTransaction {
    /// Commits and returns the lease. Errors as [`Transaction::commit`].
    pub(in crate::storage) async fn commit(self) -> Result<Lease, sqlx::Error> {
        Ok(Lease {
            connection: self.transaction.commit_and_keep().await?,
            since: self.since,
        })
    }
}

impl Deref for LeasedTransaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.transaction
    }
}

impl DerefMut for LeasedTransaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.transaction
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
