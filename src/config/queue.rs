//! `[pipeline.queue]`: the queue of updates.

use serde::Deserialize;

/// How updates with `Prefer: respond-async` are queued and run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueConfig {
    /// Queued updates that this instance runs at once, at most half of them of one vault; 0: it accepts them, and others run them.
    pub workers: usize,
    /// Seconds after which an update of an instance that no longer renews its claim is taken over.
    pub lease_seconds: u32,
    /// Attempts of an update before it is `failed`.
    pub max_attempts: u32,
    /// Seconds before the second attempt; doubled before each further one, up to five minutes.
    pub backoff_seconds: u32,
    /// Polling interval in seconds for work without a notification.
    pub poll_seconds: u32,
    /// Updates of one memory that may be queued or running.
    pub max_per_memory: u32,
    /// Updates of one vault that may be queued or running.
    pub max_per_vault: u32,
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

impl QueueConfig {
    pub(super) fn validate(&self) -> Result<(), String> {
        for (key, value) in [
            ("lease_seconds", self.lease_seconds),
            ("max_attempts", self.max_attempts),
            ("poll_seconds", self.poll_seconds),
            ("max_per_memory", self.max_per_memory),
            ("max_per_vault", self.max_per_vault),
        ] {
            if value == 0 {
                return Err(format!("pipeline.queue.{key} must be at least 1"));
            }
        }
        if self.workers > 1_024 {
            return Err("pipeline.queue.workers must be 0 to 1024".to_owned());
        }
        if self.lease_seconds > 3_600 || self.poll_seconds > 3_600 || self.backoff_seconds > 300 {
            return Err(
                "pipeline.queue: lease_seconds and poll_seconds must be at most 3600, backoff_seconds at most 300"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
