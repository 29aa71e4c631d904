//! The connections of a batcher while no batch uses them.

use crate::storage::database::connection::Connection;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Holds the connections of a batcher while no batch uses them.
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
    /// Slots for so many.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            idle: Mutex::default(),
        }
    }

    /// Gives the connections back to the pool. Afterwards none is kept of a pool that is closed.
    pub(super) fn clear(&self) {
        self.idle().clear();
    }

    /// How many wait here for the next batch.
    pub(super) fn len(&self) -> usize {
        self.idle().len()
    }

    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
