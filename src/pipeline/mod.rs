//! `/update`: from a task and messages to a new version, in six steps (DESIGN §3).
//!
//! 1. **Capture** the head (`update`, which runs the steps in order; the state of a run is in `run`).
//! 2. **Ask** the models of the roles in parallel, without a database connection (`ask`, with [`prompts`]; also by rules).
//! 3. **Read** the answers ([`crate::domain::dsl`]).
//! 4. **Check** them against the head snapshot, and ask a role again about its faulty items (`check`).
//! 5. **Merge** the items into the current head, under its lock: learnings and snippets are validated again; progress
//!    is replaced only if its section is unchanged since the snapshot, and is asked for again otherwise (`merge`).
//! 6. **Save** the version with its operations, rejected items and run in the same transaction (`save`).
//!
//! No change of another writer is lost: a model's answer never replaces a document. It only contains operations, which
//! are applied to the document that is current at that time.

mod ask;
mod check;
mod consolidation;
mod error;
mod handoff;
pub mod meaning;
mod merge;
mod operations;
pub mod prompts;
mod queued;
pub mod report;
mod request;
mod review;
mod run;
mod save;
mod steps;
mod update;

pub use crate::llm::{ConversationMessage, history};
pub use error::{LimitReached, PipelineError};
pub use handoff::{HandoffError, HandoffRequest, Refreshed, judge};
pub use request::{
    Mode, ModeKind, OnInvalid, OperationsInput, OperationsRequest, Target, UpdateInput, UpdateRequest,
};
pub use review::Approval;
pub use steps::Step;

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::evidence::Strictness;
use crate::domain::ids::UpdateId;
use crate::fair::{FairSemaphore, ShareLimits};
use crate::llm::Models;
use crate::llm::embeddings::Embedder;
use crate::storage::Storage;
use std::sync::Arc;

/// Updates of one memory that may run or wait within one service: they run one after another, and who waits longer than for
/// these has given up.
const QUEUE_PER_MEMORY: usize = 64;

/// Runs updates. Cheap to clone.
#[derive(Clone)]
pub struct Pipeline {
    storage: Storage,
    models: Arc<Models>,
    prompts: Arc<prompts::Prompts>,
    /// A permit for each running update: one of a memory, since each is to see the result of the one before; several of a
    /// vault.
    updates: FairSemaphore,
    clock: Arc<dyn Clock>,
    config: Arc<Config>,
    meaning: meaning::Meaning,
    /// Serializes the handoffs of one memory, so that a concurrent request uses the handoff of the first.
    handoffs: FairSemaphore,
}

impl Pipeline {
    /// Creates a pipeline over a database, with models and, for searches by meaning, an embedding model.
    #[must_use]
    pub fn new(
        storage: Storage,
        (models, embedder): (Models, Option<Embedder>),
        prompts: prompts::Prompts,
        clock: Arc<dyn Clock>,
        config: &Config,
    ) -> Self {
        Self {
            meaning: meaning::Meaning::new(storage.clone(), embedder),
            storage,
            models: Arc::new(models),
            prompts: Arc::new(prompts),
            updates: FairSemaphore::new(ShareLimits::of_memories(
                config.pipeline.concurrent_updates,
                config.pipeline.concurrent_updates_per_vault(),
            )),
            clock,
            config: Arc::new(config.clone()),
            handoffs: FairSemaphore::new(ShareLimits::of_memories(usize::MAX, usize::MAX)),
        }
    }

    /// The search, by text and by meaning.
    #[must_use]
    pub fn meaning(&self) -> &meaning::Meaning {
        &self.meaning
    }

    /// Instructions for agents that write the document themselves (DESIGN §6): `guidance.md` or
    /// `guidance_managed.md`, unchanged until the process restarts.
    #[must_use]
    pub fn guidance(&self, page: prompts::GuidancePage) -> Arc<str> {
        self.prompts.text(match page {
            prompts::GuidancePage::Document => prompts::Template::Guidance,
            prompts::GuidancePage::Managed => prompts::Template::GuidanceManaged,
        })
    }

    /// The configured strictness towards items that the input does not support; a request may not be laxer.
    #[must_use]
    pub fn evidence(&self) -> Strictness {
        self.config.pipeline.evidence
    }

    fn new_update_id(&self) -> UpdateId {
        self.clock.new_id().into()
    }
}
