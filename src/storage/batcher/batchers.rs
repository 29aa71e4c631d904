//! The batchers of a service, one for each kind of job. Only the files that define the jobs know the kinds.

use super::job::Job;
use super::queue::Batcher;
use super::slots::Slots;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

/// The batchers of a service.
#[derive(Default)]
pub(in crate::storage) struct Batchers {
    by_job: Mutex<HashMap<TypeId, Kind>>,
    /// Whether one transaction may write to several vaults.
    pub(super) crosses_vaults: OnceCell<bool>,
}

/// The batcher of a kind of job, and its connections.
struct Kind {
    batcher: Arc<dyn Any + Send + Sync>,
    connections: Arc<Slots>,
}

impl Batchers {
    /// The batcher of a kind of job; created at first use.
    pub(in crate::storage) fn of<J: Job>(&self) -> Arc<Batcher<J>> {
        let mut kinds = self.kinds();
        let kind = kinds.entry(TypeId::of::<J>()).or_insert_with(|| {
            let batcher = Arc::<Batcher<J>>::default();
            Kind {
                connections: batcher.connections.clone(),
                batcher,
            }
        });
        let batcher = kind.batcher.clone().downcast();
        batcher.expect("each batcher is kept under the type of its job")
    }

    /// The number of idle connections in the slots.
    pub(in crate::storage) fn idle_connections(&self) -> usize {
        self.kinds().values().map(|kind| kind.connections.len()).sum()
    }

    /// Returns the idle connections to the pool, which is being closed.
    pub(in crate::storage) fn clear(&self) {
        for kind in self.kinds().values() {
            kind.connections.clear();
        }
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<TypeId, Kind>> {
        self.by_job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
