//! Request batching without linger: what is submitted while a batch of its kind is in flight goes with the next one.
//!
//! A statement waits for an answer, and a commit for the disk: one for many costs little more than one for one. A job that
//! finds no batch in flight goes at once and alone.
//!
//! | batcher | what it sends |
//! |---|---|
//! | [`changes`](Batchers::changes) | versions of memories, a group commit ([`crate::storage::write`]) |
//! | [`reads`](Batchers::reads) | newest versions, in one statement that begins after each was asked for ([`head_reads`]) |
//! | [`usage`](Batchers::usage), [`events`](Batchers::events) | what models cost, and steps of updates ([`small_writes`]): transactions that notify commit one after another |
//!
//! - Each job is answered after its own work was committed, which is as durable as alone.
//! - What one job does wrong is its own failure. Where a statement for all of them fails, each goes alone.
//! - Each kind keeps the connections of its batches ([`connection`]).
//! - Where many wait, vaults take turns: the next batch has one job of each before the second of any.
//! - A batch is of several vaults, which on a distributed database lie on several machines: there each job goes alone.

mod connection;
mod head_reads;
mod small_writes;

use crate::domain::ids::VaultId;
use crate::storage::events::Appended;
use crate::storage::usage::Counts;
use crate::storage::write::Submitted;
use crate::storage::{Distribution, Storage, StorageError};
use head_reads::Wanted;
pub(super) use small_writes::SmallWrite;
use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, oneshot};

/// Something that is done for many at hardly more than the price of one.
pub(super) trait Job: Sized + Send + 'static {
    /// What it comes to.
    type Answer: Send + 'static;

    /// Batches in flight at most.
    const MAX_IN_FLIGHT: usize;

    /// Jobs of a batch at most.
    const MAX_JOBS: usize;

    /// The batcher of its kind.
    fn batcher(batchers: &Batchers) -> &Batcher<Self>;

    /// How large it is.
    fn bytes(&self) -> usize;

    /// Whose turn it takes, where jobs of many vaults wait.
    fn vault(&self) -> Option<&VaultId> {
        None
    }

    /// Does a batch. There is an answer for each job, in their order.
    fn run(storage: &Storage, jobs: Vec<Self>) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// Bytes of the jobs of one batch at most, unless one job alone has more.
const MAX_BYTES: usize = 1 << 20;

/// Takes jobs of a kind and runs them in batches.
pub(super) struct Batcher<J: Job> {
    queue: Mutex<Queue<J>>,
    /// The connections of the last batches.
    pub(super) connections: connection::Slots,
}

struct Queue<J: Job> {
    /// By round, and within a round by arrival: in each round a vault has one job, so that no vault waits behind all the
    /// jobs of another.
    waiting: VecDeque<Waiting<J>>,
    /// The round of the last job that went.
    round: u64,
    in_flight: usize,
    /// When the last batch began.
    begun: Instant,
}

impl<J: Job> Queue<J> {
    fn push(&mut self, job: J, answer: oneshot::Sender<J::Answer>) {
        let is_own = |waiting: &&Waiting<J>| waiting.job.vault() == job.vault();
        let before = self.waiting.iter().rfind(is_own);
        let round = before
            .map_or(self.round, |before| before.round + 1)
            .max(self.round);
        let place = self.waiting.partition_point(|waiting| waiting.round <= round);
        self.waiting.insert(place, Waiting { job, round, answer });
    }
}

/// A job that waits for the next batch, and where its answer goes.
struct Waiting<J: Job> {
    job: J,
    round: u64,
    answer: oneshot::Sender<J::Answer>,
}

/// A batch in flight. When it ends, what was submitted meanwhile goes.
struct Batch<J: Job>(Storage, PhantomData<J>);

impl<J: Job> Drop for Batch<J> {
    fn drop(&mut self) {
        let mut queue = J::batcher(&self.0.batchers).queue();
        if queue.waiting.is_empty() {
            queue.in_flight -= 1;
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // A request may be cancelled while its batch is in flight: others do not depend on it.
            runtime.spawn(go_on(Batch::<J>(self.0.clone(), PhantomData)));
        } else {
            // The program ends: those who wait get an error.
            queue.waiting.clear();
            queue.in_flight -= 1;
        }
    }
}

impl<J: Job> Default for Batcher<J> {
    fn default() -> Self {
        Self {
            queue: Mutex::new(Queue {
                waiting: VecDeque::new(),
                round: 0,
                in_flight: 0,
                begun: Instant::now(),
            }),
            connections: connection::Slots::new(J::MAX_IN_FLIGHT),
        }
    }
}

