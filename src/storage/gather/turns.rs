//! Jobs that come while others of their kind are being done are gathered, and done together afterwards.
//!
//! A job that finds a turn free goes at once and alone. Nobody waits for company.

use super::super::Storage;
use super::kept;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Something that is done for many at hardly more than the price of one.
pub(in crate::storage) trait Job: Sized + Send + 'static {
    /// What it comes to.
    type Answer: Send + 'static;

    /// Turns at once.
    const MOST_TURNS: usize;

    /// Jobs of one turn at most.
    const MOST_JOBS: usize;

    /// The turns of its kind.
    fn turns(storage: &Storage) -> &Turns<Self>;

    /// How large it is.
    fn bytes(&self) -> usize;

    /// Does them. There is an answer for each, in their order.
    fn together(storage: &Storage, jobs: Vec<Self>) -> impl Future<Output = Vec<Self::Answer>> + Send;
}

/// Bytes of the jobs of one turn at most, unless one alone has more.
const MOST_BYTES: usize = 1 << 20;

/// Where jobs of a kind wait for a turn.
pub(in crate::storage) struct Turns<J: Job> {
    queue: Mutex<Queue<J>>,
    /// The connections of the last turns.
    pub(super) connection: kept::Place,
}

struct Queue<J: Job> {
    waiting: VecDeque<Waiting<J>>,
    running: usize,
}

/// A job that waits, and who is told what it came to.
struct Waiting<J: Job> {
    job: J,
    answer: oneshot::Sender<J::Answer>,
}

/// The right to do jobs. When it ends, what came meanwhile goes.
struct Turn<J: Job>(Storage, PhantomData<J>);

impl<J: Job> Drop for Turn<J> {
    fn drop(&mut self) {
        let mut queue = J::turns(&self.0).queue();
        if queue.waiting.is_empty() {
            queue.running -= 1;
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // A request may be given up while it has its turn: others do not depend on it.
            runtime.spawn(go_on(Turn::<J>(self.0.clone(), PhantomData)));
        } else {
            // The program ends: who waits is told that nobody answers.
            queue.waiting.clear();
            queue.running -= 1;
        }
    }
}

impl<J: Job> Default for Turns<J> {
    fn default() -> Self {
        Self {
            queue: Mutex::new(Queue {
                waiting: VecDeque::new(),
                running: 0,
            }),
            connection: kept::Place::new(J::MOST_TURNS),
        }
    }
}

impl<J: Job> fmt::Debug for Turns<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.queue();
        f.debug_struct("Turns")
            .field("waiting", &queue.waiting.len())
            .field("running", &queue.running)
            .finish()
    }
}

impl<J: Job> Turns<J> {
    /// Whether jobs are being done at the moment.
    pub(super) fn are_taken(&self) -> bool {
        self.queue().running > 0
    }

    /// How many jobs wait for a turn.
    pub(super) fn waiting(&self) -> usize {
        self.queue().waiting.len()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What goes next. A job whose request was given up is not begun.
    fn next(&self) -> Vec<Waiting<J>> {
        let mut queue = self.queue();
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        let mut bytes = 0;
        let fits = |waiting: &&Waiting<J>| {
            bytes += waiting.job.bytes();
            bytes <= MOST_BYTES
        };
        let count = queue.waiting.iter().take(J::MOST_JOBS).take_while(fits).count();
        let count = count.max(1).min(queue.waiting.len());
        queue.waiting.drain(..count).collect()
    }

    fn begin_or_wait(&self, storage: &Storage, job: J) -> Result<(Turn<J>, J), oneshot::Receiver<J::Answer>> {
        let mut queue = self.queue();
        if queue.running >= J::MOST_TURNS {
            let (answer, answered) = oneshot::channel();
            queue.waiting.push_back(Waiting { job, answer });
            Err(answered)
        } else {
            queue.running += 1;
            Ok((Turn(storage.clone(), PhantomData), job))
        }
    }
}

impl Storage {
    /// Does a job, alone or in company. `None` if whoever was doing it was given up: nobody knows what it came to.
    pub(super) async fn in_turn<J: Job>(&self, job: J) -> Option<J::Answer> {
        match J::turns(self).begin_or_wait(self, job) {
            Ok((turn, job)) => {
                let answer = J::together(self, vec![job]).await.pop();
                drop(turn);
                answer
            }
            Err(answered) => answered.await.ok(),
        }
    }
}

/// Does what waits, until nothing does.
async fn go_on<J: Job>(turn: Turn<J>) {
    let storage = &turn.0;
    loop {
        let next = J::turns(storage).next();
        if next.is_empty() {
            return;
        }
        let (jobs, answers): (Vec<_>, Vec<_>) = next
            .into_iter()
            .map(|Waiting { job, answer }| (job, answer))
            .unzip();
        let came_to = J::together(storage, jobs).await;
        for (answer, came_to) in answers.into_iter().zip(came_to) {
            // Whoever waited may have gone.
            let _ = answer.send(came_to);
        }
    }
}
