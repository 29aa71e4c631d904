//! Request batching without linger: jobs submitted while a batch of their kind is in flight go with the next batch.
//!
//! A statement costs a round trip, and a commit a disk flush: one for many jobs costs little more than one for a single
//! job. A job that finds no batch in flight is sent at once and alone.
//!
//! | job | what is sent for it |
//! |---|---|
//! | `Submitted` | versions of memories, a group commit ([`crate::storage::write`]) |
//! | `HeadRead` | reads of newest versions, in one statement that begins after all of them were submitted |
//! | `Usage` | what calls of models cost, added to the counts of their vaults |
//!
//! - Each job is answered after its own work was committed. It is as durable as if it had been sent alone.
//! - An error of one job fails only that job. If the statement for all of them fails, each is sent alone.
//! - A batch runs on behalf of the service: others wait for it too, so it must not wait for the concurrency permits of the
//!   vault and the key that it began with.
//! - A batch contains jobs of several vaults. In a distributed database these are on several nodes, so there each job
//!   is sent alone.

use crate::domain::ids::{MemoryId, VaultId};
use crate::fair::Party;
use crate::storage::contexts::{latest, latest_of};
use crate::storage::database::connection::Connection;
use crate::storage::head_cache::CachedHead;
use crate::storage::usage::Usage;
use crate::storage::write::Submitted;
use crate::storage::{Class, Storage, StorageError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::Arc;
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

    /// Runs a batch. Returns one answer for each job, in the same order.
    fn run(
        storage: &Storage,
        kept: &mut BatchConnection,
        jobs: Vec<Self>,
    ) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// How long batches keep a connection. Then the server frees the session's memory.
const KEPT_FOR: Duration = Duration::from_mins(10);

/// The connection of the last batch, for the next one: the pool asks the server before it takes one back.
#[derive(Default)]
pub(in crate::storage) struct BatchConnection(Option<(Connection, Instant)>);

impl BatchConnection {
    /// A connection, and since when it is used.
    pub(in crate::storage) async fn take(
        &mut self,
        storage: &Storage,
        class: Class,
    ) -> Result<(Connection, Instant), StorageError> {
        if let Some((connection, since)) = self.0.take()
            && since.elapsed() < KEPT_FOR
            && !storage.liveness.is_outdated(since.elapsed())
        {
            return Ok((connection, since));
        }
        let since = Instant::now();
        Ok((storage.primary_reader(class).await?, since))
    }

    /// Keeps a connection on which all was answered. Behind a pooler each is in a transaction, which ends with the batch.
    pub(in crate::storage) fn keep(&mut self, storage: &Storage, connection: Connection, since: Instant) {
        if storage.prepared_statements {
            self.0 = Some((connection, since));
        }
    }
}

/// The batchers of a service.
#[derive(Default)]
pub(in crate::storage) struct Batchers {
    pub(super) versions: Arc<Batcher<Submitted>>,
    heads: Arc<Batcher<HeadRead>>,
    pub(super) usage: Arc<Batcher<Usage>>,
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
            // In a task, because the caller's request may have been cancelled: the other jobs still have to run.
            Ok(runtime) => drop(runtime.spawn(go_on(Self {
                storage: self.storage.clone(),
                of: self.of.clone(),
            }))),
            // The program is shutting down: all that wait get an error.
            Err(_) => self.of.0.lock().waiting.clear(),
        }
    }
}

impl Storage {
    /// Runs a job, alone or in a batch. `None` if its batch was cancelled: the outcome is unknown.
    pub(in crate::storage) async fn submit<J: Job>(&self, job: J) -> Option<J::Answer> {
        if !self.crosses_vaults() {
            return J::run(self, &mut BatchConnection::default(), vec![job])
                .await
                .pop();
        }
        let of = J::batcher(&self.batchers).clone();
        match of.begin_or_wait(job) {
            Ok(job) => {
                let storage = self.clone();
                let _batch = Batch { storage, of };
                let mut connection = BatchConnection::default();
                let run = J::run(self, &mut connection, vec![job]);
                Party::default().scope(run).await.pop()
            }
            Err(answered) => answered.await.ok(),
        }
    }
}

