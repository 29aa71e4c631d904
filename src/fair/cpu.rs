//! Long computations: outside the threads that answer requests, limited in number, and scheduled by vault.

use super::{FairSemaphore, Party, Permit, ShareLimits};
use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The input size in bytes from which a computation counts as long: at the usual speed of a pass over a text this takes about
/// as long as other requests may be delayed.
const LONG_WORK: usize = 32 << 10;

/// The number of concurrent long computations: the processors, less one for other work.
static PROCESSORS: LazyLock<FairSemaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZero::get);
    FairSemaphore::new(ShareLimits::of(processors.saturating_sub(1)))
});

/// The number of concurrent turns: what keeps the processors busy and leaves none idle while a turn waits for a disk.
static TURNS: LazyLock<FairSemaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZero::get);
    FairSemaphore::new(ShareLimits::of(2 * processors))
});

/// A turn for work of this party that keeps processors busy for milliseconds, here and in the database, as a
/// list or an update by rules does. A vault has half of the turns, so that its hundreds of lists take no longer in all, and
/// requests of others find a processor.
pub async fn turn(party: &Party) -> Permit {
    TURNS.acquire(party, 1).await
}

/// Runs a computation on an input of this size: a short one at once, a long one when the current task's party gets a
/// permit, while other threads take over this thread's tasks.
pub async fn on_cpu<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    if bytes < LONG_WORK {
        return compute();
    }
    let _turn = PROCESSORS.acquire(&Party::current(), 1).await;
    run_blocking_if_long(bytes, compute)
}

/// Runs a computation on an input of this size now, without waiting for a permit, while other threads take over this
/// thread's tasks if it is long.
pub fn run_blocking_if_long<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    if bytes < LONG_WORK {
        compute()
    } else {
        run_blocking(compute)
    }
}

/// Runs a long computation on this thread, while another thread takes over this worker's other tasks. More expensive than a
/// plain call: for computations of milliseconds.
pub fn run_blocking<T>(compute: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        block_in_place(compute)
    } else {
        // A current-thread runtime has no other worker.
        compute()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_of_the_only_worker_go_on_meanwhile() {
        let (sender, receiver) = mpsc::channel();
        let long =
            tokio::spawn(async move { run_blocking(|| receiver.recv_timeout(Duration::from_secs(60))) });
        let other = tokio::spawn(async move { sender.send("still here") });
        assert_eq!(long.await.unwrap(), Ok("still here"));
        other.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_a_call() {
        assert_eq!(run_blocking(|| 7), 7);
    }
}
