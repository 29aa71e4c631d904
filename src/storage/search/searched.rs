//! Tracks which vaults are being searched, so that the others are indexed less often.
//!
//! Indexing a memory after each of its writes would add as much to the write-ahead log as the version itself. So after
//! a version was indexed, its memory is not indexed again for [`REST`], unless its vault is being searched through this
//! process. The first search of a vault indexes the postponed memories, a few batches at most. From then on nothing is
//! postponed until the vault has not been searched for [`SEARCHED_FOR`].

use crate::domain::ids::VaultId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long indexing of a memory is postponed.
pub(super) const REST: Duration = Duration::from_secs(30);

/// How long after a search a vault counts as being searched. A later search first indexes what was postponed.
const SEARCHED_FOR: Duration = Duration::from_secs(5);

/// Vaults that were searched through this process, with the time of the last search.
#[derive(Debug, Default)]
pub(in crate::storage) struct Searched(Mutex<HashMap<VaultId, Instant>>);

impl Searched {
    /// Records a search of a vault; returns whether the vault already counted as being searched.
    pub(super) fn note(&self, vault: &VaultId) -> bool {
        let mut searched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = searched.insert(vault.clone(), Instant::now());
        before.is_some_and(|at| at.elapsed() < SEARCHED_FOR)
    }

    /// The vaults that are being searched; removes the others.
    pub(super) fn vaults(&self) -> Vec<String> {
        let mut searched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        searched.retain(|_, at| at.elapsed() < SEARCHED_FOR);
        searched.keys().map(|vault| vault.as_str().to_owned()).collect()
    }

    pub(super) fn forget(&self, vault: &VaultId) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(vault);
    }
}
