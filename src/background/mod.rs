//! Background tasks of the service. Each may run in any number of instances.

mod cleanup;
mod consolidation;
mod index;
pub mod updates;

pub use updates::Workers;

use crate::clock::Clock;
use crate::config::Config;
use crate::config::consolidation::ConsolidationConfig;
use crate::config::retention::RetentionConfig;
use crate::pipeline::Pipeline;
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
    /// Starts the tasks that always run; old versions are pruned if `retention` limits them.
    #[must_use]
    pub fn start(storage: &Storage, clock: &Arc<dyn Clock>, retention: &RetentionConfig) -> Self {
        let background = Self {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        background.spawn(index::index(storage.clone(), clock.clone()));
        background.spawn(cleanup::rows(storage.clone()));
        let beating = storage.clone();
        background.spawn(async move { beating.heartbeat().await });
        if retention.prunes_versions() {
            let retention = retention.clone();
            background.spawn(cleanup::versions(storage.clone(), clock.clone(), retention));
        }
        background
    }

    /// Starts the other tasks of a service, as configured: it listens at `listen_url` for notifications of other instances.
    pub fn serve(
        &self,
        storage: &Storage,
        clock: &Arc<dyn Clock>,
        pipeline: &Pipeline,
        config: &Config,
        listen_url: String,
    ) {
        if let Some(max_age) = config.retention.runs_max_age {
            self.spawn(cleanup::runs(storage.clone(), clock.clone(), max_age));
        }
        if pipeline.meaning().is_configured() {
            self.spawn(index::embed(storage.clone(), pipeline.meaning().clone()));
        }
        let keep = TimeDelta::hours(config.events.keep_hours.into());
        self.spawn(cleanup::events(storage.clone(), clock.clone(), keep));
        let expire_after = config.review.expire_after;
        self.spawn(cleanup::proposals(storage.clone(), clock.clone(), expire_after));
        self.consolidate(storage, pipeline, &config.consolidation);
        let (listening, following) = (storage.clone(), storage.clone());
        self.spawn(async move { listening.listen(&listen_url).await });
        self.spawn(async move { following.follow_replica().await });
    }

    /// Starts what consolidates memories by itself, as configured.
    pub fn consolidate(&self, storage: &Storage, pipeline: &Pipeline, settings: &ConsolidationConfig) {
        if settings.is_automatic() || settings.archive_expired {
            let (storage, pipeline) = (storage.clone(), pipeline.clone());
            self.spawn(consolidation::consolidation(storage, pipeline, settings.clone()));
        }
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
