//! What the service does by itself, beside answering requests. Each task may run in any number of instances.

mod purge;

use crate::storage::Storage;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The running tasks.
#[derive(Debug)]
pub struct Background {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Background {
    /// Starts all of them.
    #[must_use]
    pub fn start(storage: &Storage) -> Self {
        let background = Self {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        background.spawn(purge::purge(storage.clone()));
        background
    }

    /// Ends them at their next pause and waits for that.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// A task is dropped where it waits; what it had begun in the database is rolled back.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            let _ = stop.run_until_cancelled(task).await;
        });
    }
}
