//! Limits how many updates run at once, per vault and in the whole process.
//!
//! A synchronous request is rejected at once while no permit is free, so that its client can retry. A request that was
//! admitted, or accepted for a later run, waits for its permit.

use crate::domain::ids::VaultId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The concurrency permits of one instance.
pub(super) struct Admission {
    per_vault: usize,
    in_all: usize,
    all: Arc<Semaphore>,
    vaults: Mutex<HashMap<VaultId, VaultPermits>>,
}

struct VaultPermits {
    /// How many updates of the vault are running or waiting.
    users: usize,
    free: Arc<Semaphore>,
}

/// No permit is free.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoPermit {
    OfVault(usize),
    OfAll(usize),
}

/// A permit. It is released on drop.
pub(super) struct Permit<'a> {
    // Fields are dropped in this order: the permits are released before the vault's entry may be removed.
    _permits: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
    _user: User<'a>,
}

struct User<'a> {
    admission: &'a Admission,
    vault: VaultId,
}

impl Admission {
    pub(super) fn new(per_vault: usize, in_all: usize) -> Self {
        Self {
            per_vault,
            in_all,
            all: Arc::new(Semaphore::new(in_all)),
            vaults: Mutex::default(),
        }
    }

    /// Checks, without waiting, whether a permit is free.
    pub(super) fn check(&self, vault: &VaultId) -> Result<(), NoPermit> {
        if self.all.available_permits() == 0 {
            return Err(NoPermit::OfAll(self.in_all));
        }
        let vaults = self.vaults.lock().unwrap_or_else(PoisonError::into_inner);
        match vaults.get(vault) {
            Some(permits) if permits.free.available_permits() == 0 => Err(NoPermit::OfVault(self.per_vault)),
            _ => Ok(()),
        }
    }

    /// Waits for a permit.
    pub(super) async fn enter(&self, vault: &VaultId) -> Permit<'_> {
        let (user, free) = self.join(vault);
        // Neither semaphore is ever closed. The vault's permit comes first: a task that holds a global permit never
        // waits.
        let of_vault = free.acquire_owned().await.ok();
        let of_all = self.all.clone().acquire_owned().await.ok();
        Permit {
            _permits: (of_vault, of_all),
            _user: user,
        }
    }

    fn join(&self, vault: &VaultId) -> (User<'_>, Arc<Semaphore>) {
        let mut vaults = self.vaults.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = vaults.entry(vault.clone()).or_insert_with(|| VaultPermits {
            users: 0,
            free: Arc::new(Semaphore::new(self.per_vault)),
        });
        permits.users += 1;
        let user = User {
            admission: self,
            vault: vault.clone(),
        };
        (user, permits.free.clone())
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let mut vaults = self
            .admission
            .vaults
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(permits) = vaults.get_mut(&self.vault) {
            permits.users -= 1;
            if permits.users == 0 {
                vaults.remove(&self.vault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_vault_and_all_vaults_have_their_bounds() {
        let (one, two): (VaultId, VaultId) = ("one".parse().unwrap(), "two".parse().unwrap());
        let admission = Admission::new(1, 2);
        let first = admission.enter(&one).await;
        assert_eq!(admission.check(&one), Err(NoPermit::OfVault(1)));
        assert_eq!(admission.check(&two), Ok(()));
        assert!(admission.enter(&one).now_or_never().is_none(), "it waits");

        let second = admission.enter(&two).await;
        let three: VaultId = "three".parse().unwrap();
        assert_eq!(admission.check(&three), Err(NoPermit::OfAll(2)));

        drop((first, second));
        assert_eq!(admission.check(&one), Ok(()));
        assert!(admission.vaults.lock().unwrap().is_empty());
    }
}
