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
    let has_others =
        Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes >= LONG_WORK && has_others {
        block_in_place(compute)
    } else {
        compute()
    }
}
