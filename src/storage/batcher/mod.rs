//! Request batching without linger: jobs submitted while a batch of their kind is in flight go with the next batch.
//!
//! A statement costs a round trip, and a commit a disk flush: one for many jobs costs little more than one for a single
//! job. A job that finds no batch in flight is sent at once and alone.
//!
//! | job | what is sent for it |
//! |---|---|
//! | `Submitted` | versions of memories, a group commit ([`crate::storage::write`]) |
//! | `HeadRead` | reads of newest versions, in one statement that begins after all of them were submitted ([`head_reads`]) |
//!
//! - Each job is answered after its own work was committed. It is as durable as if it had been sent alone.
//! - An error of one job fails only that job. If the statement for all of them fails, each is sent alone.
//! - Each kind of job reserves connections for its batches ([`Slots`]).
//! - If many jobs wait, vaults are served in rotation: a batch takes one job of each vault before a second of any.
//! - A batch contains jobs of several vaults. In a distributed database these are on several nodes, so there each job
//!   is sent alone.

mod head_reads;

use crate::domain::ids::VaultId;
use crate::storage::database::connect::BELIEVED_FOR;
use crate::storage::database::connection::Connection;
use crate::storage::write::Submitted;
use crate::storage::{Class, Storage, StorageError};
use head_reads::HeadRead;
use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A job that costs hardly more for many than for one.
pub(in crate::storage) trait Job: Sized + Send + 'static {
    /// The result.
    type Answer: Send + 'static;

    /// Maximum number of batches in flight.
    const MAX_IN_FLIGHT: usize;

    /// Maximum number of jobs in a batch.
    const MAX_JOBS: usize;

    /// The batcher of this kind of job.
    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>>;

    /// Its size in bytes, if that can be large.
    fn bytes(&self) -> usize {
        0
    }

    /// The vault under which it is scheduled if jobs of many vaults wait.
    fn vault(&self) -> &VaultId;

    /// Runs a batch on one of the connections of its kind. Returns one answer for each job, in the same order.
    fn run(
        storage: &Storage,
        connections: &Slots,
        jobs: Vec<Self>,
    ) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// A batch in flight. When it is dropped, the jobs submitted meanwhile are run.
struct Batch<J: Job> {
    storage: Storage,
    of: Arc<Batcher<J>>,
}

impl<J: Job> Drop for Batch<J> {
    fn drop(&mut self) {
        if self.of.end_if_empty() {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            // The caller's request was cancelled while its batch was in flight: the other jobs still have to run.
            Ok(runtime) => drop(runtime.spawn(go_on(Self {
                storage: self.storage.clone(),
                of: self.of.clone(),
            }))),
            // The program is shutting down.
            Err(_) => self.of.abandon(),
        }
    }
}

impl Storage {
    /// Runs a job, alone or in a batch. `None` if its batch was cancelled: the outcome is unknown.
    pub(in crate::storage) async fn submit<J: Job>(&self, job: J) -> Option<J::Answer> {
        let batcher = J::batcher(&self.batchers).clone();
        match batcher.begin_or_wait(job) {
            Ok(job) => {
                let batch = Batch {
                    storage: self.clone(),
                    of: batcher,
                };
                J::run(self, &batch.of.connections, vec![job]).await.pop()
            }
            Err(answered) => answered.await.ok(),
        }
    }
}

/// Runs batches until no job waits.
async fn go_on<J: Job>(batch: Batch<J>) {
    loop {
        let next = batch.of.next();
        if next.is_empty() {
            return;
        }
        let (jobs, senders): (Vec<_>, Vec<_>) = next
            .into_iter()
            .map(|Waiting { job, answer, .. }| (job, answer))
            .unzip();
        let answers = J::run(&batch.storage, &batch.of.connections, jobs).await;
        for (sender, answer) in senders.into_iter().zip(answers) {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
        }
    }
}

/// The batchers of a service.
#[derive(Default)]
pub(in crate::storage) struct Batchers {
    pub(super) versions: Arc<Batcher<Submitted>>,
    heads: Arc<Batcher<HeadRead>>,
}

impl Batchers {
    fn connections(&self) -> [&Slots; 2] {
        [&self.versions.connections, &self.heads.connections]
    }

    /// The number of idle connections in the slots.
    pub(in crate::storage) fn idle_connections(&self) -> usize {
        self.connections().iter().map(|slots| slots.len()).sum()
    }

    /// Returns the idle connections to the pool, which is being closed.
    pub(in crate::storage) fn clear(&self) {
        for slots in self.connections() {
            slots.clear();
        }
    }
}

/// The error of a job whose batch was cancelled.
pub(in crate::storage) fn cancelled() -> StorageError {
    unanswered(&"its batch was cancelled")
}