/// Runs batches until no job waits.
async fn go_on<J: Job>(batch: Batch<J>) {
    let mut connection = BatchConnection::default();
    loop {
        let next = batch.of.next();
        if next.is_empty() {
            return;
        }
        let (jobs, senders): (Vec<_>, Vec<_>) = next.into_iter().unzip();
        let answers = J::run(&batch.storage, &mut connection, jobs).await;
        for (sender, answer) in senders.into_iter().zip(answers) {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
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
pub(in crate::storage) struct Batcher<J: Job>(Mutex<Queue<J>>);

/// A job that waits for the next batch, and the channel for its answer.
type Waiting<J> = (J, oneshot::Sender<<J as Job>::Answer>);

struct Queue<J: Job> {
    waiting: VecDeque<Waiting<J>>,
    in_flight: usize,
    /// When the last batch began.
    begun: Instant,
}

impl<J: Job> Default for Batcher<J> {
    fn default() -> Self {
        Self(Mutex::new(Queue {
            waiting: VecDeque::new(),
            in_flight: 0,
            begun: Instant::now(),
        }))
    }
}

impl<J: Job> Batcher<J> {
    /// Whether a batch is in flight.
    pub(in crate::storage) fn is_busy(&self) -> bool {
        self.0.lock().in_flight > 0
    }

    /// For how long the last batch has been in flight; `None` if none is.
    pub(in crate::storage) fn busy_for(&self) -> Option<Duration> {
        let queue = self.0.lock();
        (queue.in_flight > 0).then(|| queue.begun.elapsed())
    }

    /// How many jobs wait for the next batch.
    pub(in crate::storage) fn waiting(&self) -> usize {
        self.0.lock().waiting.len()
    }

    /// Takes the jobs of the next batch. Jobs of cancelled requests are dropped.
    fn next(&self) -> Vec<Waiting<J>> {
        let mut queue = self.0.lock();
        queue.waiting.retain(|(_, answer)| !answer.is_closed());
        let mut bytes = 0;
        let fits = |(job, _): &&Waiting<J>| {
            bytes += job.bytes();
            bytes <= MAX_BYTES
        };
        let count = queue.waiting.iter().take(J::MAX_JOBS).take_while(fits).count();
        let count = count.max(1).min(queue.waiting.len());
        queue.begun = Instant::now();
        queue.waiting.drain(..count).collect()
    }

    /// Starts a batch if the limit allows, and returns the job. Otherwise queues it for the next batch.
    fn begin_or_wait(&self, job: J) -> Result<J, oneshot::Receiver<J::Answer>> {
        let mut queue = self.0.lock();
        if queue.in_flight >= J::MAX_IN_FLIGHT {
            let (answer, answered) = oneshot::channel();
            queue.waiting.push_back((job, answer));
            return Err(answered);
        }
        queue.in_flight += 1;
        queue.begun = Instant::now();
        Ok(job)
    }

    /// Ends the batch if nothing waits; returns whether it did.
    fn end_if_empty(&self) -> bool {
        let mut queue = self.0.lock();
        let is_empty = queue.waiting.is_empty();
        if is_empty {
            queue.in_flight -= 1;
        }
        is_empty
    }
}

/// A request for the newest version of a memory, as of now or later.
#[derive(Debug)]
struct HeadRead {
    vault: VaultId,
    memory: MemoryId,
}

impl HeadRead {
    fn key(&self) -> (&VaultId, &MemoryId) {
        (&self.vault, &self.memory)
    }
}

impl Job for HeadRead {
    /// The newest version of the memory; `None` if it must be read on its own.
    type Answer = Option<Result<Option<CachedHead>, StorageError>>;

    const MAX_IN_FLIGHT: usize = 2;

    /// A low limit, because each text may have the maximum size of a document.
    const MAX_JOBS: usize = 16;

    fn batcher(batchers: &Batchers) -> &Arc<Batcher<Self>> {
        &batchers.heads
    }

    async fn run(storage: &Storage, kept: &mut BatchConnection, jobs: Vec<Self>) -> Vec<Self::Answer> {
        if let [HeadRead { vault, memory }] = &*jobs {
            return vec![Some(storage.head_alone(kept, vault, memory).await)];
        }
        let read = async {
            let (mut connection, since) = kept.take(storage, Class::Read).await?;
            let read = latest_of(&mut connection, &jobs.iter().map(HeadRead::key).collect()).await?;
            kept.keep(storage, connection, since);
            Ok(read)
        };
        let answer = |job: &HeadRead, read: &[CachedHead]| {
            let is_it = |head: &&CachedHead| {
                let metadata = &head.context.metadata;
                (&metadata.vault_id, &metadata.memory_id) == job.key()
            };
            Some(Ok(read.iter().find(is_it).cloned()))
        };
        match read.await {
            Ok(read) => jobs.iter().map(|job| answer(job, &read)).collect(),
            Err(error @ StorageError::Unavailable(_)) => {
                jobs.iter().map(|_| Some(Err(unanswered(&error)))).collect()
            }
            Err(error) => {
                tracing::debug!(%error, reads = jobs.len(), "newest versions are read alone");
                jobs.iter().map(|_| None).collect()
            }
        }
    }
}

impl Storage {
    /// The newest version of a memory, read from the database alone or in a batch, but not before the call. It replaces an
    /// older one in the head cache.
    pub(in crate::storage) async fn latest_head(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<CachedHead>, StorageError> {
        let token = self.head_cache.fill_token(vault, memory);
        let wanted = HeadRead {
            vault: vault.clone(),
            memory: memory.clone(),
        };
        let head = match self.submit(wanted).await.flatten() {
            Some(read) => read?,
            None => {
                self.head_alone(&mut BatchConnection::default(), vault, memory)
                    .await?
            }
        };
        if let Some(head) = &head {
            self.head_cache.fill(token, head.clone());
        }
        Ok(head)
    }

    /// The head cache is filled with the result, so it is read from the primary.
    async fn head_alone(
        &self,
        kept: &mut BatchConnection,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<Option<CachedHead>, StorageError> {
        let (mut reader, since) = kept.take(self, Class::Read).await?;
        let newest = latest(&mut reader, vault, memory).await?;
        kept.keep(self, reader, since);
        Ok(newest.map(CachedHead::new))
    }
}
