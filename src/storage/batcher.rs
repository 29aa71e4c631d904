//! Request batching without linger: versions that are submitted while a batch is being committed go with the next one.
//!
//! A commit costs a disk flush: one for many versions costs little more than one for a single version. A version that finds
//! no batch in flight is sent at once and alone.
//!
//! - Each version is answered after its own commit. It is as durable as if it had been sent alone.
//! - An error of one version fails only that one ([`crate::storage::write`]).
//! - A batch contains versions of several vaults. In a distributed database these are on several nodes, so there nothing is
//!   submitted.

use crate::storage::write::Submitted;
use crate::storage::{Storage, StorageError};
use futures::FutureExt as _;
use std::collections::VecDeque;
use std::fmt::Display;
use std::mem::replace;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{Instrument as _, Span};

/// Maximum number of versions in a batch.
const MAX_VERSIONS: usize = 64;

/// Maximum bytes of the texts of a batch, unless a single one is larger.
const MAX_BYTES: usize = 1 << 20;

/// Whether the version was saved; if not, it was skipped.
type Answer = Result<bool, StorageError>;

/// The versions that wait for the next batch.
#[derive(Default)]
pub(in crate::storage) struct Batcher(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// When the batch in flight began; `None` if none is.
    begun: Option<Instant>,
}

/// A version that waits, and the channel for its answer.
struct Waiting {
    version: Submitted,
    answer: oneshot::Sender<Answer>,
}

impl Storage {
    /// Saves a version, alone or in a batch.
    ///
    /// # Errors
    /// Database errors. If its batch was not answered, the outcome is unknown.
    pub(in crate::storage) async fn submit(&self, version: Submitted) -> Answer {
        let (answer, answered) = oneshot::channel();
        if let Some(alone) = self.batcher.push(Waiting { version, answer }) {
            // A task, because a request may be cancelled while its batch is in flight. It is the service's own work, without
            // the permits of a vault.
            tokio::spawn(run_batches(self.clone(), alone, Span::current()));
        }
        let cancelled = |_| Err(unanswered(&"it was cancelled"));
        answered.await.unwrap_or_else(cancelled)
    }
}

/// Runs a first batch, and others until no version waits. Only the first belongs to the request that began it.
async fn run_batches(storage: Storage, first: Waiting, mut span: Span) {
    let mut next = Some(vec![first]);
    while let Some(batch) = next {
        let (versions, answers): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|Waiting { version, answer }| (version, answer))
            .unzip();
        let saving = storage
            .save_submitted(versions)
            .instrument(replace(&mut span, Span::none()));
        // After a panic the channels are closed, and the next batch is run.
        let saved = AssertUnwindSafe(saving).catch_unwind().await;
        for (answer, saved) in answers.into_iter().zip(saved.into_iter().flatten()) {
            // The receiver may have been dropped.
            let _ = answer.send(saved);
        }
        next = storage.batcher.next();
    }
}

/// The error of each version of a batch whose outcome is unknown.
pub(in crate::storage) fn unanswered(cause: &dyn Display) -> StorageError {
    StorageError::Unavailable(sqlx::Error::Protocol(format!("a batch of versions: {cause}")))
}

impl Batcher {
    /// Queues a version, or returns it if no batch is in flight: the caller must run it as one.
    fn push(&self, waiting: Waiting) -> Option<Waiting> {
        let mut queue = self.queue();
        if queue.begun.is_some() {
            queue.waiting.push_back(waiting);
            return None;
        }
        queue.begun = Some(Instant::now());
        Some(waiting)
    }

    /// Takes the versions of the next batch; `None`, if none waits, ends the batches. Those of cancelled requests are dropped.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.queue();
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        if queue.waiting.is_empty() {
            queue.begun = None;
            return None;
        }
        queue.begun = Some(Instant::now());
        let mut bytes = 0;
        let fits = |waiting: &&Waiting| {
            bytes += waiting.version.bytes();
            bytes <= MAX_BYTES
        };
        let count = queue.waiting.iter().take(MAX_VERSIONS).take_while(fits).count();
        Some(queue.waiting.drain(..count.max(1)).collect())
    }

    /// Whether a batch is in flight.
    pub(in crate::storage) fn is_busy(&self) -> bool {
        self.queue().begun.is_some()
    }

    /// For how long the batch has been in flight; `None` if none is.
    pub(in crate::storage) fn busy_for(&self) -> Option<Duration> {
        self.queue().begun.map(|begun| begun.elapsed())
    }

    /// How many versions wait for the next batch.
    pub(in crate::storage) fn waiting(&self) -> usize {
        self.queue().waiting.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