/// The error of each job of a batch whose outcome is unknown.
pub(in crate::storage) fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("a batch of requests: {cause}")))
}

/// Maximum bytes of the jobs in a batch, unless a single job is larger.
const MAX_BYTES: usize = 1 << 20;

/// Accepts jobs of a kind and runs them in batches.
pub(in crate::storage) struct Batcher<J: Job> {
    queue: Mutex<Queue<J>>,
    /// The connections reserved for its batches.
    pub(in crate::storage) connections: Slots,
}

struct Queue<J: Job> {
    /// Ordered by round, and by arrival within a round. A vault has one job in each round, so no vault waits behind all
    /// the jobs of another.
    waiting: VecDeque<Waiting<J>>,
    /// The round of the last job that was taken.
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

/// A job that waits for the next batch, and the channel for its answer.
struct Waiting<J: Job> {
    job: J,
    round: u64,
    answer: oneshot::Sender<J::Answer>,
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
            connections: Slots::new(J::MAX_IN_FLIGHT),
        }
    }
}

impl<J: Job> Batcher<J> {
    /// Whether a batch is in flight.
    pub(in crate::storage) fn is_busy(&self) -> bool {
        self.queue().in_flight > 0
    }

    /// For how long the last batch has been in flight; `None` if none is.
    pub(in crate::storage) fn busy_for(&self) -> Option<Duration> {
        let queue = self.queue();
        (queue.in_flight > 0).then(|| queue.begun.elapsed())
    }

    /// How many jobs wait for the next batch.
    pub(in crate::storage) fn waiting(&self) -> usize {
        self.queue().waiting.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the jobs of the next batch. Jobs of cancelled requests are dropped.
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

    /// Starts a batch if the limit allows, and returns the job. Otherwise queues it for the next batch.
    fn begin_or_wait(&self, job: J) -> Result<J, oneshot::Receiver<J::Answer>> {
        let mut queue = self.queue();
        if queue.in_flight >= J::MAX_IN_FLIGHT {
            let (answer, answered) = oneshot::channel();
            queue.push(job, answer);
            Err(answered)
        } else {
            queue.in_flight += 1;
            queue.begun = Instant::now();
            Ok(job)
        }
    }

    /// Ends the batch if nothing waits; returns whether it did.
    fn end_if_empty(&self) -> bool {
        let mut queue = self.queue();
        let is_empty = queue.waiting.is_empty();
        if is_empty {
            queue.in_flight -= 1;
        }
        is_empty
    }

    /// Ends the batch without running the queue: all waiting jobs get an error.
    fn abandon(&self) {
        let mut queue = self.queue();
        queue.waiting.clear();
        queue.in_flight -= 1;
    }
}

/// How long a connection is reserved. Then it is returned, so that the server frees the session's memory.
const STAYS_FOR: Duration = Duration::from_mins(10);

/// The smallest pool with reserved connections: the batchers together have three batches in flight.
const SMALLEST_POOL: u32 = 8;

/// Holds the connections of a batcher between batches.
pub(in crate::storage) struct Slots {
    most: usize,
    /// With the time when each was used last.
    idle: Mutex<Vec<(Connection, Instant)>>,
}

impl Slots {
    /// Creates this many slots.
    fn new(most: usize) -> Self {
        Self {
            most,
            idle: Mutex::default(),
        }
    }

    /// The connection of the last batch, if it still answers, or another one.
    pub(in crate::storage) async fn take(&self, storage: &Storage) -> Result<Connection, StorageError> {
        let last = self.idle().pop();
        if let Some((mut connection, used)) = last
            && connection.taken_for() < STAYS_FOR
            && connection.is_current()
            && (used.elapsed() < BELIEVED_FOR || connection.answers().await)
        {
            return Ok(connection);
        }
        storage.connection(Class::Write).await
    }

    /// Puts a connection back, for the next batch or into the pool. Must be called only after all statements were answered.
    pub(in crate::storage) fn put_back(&self, storage: &Storage, connection: Connection) {
        let mut idle = self.idle();
        // A transaction that only read is rolled back.
        let is_wanted = connection.is_current()
            && !connection.is_in_transaction()
            && storage.prepared_statements
            && idle.len() < self.most
            && storage.most_connections() >= SMALLEST_POOL;
        if is_wanted && !storage.pool.is_closed() {
            idle.push((connection, Instant::now()));
        }
    }

    /// Returns the connections to the pool. Connections of a closed pool are not put back.
    fn clear(&self) {
        self.idle().clear();
    }

    /// The number of idle connections.
    fn len(&self) -> usize {
        self.idle().len()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Connection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
