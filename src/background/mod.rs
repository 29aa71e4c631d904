//! Background tasks of the service. Each may run in any number of instances.

mod cleanup;
mod consolidation;
mod index;
pub mod updates;

pub use updates::Workers;

use crate::clock::Clock;
use crate::config::consolidation::ConsolidationConfig;
use crate::domain::retention::Retention;
use crate::pipeline::Pipeline;
use crate::pipeline::meaning::Meaning;
use crate::storage::Storage;
use chrono::TimeDelta;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The running tasks.
#[derive(Debug)]
pub struct Background {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Background {
    /// Starts the tasks that always run; old versions are pruned if `retention` is set.
    #[must_use]
    pub fn start(storage: &Storage, clock: &Arc<dyn Clock>, retention: Option<Retention>) -> Self {
        let background = Self {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        background.spawn(index::index(storage.clone(), clock.clone()));
        background.spawn(cleanup::rows(storage.clone()));
        let beating = storage.clone();
        background.spawn(async move { beating.heartbeat().await });
        if let Some(policy) = retention {
            background.spawn(cleanup::versions(storage.clone(), clock.clone(), policy));
        }
        background
    }

    /// Starts listening for notifications of other instances.
    pub fn listen(&self, storage: &Storage, url: String) {
        let storage = storage.clone();
        self.spawn(async move { storage.listen(&url).await });
    }

    /// Starts measuring the lag of the standby for reads, if there is one.
    pub fn follow_replica(&self, storage: &Storage) {
        let storage = storage.clone();
        self.spawn(async move { storage.follow_replica().await });
    }

    /// Starts deleting events that are older than `keep`.
    pub fn keep_events(&self, storage: &Storage, clock: &Arc<dyn Clock>, keep: TimeDelta) {
        self.spawn(cleanup::events(storage.clone(), clock.clone(), keep));
    }

    /// Starts deleting runs that ended more than `max_age` ago.
    pub fn retain_runs(&self, storage: &Storage, clock: &Arc<dyn Clock>, max_age: TimeDelta) {
        self.spawn(cleanup::runs(storage.clone(), clock.clone(), max_age));
    }

    /// Starts ending proposals that have waited longer than `expire_after`.
    pub fn expire_proposals(&self, storage: &Storage, clock: &Arc<dyn Clock>, expire_after: TimeDelta) {
        self.spawn(cleanup::proposals(storage.clone(), clock.clone(), expire_after));
    }

    /// Starts what consolidates memories by itself, as configured.
    pub fn consolidate(&self, storage: &Storage, pipeline: &Pipeline, settings: &ConsolidationConfig) {
        if settings.is_automatic() || settings.archive_expired {
            let (storage, pipeline) = (storage.clone(), pipeline.clone());
            self.spawn(consolidation::consolidation(storage, pipeline, settings.clone()));
        }
    }

    /// Starts embedding memories for searches by meaning.
    pub fn embed(&self, storage: &Storage, meaning: &Meaning) {
        self.spawn(index::embed(storage.clone(), meaning.clone()));
    }

    /// Stops all tasks at their next await point and waits for them.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// A task is dropped at an await point; its open transaction is rolled back.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            let _ = stop.run_until_cancelled(task).await;
        });
    }
}
