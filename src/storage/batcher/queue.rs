//! The queue of a batcher and its number of batches in flight.

use super::Job;
use super::connections::Slots;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

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
pub(super) struct Waiting<J: Job> {
    pub(super) job: J,
    round: u64,
    pub(super) answer: oneshot::Sender<J::Answer>,
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
    pub(super) fn next(&self) -> Vec<Waiting<J>> {
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
    pub(super) fn begin_or_wait(&self, job: J) -> Result<J, oneshot::Receiver<J::Answer>> {
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
    pub(super) fn end_if_empty(&self) -> bool {
        let mut queue = self.queue();
        let is_empty = queue.waiting.is_empty();
        if is_empty {
            queue.in_flight -= 1;
        }
        is_empty
    }

    /// Ends the batch without running the queue: all waiting jobs get an error.
    pub(super) fn abandon(&self) {
        let mut queue = self.queue();
        queue.waiting.clear();
        queue.in_flight -= 1;
    }
}
