//! Which changes of a memory wait for each other before they join a group commit.

use crate::domain::ids::{MemoryId, VaultId};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Mutexes that memories share by their hash: so many that two that change at once seldom share one, which costs a
/// needless wait.
const LOCK_STRIPES: usize = 1_024;

/// Whether versions are committed in groups, and the order of those of one memory.
#[derive(Debug)]
pub(in crate::storage) struct CommitOrder {
    pub(super) is_wanted: bool,
    /// Held by the optimistic changes of a memory, one after another: the next is decided by what this one came to.
    stripes: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
}

impl CommitOrder {
    pub(in crate::storage) fn new(is_wanted: bool) -> Self {
        Self {
            is_wanted,
            stripes: (0..LOCK_STRIPES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    pub(super) async fn lock(&self, of: (&VaultId, &MemoryId)) -> OwnedMutexGuard<()> {
        let hash = self.hasher.hash_one(of);
        let stripe = usize::try_from(hash % LOCK_STRIPES as u64).unwrap_or_default();
        self.stripes[stripe].clone().lock_owned().await
    }
}
