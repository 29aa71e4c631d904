//! Updates of one memory run one after another, in the order they came, within one service.
//!
//! Each then sees the one before it, so that twenty agents on one memory cost no repeated asking. What
//! other services do meanwhile is met when the version is saved, see [`super::merge`].

use crate::domain::ids::{MemoryId, VaultId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

type Key = (VaultId, MemoryId);

struct Line {
    /// Running and waiting.
    length: usize,
    /// Fair: who waits first is served first.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The lines of all memories that have one.
pub(super) struct Queue {
    limit: usize,
    lines: Mutex<HashMap<Key, Line>>,
}

/// The line is full.
#[derive(Debug)]
pub(super) struct Full;

/// A place in a line. Dropping it leaves the line, whether its turn has come or not.
struct Place<'a> {
    queue: &'a Queue,
    key: Key,
}

/// One's turn; the next in line has to wait until it is dropped.
pub(super) struct Turn<'a> {
    // Dropped in this order: the next may begin, then the line gets shorter.
    _turn: OwnedMutexGuard<()>,
    _place: Place<'a>,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            lines: Mutex::new(HashMap::new()),
        }
    }

    /// Waits for one's turn on a memory.
    pub(super) async fn enter(&self, vault: &VaultId, memory: &MemoryId) -> Result<Turn<'_>, Full> {
        let key = (vault.clone(), memory.clone());
        let (place, turn) = self.join(key, self.limit)?;
        Ok(Turn {
            _turn: turn.lock_owned().await,
            _place: place,
        })
    }

    /// Waits for one's turn however long the line is, for an update that was accepted already.
    pub(super) async fn enter_anyway(&self, vault: &VaultId, memory: &MemoryId) -> Option<Turn<'_>> {
        let (place, turn) = self.join((vault.clone(), memory.clone()), usize::MAX).ok()?;
        Some(Turn {
            _turn: turn.lock_owned().await,
            _place: place,
        })
    }

    fn join(&self, key: Key, limit: usize) -> Result<(Place<'_>, Arc<tokio::sync::Mutex<()>>), Full> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(key.clone()).or_insert_with(|| Line {
            length: 0,
            turn: Arc::new(tokio::sync::Mutex::new(())),
        });
        if line.length >= limit {
            return Err(Full);
        }
        line.length += 1;
        Ok((Place { queue: self, key }, line.turn.clone()))
    }
}

impl Drop for Place<'_> {
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
    async fn turns_are_taken_in_the_order_of_coming() {
        let queue = Arc::new(Queue::new(10));
        let order = Arc::new(Mutex::new(Vec::new()));
        let (vault, memory) = ids();
        let first = queue.enter(&vault, &memory).await.unwrap();
        let mut tasks = Vec::new();
        for number in 0..5 {
            let (queue, order, (vault, memory)) = (queue.clone(), order.clone(), ids());
            tasks.push(tokio::spawn(async move {
                let _turn = queue.enter(&vault, &memory).await.unwrap();
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
        // Whoever gave up waiting has left the line.
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
