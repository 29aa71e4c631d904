//! The steps of an update: sent to a waiting client, and stored as events.
//!
//! The code that runs an update reports each step to its [`Steps`]. A watcher receives it at once. Events are
//! collected and written every `WRITE_EVERY` while the update runs; the rest is written in the transaction that ends
//! the run. A short update therefore costs one longer statement in its transaction, and a long one can be followed
//! while it runs.
//!
//! Metrics and trace spans of the steps and of the results of runs are here, too.

use crate::clock::Clock;
use crate::domain::ids::{ActorId, ContextId, UpdateId};
use crate::domain::operation::Role;
use crate::pipeline::PipelineError;
use crate::pipeline::report::{Rejection, Target, UpdateAnswer, Warning};
use crate::storage::StorageError;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::{RunKind, RunStatus};
use crate::telemetry::{meters, traces};
use chrono::{DateTime, Utc};
use futures::FutureExt;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, mpsc};

/// How often events are written while an update runs.
pub(super) const WRITE_EVERY: Duration = Duration::from_millis(250);

/// One step of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// The update was started.
    Started {
        /// The run.
        update_id: UpdateId,
        /// The number of the attempt, from 1.
        attempt: i32,
    },
    /// The head snapshot was taken.
    Captured {
        /// Its version; 0 if the memory does not exist.
        version: i64,
        /// Its id.
        context_id: Option<ContextId>,
    },
    /// The model of a role is called.
    Asked {
        /// The role.
        role: Role,
        /// 0 for the first call, 1 and more for calls about faulty items.
        round: u32,
    },
    /// The model of a role answered, or failed after its retries.
    Answered {
        /// The role.
        role: Role,
        /// As in [`Step::Asked`].
        round: u32,
        /// The number of requests sent.
        attempts: u32,
        /// The duration.
        millis: u64,
        /// Whether the model failed.
        #[serde(skip)]
        failed: bool,
    },
    /// The operations were applied to the head.
    Merged {
        /// The head differs from the head snapshot.
        rebased: bool,
    },
    /// A version was saved.
    Saved {
        /// Its number.
        version: i64,
        /// Its id.
        context_id: String,
    },
}

impl Step {
    /// Its stable name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::Captured { .. } => "captured",
            Self::Asked { round: 0, .. } => "asked",
            Self::Asked { .. } => "asked_again",
            Self::Answered { failed: false, .. } => "answered",
            Self::Answered { .. } => "model_failed",
            Self::Merged { .. } => "merged",
            Self::Saved { .. } => "saved",
        }
    }

    /// The step as a JSON object: its name in `step`, and its members.
    #[must_use]
    pub fn details(&self) -> Value {
        let mut details = json!(self);
        details["step"] = self.name().into();
        details
    }

    /// Whether the step is stored as an event. Merging and saving are not: the event of the version and that of the
    /// end of the run have the same time.
    fn is_kept(&self) -> bool {
        !matches!(self, Self::Merged { .. } | Self::Saved { .. })
    }
}

/// Collects the steps of one update; by default without a watcher. Cheap to clone.
#[derive(Clone, Default)]
pub struct Steps(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Set by the pipeline when the update starts.
    clock: OnceLock<Arc<dyn Clock>>,
    watcher: Option<mpsc::UnboundedSender<Step>>,
    unwritten: Mutex<Vec<Noted>>,
    /// Held while events are written.
    writing: AsyncMutex<()>,
}

#[derive(Clone)]
struct Noted {
    event_id: String,
    at: DateTime<Utc>,
    details: Value,
}

impl Noted {
    fn now(clock: &dyn Clock, details: Value) -> Self {
        Self {
            event_id: clock.new_id().to_string(),
            at: clock.now(),
            details,
        }
    }
}

impl Steps {
    /// Steps with a watcher. There are few of them, so the channel is unbounded.
    #[must_use]
    pub fn watched(watcher: mpsc::UnboundedSender<Step>) -> Self {
        Self(Arc::new(Inner {
            watcher: Some(watcher),
            ..Inner::default()
        }))
    }

    /// Starts collecting steps as events, too.
    pub(super) fn keep(&self, clock: &Arc<dyn Clock>) {
        // A request that runs for the second time already has a clock.
        let _ = self.0.clock.set(clock.clone());
    }

