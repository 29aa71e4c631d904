//! Connections reserved for a batcher, one for each batch in flight.
//!
//! A connection from the pool costs an extra message for its liveness check, and the pool rotates its connections: at
//! low load every one of them would still be planning statements that it executes for the first time.

use crate::storage::database::connect::BELIEVED_FOR;
use crate::storage::database::connection::Connection;
use crate::storage::{Class, Storage, StorageError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection is reserved. Then it is returned, so that the server frees the session's memory.
const STAYS_FOR: Duration = Duration::from_mins(10);

/// The smallest pool with reserved connections: the batchers together have five batches in flight.
const SMALLEST_POOL: u32 = 8;

/// Holds the connections of a batcher between batches.
pub(in crate::storage) struct Slots {
    most: usize,
    /// With the time when each was used last.
    idle: Mutex<Vec<(Connection, Instant)>>,
}

impl Slots {
    /// Creates this many slots.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            idle: Mutex::default(),
        }
    }

    /// The connection of the last batch, if it still answers, or another one.
    pub(in crate::storage) async fn take(&self, storage: &Storage) -> Result<Connection, StorageError> {
        let last = self.idle().pop();
        if let Some((mut connection, used)) = last
            && connection.taken_for() < STAYS_FOR
            && connection.is_current()
            && (used.elapsed() < BELIEVED_FOR || connection.answers(storage.deadlines.silence).await)
        {
            return Ok(connection);
        }
        storage.connection(Class::Write).await
    }

    /// Puts a connection back, for the next batch or into the pool. Must be called only after all statements were answered.
    pub(in crate::storage) fn put_back(&self, storage: &Storage, connection: Connection) {
        let mut idle = self.idle();
        // A transaction that only read is rolled back.
        let is_wanted = connection.is_current()
            && !connection.is_in_transaction()
            && storage.prepared_statements
            && idle.len() < self.most
            && storage.most_connections() >= SMALLEST_POOL;
        if is_wanted && !storage.pool.is_closed() {
            idle.push((connection, Instant::now()));
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

    fn idle(&self) -> MutexGuard<'_, Vec<(Connection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
