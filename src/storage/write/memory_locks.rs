//! Locks of memories in the process: optimistic changes of one memory are decided one after another, so that each is
//! based on the result of the previous one. Changes of other memories do not wait.

use crate::domain::ids::{MemoryId, VaultId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

type Key = (VaultId, MemoryId);

/// The memories that are locked.
#[derive(Debug, Default, Clone)]
pub(in crate::storage) struct MemoryLocks(Arc<Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>>);

/// The lock of a memory; released when dropped.
#[derive(Debug)]
pub(super) struct MemoryLock {
    locks: MemoryLocks,
    memory: Key,
    /// `None` only while it is being dropped.
    held: Option<OwnedMutexGuard<()>>,
}

impl MemoryLocks {
    /// Locks a memory; in order of arrival.
    pub(super) async fn lock(&self, (vault, memory): (&VaultId, &MemoryId)) -> MemoryLock {
        let memory = (vault.clone(), memory.clone());
        // Waiters hold a reference, so that the entry stays in the map.
        let mutex = self.map().entry(memory.clone()).or_default().clone();
        // Created before the wait, so that a cancelled waiter cleans up.
        let mut lock = MemoryLock {
            locks: self.clone(),
            memory,
            held: None,
        };
        lock.held = Some(mutex.lock_owned().await);
        lock
    }

    fn map(&self) -> MutexGuard<'_, HashMap<Key, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut map = self.locks.map();
        if map
            .get(&self.memory)
            .is_some_and(|lock| Arc::strong_count(lock) == 1)
        {
            map.remove(&self.memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn is_ready<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_memory_waits_for_itself_and_no_other_and_nothing_is_left() {
        let locks = MemoryLocks::default();
        let vault: VaultId = "acme".parse().unwrap();
        let memories: Vec<MemoryId> = (0..2_000)
            .map(|number| format!("m{number}").parse().unwrap())
            .collect();
        let take = |memory| locks.lock((&vault, memory));
        let held: Vec<MemoryLock> = memories
            .iter()
            .map(|memory| is_ready(pin!(take(memory))).expect("nobody has it"))
            .collect();

        let mut second = pin!(take(&memories[0]));
        assert!(is_ready(second.as_mut()).is_none());
        {
            let mut cancelled = pin!(take(&memories[1]));
            assert!(is_ready(cancelled.as_mut()).is_none());
        }
        drop(held);
        assert_eq!(locks.map().len(), 1, "the one who waits");
        let second = is_ready(second).expect("it has the lock");
        assert!(is_ready(pin!(take(&memories[0]))).is_none());
        drop(second);
        assert_eq!(locks.map().len(), 0);
    }
}
