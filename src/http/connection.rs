//! How many connections one address may hold that show no key: a limit that neither hyper nor tower has.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of unauthenticated connections of each address, which are limited so that one cannot use up all connections.
#[derive(Debug)]
pub(super) struct Addresses {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that counts for its address until it sends a valid key or ends.
#[derive(Debug, Clone)]
pub(crate) struct UnauthenticatedConnection(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    addresses: Arc<Addresses>,
    address: Mutex<Option<IpAddr>>,
}

impl Addresses {
    /// `most` connections for each address; 0 means unlimited.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; `None` if its address has reached the limit.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<UnauthenticatedConnection> {
        let mut open = self.open();
        let count = open.entry(address).or_default();
        if self.most > 0 && *count >= self.most {
            return None;
        }
        *count += 1;
        Some(UnauthenticatedConnection(Arc::new(Counted {
            addresses: self.clone(),
            address: Mutex::new(Some(address)),
        })))
    }
}

impl UnauthenticatedConnection {
    /// A request on the connection had a valid key: it no longer counts.
    pub(crate) fn is_known(&self) {
        self.0.leave();
    }
}

impl Counted {
    fn leave(&self) {
        let address = self.address.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(address) = address else { return };
        let mut open = self.addresses.open();
        if let Some(count) = open.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_connections_and_others_have_theirs() {
        let addresses = Addresses::new(2);
        let (one, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let first = addresses.enter(one).unwrap();
        let second = addresses.enter(one).unwrap();
        assert!(addresses.enter(one).is_none());
        assert!(addresses.enter(other).is_some());
        first.is_known();
        let third = addresses.enter(one).unwrap();
        assert!(addresses.enter(one).is_none());
        drop((first, second, third));
        assert!(addresses.open().is_empty());
    }
}
