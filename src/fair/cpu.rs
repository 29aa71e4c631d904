//! Long computations: not on the threads that answer everybody, not all at once, and vault by vault.

use super::{Gate, Party, Shares};
use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Bytes of input from which on a computation counts as long: at the usual speed of a pass over a text that is about as
/// long as everybody else may wait.
pub const LONG_WORK: usize = 32 << 10;

/// As many long computations run at once as there are processors, less one for all else.
static PROCESSORS: LazyLock<Gate> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Gate::new(Shares::of(processors.saturating_sub(1)))
});

/// Computes something from so many bytes, on behalf of the party that this task works for.
pub async fn on_cpu<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    on_cpu_for(&Party::current(), bytes, compute).await
}

/// Computes something from so many bytes: at once if they are few, else when it is the party's turn, while other threads
/// go on with what else this one had to do.
pub async fn on_cpu_for<T>(party: &Party, bytes: usize, compute: impl FnOnce() -> T) -> T {
    if bytes < LONG_WORK {
        return compute();
    }
    let _turn = PROCESSORS.acquire(party, 1).await;
    without_hogging(bytes, compute)
}

/// Computes something from so many bytes now, where nothing can be waited for, while other threads go on with what else
/// this one had to do.
pub fn without_hogging<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    if bytes < LONG_WORK {
        compute()
    } else {
        in_place(compute)
    }
}

/// Computes something long on this thread, while the other tasks of this worker go on on another one. Dearer than a
/// call: for what takes milliseconds.
pub fn in_place<T>(compute: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        block_in_place(compute)
    } else {
        // There is one thread for all.
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
        let (told, heard) = mpsc::channel();
        let long = tokio::spawn(async move { in_place(|| heard.recv_timeout(Duration::from_secs(60))) });
        let other = tokio::spawn(async move { told.send("still here") });
        assert_eq!(long.await.unwrap(), Ok("still here"));
        other.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_a_call() {
        assert_eq!(in_place(|| 7), 7);
    }
}
