//! Puts that come while another is being committed are gathered and sent together, in one transaction.
//!
//! A commit waits for the disk, and every statement for an answer: one for many puts costs little more than one for
//! one. So a put that finds nobody committing goes at once and alone; those that come meanwhile go together afterwards,
//! many memories in one transaction. Nobody waits for company. (Two transactions at once were measured to be slower:
//! each carries half as many.)
//!
//! What a put comes to is decided by the request that brings it, before it waits ([`prepared`]), by the newest version
//! as far as the process knows it. The transaction ([`together`]) saves what was decided if that version is still the
//! newest one. While one is under way, others prepare.
//!
//! - Each is answered only after the commit of its own row, which is as durable as alone.
//! - What one of them does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - A transaction for many never waits for the lock of a row, so it cannot stand in a ring of those who wait for each
//!   other. A memory whose row somebody else holds, or that has moved on, goes alone, and so does one that does not
//!   exist yet: alone means that the head is read while its row is locked, and decided by.
//! - Nothing is refused by what the process knows: a put that would be goes alone.
//! - Of one memory there is one put at a time; the next is decided by what it came to.
//!
//! What a put means is decided by one function for both ways; a law holds that they come to the same.
//!
//! A transaction for many writes to several vaults, which on a distributed database lie on several machines: there all
//! puts go alone.

mod prepared;
mod together;

use super::put::PutJob;
use super::{Put, PutError, Storage, StorageError};
use prepared::Prepared;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard, oneshot};

/// Puts of one transaction at most.
const MOST_PUTS: usize = 64;

/// Bytes of texts of one transaction at most, unless one put alone has more.
const MOST_BYTES: usize = 1 << 20;

/// Places that memories share by their hash: many enough that two that are put into at once seldom do, which costs a
/// needless wait.
const PLACES: usize = 1_024;

/// What a put came to; `None` if nothing was done and it has to go alone.
type Gathered = Option<Result<Put, PutError>>;

/// Where puts wait for company.
#[derive(Debug)]
pub(super) struct Gathering {
    wanted: bool,
    queue: std::sync::Mutex<Queue>,
    /// Held by the puts of a memory, one after another.
    places: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
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
    put: Prepared,
    answer: oneshot::Sender<Gathered>,
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
            queue: std::sync::Mutex::default(),
            places: (0..PLACES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            crosses_vaults: OnceCell::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else puts into the memory.
    async fn alone(&self, job: &PutJob) -> OwnedMutexGuard<()> {
        let hash = self.hasher.hash_one((&job.vault, &job.memory));
        let place = usize::try_from(hash % PLACES as u64).unwrap_or_default();
        self.places[place].clone().lock_owned().await
    }

    /// What goes next. A put whose request was given up is not begun.
    fn next(&self) -> Vec<Waiting> {
        let mut queue = self.queue();
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        let mut bytes = 0;
        let fits = |waiting: &&Waiting| {
            bytes += waiting.put.text.len();
            bytes <= MOST_BYTES
        };
        let count = queue.waiting.iter().take(MOST_PUTS).take_while(fits).count();
        let count = count.max(1).min(queue.waiting.len());
        queue.waiting.drain(..count).collect()
    }
}

impl Storage {
    /// Puts a text, alone or in company.
    pub(super) async fn put_gathered(&self, job: PutJob) -> Result<Put, PutError> {
        match self.try_gathered(&job).await? {
            Some(put) => put,
            None => self.put_alone(&job).await,
        }
    }

    async fn try_gathered(&self, job: &PutJob) -> Result<Gathered, StorageError> {
        if !self.gathering.wanted || !self.crosses_vaults().await? {
            return Ok(None);
        }
        let alone = self.gathering.alone(job).await;
        let Some(put) = self.prepare(job, alone).await? else {
            return Ok(None);
        };
        match self.turn_or_wait(put) {
            Ok((turn, put)) => {
                let came_to = self.put_together(vec![put]).await.pop().flatten();
                drop(turn);
                Ok(came_to)
            }
            Err(answered) => answered.await.map_err(|_| nobody_answers()),
        }
    }

    fn turn_or_wait(&self, put: Prepared) -> Result<(Turn, Prepared), oneshot::Receiver<Gathered>> {
        let mut queue = self.gathering.queue();
        if queue.busy {
            let (answer, answered) = oneshot::channel();
            queue.waiting.push_back(Waiting { put, answer });
            Err(answered)
        } else {
            queue.busy = true;
            Ok((Turn(self.clone()), put))
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
        let (puts, answers): (Vec<_>, Vec<_>) = next
            .into_iter()
            .map(|Waiting { put, answer }| (put, answer))
            .unzip();
        let came_to = storage.put_together(puts).await;
        for (answer, came_to) in answers.into_iter().zip(came_to) {
            // Whoever waited may have gone.
            let _ = answer.send(came_to);
        }
    }
}

fn nobody_answers() -> StorageError {
    StorageError::Unavailable(sqlx::Error::WorkerCrashed)
}
