//! Connections that stay with a batcher, one for each batch in flight.
//!
//! A connection that goes back to the pool is asked whether it lives, a message more for every statement, and comes
//! back after all the others: at little load each of them would still be planning what it is sent for the first time.

use super::slots::{Idle, Slots};
use crate::storage::database::connect::BELIEVED_FOR;
use crate::storage::database::connection::Connection;
use crate::storage::database::transaction::Transaction;
use crate::storage::{Class, Storage, StorageError};
use sqlx::Connection as _;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// For how long a connection stays: the database frees what it has gathered for it.
const STAYS_FOR: Duration = Duration::from_mins(10);

/// The smallest pool of which connections are kept: the batchers together have five batches in flight.
const SMALLEST_POOL: u32 = 8;

/// A connection on which a statement is a transaction of its own. It goes back to the pool, unless [`Lease::release`] puts
/// it back into its slot.
pub(in crate::storage) struct Lease {
    connection: Connection,
    since: Instant,
}

impl Slots {
    /// The connection of the last batch, or another; `None` where a statement takes a transaction of several messages.
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
    /// Its connection, unless that is lost.
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
    /// Begins a transaction on it. To be awaited to its end, or dropped together with what it gave.
    pub(in crate::storage) async fn begin(self) -> Result<LeasedTransaction, sqlx::Error> {
        Ok(LeasedTransaction {
            transaction: Transaction::begin(self.connection, None).await?,
            since: self.since,
        })
    }

    /// To be called when all that was sent was answered.
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
    /// Commits it; its connection is leased still. As [`Transaction::commit`].
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
