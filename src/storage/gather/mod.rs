//! Puts that come while another is being committed are gathered and sent together, in one transaction.
//!
//! A commit waits for the disk, and every statement for an answer: one for many puts costs little more than one for
//! one. So a put that finds nobody committing goes at once and alone; those that come meanwhile go together afterwards,
//! many memories in one transaction ([`together`]). Nobody waits for company. (Two transactions at once were measured to
//! be slower: each carries half as many.)
//!
//! - Each is answered only after the commit of its own row, which is as durable as alone.
//! - What one of them does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - A transaction for many never waits for a lock, so it cannot stand in a ring of those who wait for each other: a
//!   memory whose row somebody else holds goes alone, and so does one that does not exist yet.
//! - Of one memory there is one put in a transaction; the next comes with the next.
//!
//! What a put means is decided by one function for both ways; a law holds that they come to the same.
//!
//! A transaction for many writes to several vaults, which on a distributed database lie on several machines: there all
//! puts go alone.

mod together;

use super::put::PutJob;
use super::{Put, PutError, Storage, StorageError};
use crate::domain::ids::{MemoryId, VaultId};
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{OnceCell, oneshot};

/// Puts of one transaction at most.
const MOST_PUTS: usize = 64;

/// Bytes of texts of one transaction at most, unless one put alone has more.
const MOST_BYTES: usize = 1 << 20;

/// Where puts wait for company.
#[derive(Debug)]
pub(super) struct Gathering {
    wanted: bool,
    queue: Mutex<Queue>,
    /// Whether one transaction may write to several vaults.
    crosses_vaults: OnceCell<bool>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Somebody is committing.
    busy: bool,
}

/// A put that waits, and who is told what it came to.
#[derive(Debug)]
struct Waiting {
    job: PutJob,
    answer: oneshot::Sender<Result<Put, PutError>>,
}

/// The right to commit. When it ends, what came meanwhile goes.
struct Turn(Storage);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = self.0.gathering.queue();
        if queue.waiting.is_empty() {
            queue.busy = false;
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // A request may be given up while it has its turn: others do not depend on it.
            runtime.spawn(go_on(Turn(self.0.clone())));
        } else {
            // The program ends: who waits is told that nobody answers.
            queue.waiting.clear();
            queue.busy = false;
        }
    }
}

impl Gathering {
    /// Where nothing waits yet. Unless it is `wanted`, nothing ever does.
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            queue: Mutex::default(),
            crosses_vaults: OnceCell::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What goes next: of every memory the first that came. A request that was given up is not begun.
    fn next(&self) -> Vec<Waiting> {
        let mut queue = self.queue();
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        let (mut next, mut later) = (Vec::new(), VecDeque::new());
        let mut memories: HashSet<(VaultId, MemoryId)> = HashSet::new();
        let mut bytes = 0;
        while let Some(waiting) = queue.waiting.pop_front() {
            let job = &waiting.job;
            let fits = next.is_empty() || (next.len() < MOST_PUTS && bytes + job.text.len() <= MOST_BYTES);
            if !fits {
                later.push_back(waiting);
                break;
            }
            if memories.insert((job.vault.clone(), job.memory.clone())) {
                bytes += job.text.len();
                next.push(waiting);
            } else {
                later.push_back(waiting);
            }
        }
        // They came before those that are still in the queue.
        while let Some(waiting) = later.pop_back() {
            queue.waiting.push_front(waiting);
        }
        next
    }
}

impl Storage {
    /// Puts a text, alone or in company.
    pub(super) async fn put_gathered(&self, job: PutJob) -> Result<Put, PutError> {
        if !self.gathering.wanted || !self.crosses_vaults().await? {
            return self.put_alone(&job).await;
        }
        match self.turn_or_wait(job) {
            Ok((turn, job)) => {
                let put = self.put_together(&[&job]).await.pop().flatten();
                drop(turn);
                match put {
                    Some(put) => put,
                    None => self.put_alone(&job).await,
                }
            }
            Err(answered) => answered.await.unwrap_or_else(|_| Err(nobody_answers().into())),
        }
    }

    fn turn_or_wait(&self, job: PutJob) -> Result<(Turn, PutJob), oneshot::Receiver<Result<Put, PutError>>> {
        let mut queue = self.gathering.queue();
        if queue.busy {
            let (answer, answered) = oneshot::channel();
            queue.waiting.push_back(Waiting { job, answer });
            Err(answered)
        } else {
            queue.busy = true;
            Ok((Turn(self.clone()), job))
        }
    }

    /// Whether puts are being committed at the moment.
    #[must_use]
    pub fn is_putting(&self) -> bool {
        self.gathering.queue().busy
    }

    /// Whether one transaction may write to several vaults: not where the database distributes them.
    async fn crosses_vaults(&self) -> Result<bool, StorageError> {
        let crosses = self.gathering.crosses_vaults.get_or_try_init(|| async {
            let found =
                sqlx::query_scalar!(r#"SELECT 1 AS "found!" FROM pg_extension WHERE extname = 'citus'"#)
                    .fetch_optional(&mut *self.reader().await?)
                    .await?;
            Ok::<_, StorageError>(found.is_none())
        });
        crosses.await.copied()
    }
}

/// Commits what waits, until nothing does.
async fn go_on(turn: Turn) {
    let storage = &turn.0;
    loop {
        let next = storage.gathering.next();
        if next.is_empty() {
            return;
        }
        let jobs: Vec<&PutJob> = next.iter().map(|waiting| &waiting.job).collect();
        let puts = storage.put_together(&jobs).await;
        for (waiting, put) in next.into_iter().zip(puts) {
            match put {
                Some(put) => waiting.tell(put),
                // It may wait for a lock, and the queue is not to wait with it.
                None => drop(tokio::spawn(waiting.go_alone(storage.clone()))),
            }
        }
    }
}

impl Waiting {
    async fn go_alone(self, storage: Storage) {
        let put = storage.put_alone(&self.job).await;
        self.tell(put);
    }

    /// Whoever waited may have gone.
    fn tell(self, put: Result<Put, PutError>) {
        let _ = self.answer.send(put);
    }
}

fn nobody_answers() -> StorageError {
    StorageError::Unavailable(sqlx::Error::WorkerCrashed)
}