impl<J: Job> fmt::Debug for Batcher<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.queue();
        f.debug_struct("Batcher")
            .field("waiting", &queue.waiting.len())
            .field("in_flight", &queue.in_flight)
            .finish()
    }
}

impl<J: Job> Batcher<J> {
    /// Whether a batch is in flight.
    pub(super) fn is_busy(&self) -> bool {
        self.queue().in_flight > 0
    }

    /// For how long the last batch has been in flight; `None` if none is.
    pub(super) fn busy_for(&self) -> Option<Duration> {
        let queue = self.queue();
        (queue.in_flight > 0).then(|| queue.begun.elapsed())
    }

    /// How many jobs wait for the next batch.
    pub(super) fn waiting(&self) -> usize {
        self.queue().waiting.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch. A job whose request was cancelled is not begun.
    fn next(&self) -> Vec<Waiting<J>> {
        let mut queue = self.queue();
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        let mut bytes = 0;
        let fits = |waiting: &&Waiting<J>| {
            bytes += waiting.job.bytes();
            bytes <= MAX_BYTES
        };
        let count = queue.waiting.iter().take(J::MAX_JOBS).take_while(fits).count();
        let count = count.max(1).min(queue.waiting.len());
        let going: Vec<_> = queue.waiting.drain(..count).collect();
        queue.round = going.last().map_or(queue.round, |last| last.round);
        queue.begun = Instant::now();
        going
    }

    fn begin_or_wait(
        &self,
        storage: &Storage,
        job: J,
    ) -> Result<(Batch<J>, J), oneshot::Receiver<J::Answer>> {
        let mut queue = self.queue();
        if queue.in_flight >= J::MAX_IN_FLIGHT {
            let (answer, answered) = oneshot::channel();
            queue.push(job, answer);
            Err(answered)
        } else {
            queue.in_flight += 1;
            queue.begun = Instant::now();
            Ok((Batch(storage.clone(), PhantomData), job))
        }
    }
}

impl Storage {
    /// Runs a job, alone or in a batch. `None` if its batch was cancelled: its outcome is unknown.
    pub(super) async fn submit<J: Job>(&self, job: J) -> Option<J::Answer> {
        match J::batcher(&self.batchers).begin_or_wait(self, job) {
            Ok((batch, job)) => {
                let answer = J::run(self, vec![job]).await.pop();
                drop(batch);
                answer
            }
            Err(answered) => answered.await.ok(),
        }
    }

    /// Whether one transaction may write to several vaults: not where the database distributes them.
    pub(super) async fn crosses_vaults(&self) -> Result<bool, StorageError> {
        let crosses = self.batchers.crosses_vaults.get_or_try_init(|| async {
            Ok::<_, StorageError>(self.distribution().await? == Distribution::Local)
        });
        crosses.await.copied()
    }
}

/// Runs what waits, until nothing does.
async fn go_on<J: Job>(batch: Batch<J>) {
    let storage = &batch.0;
    loop {
        let next = J::batcher(&storage.batchers).next();
        if next.is_empty() {
            return;
        }
        let (jobs, senders): (Vec<_>, Vec<_>) = next
            .into_iter()
            .map(|Waiting { job, answer, .. }| (job, answer))
            .unzip();
        let answers = J::run(storage, jobs).await;
        for (sender, answer) in senders.into_iter().zip(answers) {
            // Whoever waited may have gone.
            let _ = sender.send(answer);
        }
    }
}

/// The batchers of a service.
#[derive(Debug, Default)]
pub(super) struct Batchers {
    pub(super) changes: Batcher<Submitted>,
    reads: Batcher<Wanted>,
    pub(super) usage: Batcher<Counts>,
    pub(super) events: Batcher<Appended>,
    /// Whether one transaction may write to several vaults.
    crosses_vaults: OnceCell<bool>,
}

impl Batchers {
    /// How many connections wait for the next batches.
    pub(super) fn idle_connections(&self) -> usize {
        self.connections().into_iter().map(connection::Slots::len).sum()
    }

    /// Gives the connections that are held back to a pool that is closed.
    pub(super) fn clear(&self) {
        for slots in self.connections() {
            slots.clear();
        }
    }

    fn connections(&self) -> [&connection::Slots; 4] {
        [
            &self.changes.connections,
            &self.reads.connections,
            &self.usage.connections,
            &self.events.connections,
        ]
    }
}

/// The error of a job whose batch was cancelled.
pub(super) fn cancelled() -> StorageError {
    unanswered(&"its batch was cancelled")
}

/// The error of each job of a batch whose outcome is unknown.
pub(super) fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("a batch of requests: {cause}")))
}
