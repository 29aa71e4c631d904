//! `[pipeline]`: how updates are run. `[pipeline.queue]`: the queue of updates.

use super::values::section;
use crate::domain::evidence::Strictness;
use std::path::PathBuf;

section! {
    /// How updates are run (DESIGN §3).
    pub struct PipelineConfig in "pipeline" {
        /// How often a role's model is asked again about faulty items.
        pub max_reprompts: u32 = 1, in 0..=5;
        /// Most additions per section in one update; a short input allows 3, each 1,000 bytes one more.
        pub max_additions: usize = 8, in 1..=100;
        /// What happens to items that the input does not support. A request may ask for a stricter value, not for a laxer one.
        #[serde(deserialize_with = "super::values::one_of::<_, Strictness, _>")]
        pub evidence: Strictness = Strictness::default();
        /// Updates that run at once within one service; half of them of one vault.
        pub concurrent_updates: usize = 128, in 1..=usize::MAX;
        /// The queue of updates.
        pub queue: QueueConfig = QueueConfig::default();
        /// Not a setting. Bytes of messages, or of records, that a model is shown; of more, the oldest are omitted.
        #[serde(skip)]
        pub messages_bytes: usize = 200_000;
        /// A folder whose prompt files replace the built-in ones of the same name.
        pub prompts_dir: Option<PathBuf> = None;
        /// Not a setting; a test may not repeat at all. How often progress is asked again because the memory changed, before the
        /// update is rejected: each repetition costs a call to a model.
        #[serde(skip)]
        pub max_rebases: u32 = 3;
    }
}

impl PipelineConfig {
    /// Updates of one vault that run at once within one service: half of all, so that no vault takes the whole service.
    #[must_use]
    pub fn concurrent_updates_per_vault(&self) -> usize {
        self.concurrent_updates.div_ceil(2)
    }
}

section! {
    /// How updates with `Prefer: respond-async` are queued and run.
    pub struct QueueConfig in "pipeline.queue" {
        /// Queued updates that this instance runs at once, at most half of them of one vault; 0: it accepts them, and others run them.
        pub workers: usize = 16, in 0..=1_024;
        /// Seconds after which an update of an instance that no longer renews its claim is taken over.
        pub lease_seconds: u32 = 30, in 1..=3_600;
        /// Updates of one vault that may be queued or running.
        pub max_per_vault: u32 = 10_000, in 1..=u32::MAX;
        /// Not a setting, like those below, which tests shorten: updates of one memory that may be queued or running. They run
        /// one after another, so a longer queue would only be an older one.
        #[serde(skip)]
        pub max_per_memory: u32 = 256;
        /// Attempts of an update before it is `failed`.
        #[serde(skip)]
        pub max_attempts: u32 = 5;
        /// Seconds before the second attempt; doubled before each further one.
        #[serde(skip)]
        pub backoff_seconds: u32 = 5;
        /// Polling interval in seconds for work without a notification.
        #[serde(skip)]
        pub poll_seconds: u32 = 2;
    }
}
