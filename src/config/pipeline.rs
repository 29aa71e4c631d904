//! `[pipeline]`: how updates are run. `[pipeline.queue]`: the queue of updates.

use super::values::within;
use crate::domain::evidence::Strictness;
use serde::Deserialize;
use std::path::PathBuf;

/// How updates are run (DESIGN §3).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PipelineConfig {
    /// How often a role's model is asked again about faulty items.
    pub max_reprompts: u32,
    /// Most additions per section in one update; a short input allows 3, each 1,000 bytes one more.
    pub max_additions: usize,
    /// What happens to items that the input does not support. A request may ask for a stricter value, not for a laxer one.
    pub evidence: Strictness,
    /// Updates that run at once within one service; half of them of one vault.
    pub concurrent_updates: usize,
    /// The queue of updates.
    pub queue: QueueConfig,
    /// Not a setting. Bytes of messages, or of records, that a model is shown; of more, the oldest are omitted.
    #[serde(skip)]
    pub messages_bytes: usize,
    /// A folder whose prompt files replace the built-in ones of the same name.
    pub prompts_dir: Option<PathBuf>,
    /// Not a setting; a test may not repeat at all. How often progress is asked again because the memory changed, before the
    /// update is rejected: each repetition costs a call to a model.
    #[serde(skip)]
    pub max_rebases: u32,
}

impl Default for PipelineConfig {
    fn default() -> Self {
        Self {
            max_reprompts: 1,
            max_additions: 8,
            evidence: Strictness::default(),
            max_rebases: 3,
            concurrent_updates: 128,
            queue: QueueConfig::default(),
            messages_bytes: 200_000,
            prompts_dir: None,
        }
    }
}

impl PipelineConfig {
    /// Updates of one vault that run at once within one service: half of all, so that no vault takes the whole service.
    #[must_use]
    pub fn concurrent_updates_per_vault(&self) -> usize {
        self.concurrent_updates.div_ceil(2)
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        within("pipeline.max_additions", self.max_additions, 1..=100)?;
        within("pipeline.max_reprompts", self.max_reprompts, 0..=5)?;
        within(
            "pipeline.concurrent_updates",
            self.concurrent_updates,
            1..=usize::MAX,
        )?;
        let queue = &self.queue;
        within("pipeline.queue.max_per_vault", queue.max_per_vault, 1..=u32::MAX)?;
        within("pipeline.queue.workers", queue.workers, 0..=1_024)?;
        within("pipeline.queue.lease_seconds", queue.lease_seconds, 1..=3_600)
    }
}

/// How updates with `Prefer: respond-async` are queued and run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueConfig {
    /// Queued updates that this instance runs at once, at most half of them of one vault; 0: it accepts them, and others run them.
    pub workers: usize,
    /// Seconds after which an update of an instance that no longer renews its claim is taken over.
    pub lease_seconds: u32,
    /// Updates of one vault that may be queued or running.
    pub max_per_vault: u32,
    /// Not a setting, like those below, which tests shorten: updates of one memory that may be queued or running. They run
    /// one after another, so a longer queue would only be an older one.
    #[serde(skip)]
    pub max_per_memory: u32,
    /// Attempts of an update before it is `failed`.
    #[serde(skip)]
    pub max_attempts: u32,
    /// Seconds before the second attempt; doubled before each further one.
    #[serde(skip)]
    pub backoff_seconds: u32,
    /// Polling interval in seconds for work without a notification.
    #[serde(skip)]
    pub poll_seconds: u32,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            workers: 16,
            lease_seconds: 30,
            max_attempts: 5,
            backoff_seconds: 5,
            poll_seconds: 2,
            max_per_memory: 256,
            max_per_vault: 10_000,
        }
    }
}
