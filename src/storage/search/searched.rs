//! Which vaults are being searched, so that others are indexed less often.
//!
//! A memory that is written all the time would be indexed all the time, and a change of its entry costs as much of the
//! write-ahead log as the version itself. So a memory rests for [`REST`] after a version of it was indexed, unless its
//! vault is being searched through this process. The first search of a vault indexes what rests there, a few batches at
//! most, and from then on nothing does until nobody has searched it for [`SEARCHED_FOR`].

use crate::domain::ids::VaultId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a memory rests.
pub(super) const REST: Duration = Duration::from_secs(30);

/// For how long after a search a vault counts as being searched: whoever waits longer has what rests there indexed first.
const SEARCHED_FOR: Duration = Duration::from_secs(5);

/// Vaults that were searched through this process, and when last.
#[derive(Debug, Default)]
pub(in crate::storage) struct Searched(Mutex<HashMap<VaultId, Instant>>);

impl Searched {
    /// Notes that a vault is searched; whether it was already.
    pub(super) fn note(&self, vault: &VaultId) -> bool {
        let mut searched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = searched.insert(vault.clone(), Instant::now());
        before.is_some_and(|at| at.elapsed() < SEARCHED_FOR)
    }

    /// The vaults that are being searched; the others are forgotten.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_is_searched_from_its_first_search_on() {
        let searched = Searched::default();
        let vault: VaultId = "acme".parse().unwrap();
        assert!(!searched.note(&vault) && searched.note(&vault));
        assert_eq!(searched.vaults(), ["acme"]);
        searched.forget(&vault);
        assert!(searched.vaults().is_empty() && !searched.note(&vault));
    }
}
