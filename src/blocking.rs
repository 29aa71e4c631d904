//! Work that computes for long without waiting, in the middle of a task.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Does `work` on this thread, while the other tasks of this worker go on on another one. Dearer than a call: for what
/// takes milliseconds.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        block_in_place(work)
    } else {
        // There is one thread for all.
        work()
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