    pub(super) fn send(&self, step: Step) {
        if step.is_kept()
            && let Some(clock) = self.0.clock.get()
        {
            let noted = Noted::now(&**clock, step.details());
            self.unwritten(|unwritten| unwritten.push(noted));
        }
        if let Some(watcher) = &self.0.watcher {
            // The watcher may have disconnected.
            let _ = watcher.send(step);
        }
    }

    /// The steps that are not yet confirmed as written, as events of their run.
    pub(super) fn events(&self, target: &Target, actor: &ActorId) -> Vec<NewEvent> {
        let noted = self.unwritten(|unwritten| unwritten.clone());
        noted
            .into_iter()
            .map(|noted| event(target, actor, noted))
            .collect()
    }

    /// The event of the end of a run.
    pub(super) fn finished(&self, target: &Target, actor: &ActorId, status: &str) -> Option<NewEvent> {
        let details = json!({"step": "finished", "status": status});
        let noted = Noted::now(&**self.0.clock.get()?, details);
        Some(event(target, actor, noted))
    }

    /// Takes the lock for writing events. Without it, two transactions that write the same steps would wait for each
    /// other, and two that write the steps of several updates could deadlock.
    pub(super) async fn to_be_written(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().await
    }

    /// Removes steps that were written.
    pub(super) fn written(&self, events: &[NewEvent]) {
        self.unwritten(|unwritten| {
            unwritten.retain(|noted| events.iter().all(|event| event.event_id != noted.event_id));
        });
    }

    fn unwritten<T>(&self, change: impl FnOnce(&mut Vec<Noted>) -> T) -> T {
        change(&mut self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn event(target: &Target, actor: &ActorId, noted: Noted) -> NewEvent {
    NewEvent {
        actor: Some(actor.clone()),
        update_id: Some(target.update_id.clone()),
        details: Some(noted.details),
        ..NewEvent::new(noted.event_id, target.memory.clone(), EventKind::Update, noted.at)
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

/// Measures a step of an update and creates its span.
pub(super) fn measure_step<W: Future>(name: &'static str, work: W) -> impl Future<Output = W::Output> {
    let begun = Instant::now();
    traces::step(name, work).inspect(move |_| meters::step(name, begun.elapsed()))
}

/// Counts how a run ended. A run whose claim was lost has not ended: it was canceled, or another worker runs it.
pub(super) fn count_end(kind: RunKind, result: &Result<UpdateAnswer, PipelineError>) {
    if let Err(PipelineError::Storage(StorageError::ClaimLost(_))) = result {
        return;
    }
    let of_rejection = |rejection: &Rejection| (rejection.section.clone(), rejection.kind.clone());
    let of_warning = |warning: &Warning| (warning.section.clone(), warning.kind.clone());
    let (status, rebased, faults): (_, _, Vec<_>) = match result {
        Ok(answer) => {
            let rejected = answer.rejected.iter().map(of_rejection);
            let faults = rejected.chain(answer.warnings.iter().map(of_warning));
            (answer.status.of_run().name(), answer.rebased, faults.collect())
        }
        Err(PipelineError::Invalid { rejected, .. }) => {
            let faults = rejected.iter().map(of_rejection).collect();
            (RunStatus::Invalid.name(), false, faults)
        }
        Err(error) => (metric_status(error), false, Vec::new()),
    };
    let faults = faults.iter();
    meters::update_ended(
        kind.name(),
        status,
        rebased,
        faults.map(|(section, kind)| (section.as_deref(), kind.as_str())),
    );
}

fn metric_status(error: &PipelineError) -> &'static str {
    match error {
        PipelineError::PreconditionFailed(_)
        | PipelineError::Conflict { .. }
        | PipelineError::OtherTask { .. }
        | PipelineError::Deleted => RunStatus::Conflict.name(),
        PipelineError::Invalid { .. } => RunStatus::Invalid.name(),
        PipelineError::ModelFailed { .. }
        | PipelineError::TooLarge { .. }
        | PipelineError::IdsExhausted { .. }
        | PipelineError::Storage(_) => RunStatus::Failed.name(),
        // No run was created.
        _ => "refused",
    }
}
