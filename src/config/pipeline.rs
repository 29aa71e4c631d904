//! `[pipeline]`: how updates are run.

use super::queue::QueueConfig;
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
    /// Records that a model's answer may archive per section; if it names more, all are rejected.
    pub max_archives: usize,
    /// What happens to items that the input does not support. A request may ask for a stricter value, not for a laxer one.
    pub evidence: Strictness,
    /// How often progress is asked again because the memory changed, before the update is rejected.
    pub max_rebases: u32,
    /// Updates of one memory that may run or wait within one service.
    pub queue_per_memory: usize,
    /// Updates that run at once within one service.
    pub concurrent_updates: usize,
    /// Updates of one vault that run at once within one service.
    pub concurrent_updates_per_vault: usize,
    /// The queue of updates.
    pub queue: QueueConfig,
    /// Bytes of messages that a model is shown; of more, the oldest are omitted.
    pub messages_bytes: usize,
    /// A folder whose prompt files replace the built-in ones of the same name.
    pub prompts_dir: Option<PathBuf>,
}

impl Default for PipelineConfig {
    fn default() -> Self {
        Self {
            max_reprompts: 1,
            max_additions: 8,
            max_archives: 3,
            evidence: Strictness::default(),
            max_rebases: 3,
            queue_per_memory: 64,
            concurrent_updates: 128,
            concurrent_updates_per_vault: 64,
            queue: QueueConfig::default(),
            messages_bytes: 200_000,
            prompts_dir: None,
        }
    }
}

impl PipelineConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        if !(1..=100).contains(&self.max_additions) {
            return Err("pipeline.max_additions must be 1 to 100".to_owned());
        }
        if !(1..=100).contains(&self.max_archives) {
            return Err("pipeline.max_archives must be 1 to 100".to_owned());
        }
        if self.max_reprompts > 5 {
            return Err("pipeline.max_reprompts must be 0 to 5".to_owned());
        }
        if self.max_rebases > 10 {
            return Err("pipeline.max_rebases must be 0 to 10".to_owned());
        }
        if self.queue_per_memory == 0 {
            return Err("pipeline.queue_per_memory must be at least 1".to_owned());
        }
        if self.concurrent_updates == 0 || self.concurrent_updates_per_vault == 0 {
            return Err(
                "pipeline.concurrent_updates and pipeline.concurrent_updates_per_vault must be at least 1"
                    .to_owned(),
            );
        }
        self.queue.validate()
    }
}
