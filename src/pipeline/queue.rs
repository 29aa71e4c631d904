//! Serializes the updates of one memory within one instance, in the order of arrival.
//!
//! Each update then sees the result of the one before it, so that twenty agents on one memory cause no repeated model
//! calls. Changes by other instances are merged when the version is saved, see [`super::merge`].

use crate::domain::ids::{MemoryId, VaultId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

type Key = (VaultId, MemoryId);

struct Line {
    /// How many updates are running or waiting.
    length: usize,
    /// Fair: waiters are served in order of arrival.
    lock: Arc<tokio::sync::Mutex<()>>,
}

/// The queues of all memories with running or waiting updates.
pub(super) struct Queue {
    limit: usize,
    lines: Mutex<HashMap<Key, Line>>,
}

/// The queue is full.
#[derive(Debug)]
pub(super) struct Full;

/// A position in a queue. It is given up on drop, whether or not the update was started.
struct QueuePosition<'a> {
    queue: &'a Queue,
    key: Key,
}

/// The exclusive right to update the memory. The next waiter continues when it is dropped.
pub(super) struct MemoryLock<'a> {
    // Fields are dropped in this order: the lock is released before the length decreases.
    _lock: OwnedMutexGuard<()>,
    _position: QueuePosition<'a>,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            lines: Mutex::new(HashMap::new()),
        }
    }

    /// Waits for the lock of a memory. Fails at once if the queue is full.
    pub(super) async fn enter(&self, vault: &VaultId, memory: &MemoryId) -> Result<MemoryLock<'_>, Full> {
        let key = (vault.clone(), memory.clone());
        let (position, lock) = self.join(key, self.limit)?;
        Ok(MemoryLock {
            _lock: lock.lock_owned().await,
            _position: position,
        })
    }

    /// Waits for the lock of a memory regardless of the queue's length, for an update that was already accepted.
    pub(super) async fn enter_anyway(&self, vault: &VaultId, memory: &MemoryId) -> Option<MemoryLock<'_>> {
        let (position, lock) = self.join((vault.clone(), memory.clone()), usize::MAX).ok()?;
        Some(MemoryLock {
            _lock: lock.lock_owned().await,
            _position: position,
        })
    }

    fn join(&self, key: Key, limit: usize) -> Result<(QueuePosition<'_>, Arc<tokio::sync::Mutex<()>>), Full> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(key.clone()).or_insert_with(|| Line {
            length: 0,
            lock: Arc::new(tokio::sync::Mutex::new(())),
        });
        if line.length >= limit {
            return Err(Full);
        }
        line.length += 1;
        Ok((QueuePosition { queue: self, key }, line.lock.clone()))
    }
}

impl Drop for QueuePosition<'_> {
    fn drop(&mut self) {
        let mut lines = self.queue.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.get_mut(&self.key) {
            line.length -= 1;
            if line.length == 0 {
                lines.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn ids() -> (VaultId, MemoryId) {
        ("v".parse().unwrap(), "m".parse().unwrap())
    }

    #[tokio::test]
    async fn jobs_run_in_the_order_of_arrival() {
        let queue = Arc::new(Queue::new(10));
        let order = Arc::new(Mutex::new(Vec::new()));
        let (vault, memory) = ids();
        let first = queue.enter(&vault, &memory).await.unwrap();
        let mut tasks = Vec::new();
        for number in 0..5 {
            let (queue, order, (vault, memory)) = (queue.clone(), order.clone(), ids());
            tasks.push(tokio::spawn(async move {
                let _lock = queue.enter(&vault, &memory).await.unwrap();
                order.lock().unwrap().push(number);
            }));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        assert!(queue.lines.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_full_line_refuses_and_other_memories_do_not_wait() {
        let queue = Queue::new(2);
        let (vault, memory) = ids();
        let first = queue.enter(&vault, &memory).await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_millis(5), queue.enter(&vault, &memory)).await;
        assert!(waiting.is_err(), "the second has to wait");
        // A waiter that was canceled has left the queue.
        let second = queue.join(ids(), 2).unwrap();
        assert!(
            queue.enter(&vault, &memory).await.is_err(),
            "the third finds the line full"
        );
        assert!(queue.enter(&vault, &"other".parse().unwrap()).await.is_ok());
        drop((first, second));
        assert!(queue.lines.lock().unwrap().is_empty());
    }
}
