//! The idle connections of a batcher.

use crate::storage::database::connection::Connection;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

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
