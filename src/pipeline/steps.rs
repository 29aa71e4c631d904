//! The steps of an update: sent to a waiting client, and stored as events.
//!
//! The code that runs an update reports each step to its [`Steps`]. A watcher receives it at once. Events are
//! collected and written every `WRITE_EVERY` while models are asked; the rest is written in the transaction that ends
//! the run. A short update therefore costs one longer statement in its transaction, and a long one can be followed
//! while it runs.
//!
//! Metrics and trace spans of the steps and of the results of runs are here, too.

use crate::clock::Clock;
use crate::domain::ids::{ContextId, UpdateId};
use crate::domain::operation::Role;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::run::Running;
use crate::pipeline::{Pipeline, PipelineError, Target};
use crate::storage::StorageError;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::updates::{RunKind, RunStatus};
use crate::telemetry::{meters, traces};
use futures::FutureExt;
use futures::future::{Either, select};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

/// How often events are written while an update runs.
const WRITE_EVERY: Duration = Duration::from_millis(250);

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
        context_id: ContextId,
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

/// The steps of one run; by default of one that tells nobody, such as that of `/operations`.
#[derive(Default)]
pub(super) struct Steps {
    watcher: Option<UnboundedSender<Step>>,
    /// What the events of the steps have in common.
    of_run: Option<(Arc<dyn Clock>, NewEvent)>,
    unwritten: Mutex<Vec<NewEvent>>,
}

impl Steps {
    pub(super) fn of_run(
        watcher: Option<UnboundedSender<Step>>,
        clock: &Arc<dyn Clock>,
        (run, to): (&UpdateId, &Target),
    ) -> Self {
        let event = NewEvent {
            actor: Some(to.actor.clone()),
            update_id: Some(run.clone()),
            ..NewEvent::new(String::new(), to.memory.clone(), EventKind::Update, clock.now())
        };
        Self {
            watcher,
            of_run: Some((clock.clone(), event)),
            unwritten: Mutex::default(),
        }
    }

    pub(super) fn send(&self, step: Step) {
        if step.is_kept()
            && let Some(event) = self.event(step.details())
        {
            self.unwritten.lock().push(event);
        }
        if let Some(watcher) = &self.watcher {
            // The watcher may have disconnected.
            let _ = watcher.send(step);
        }
    }

    /// An event of the run at this time; `None` if its steps are not kept.
    fn event(&self, details: Value) -> Option<NewEvent> {
        let (clock, of_run) = self.of_run.as_ref()?;
        Some(NewEvent {
            event_id: clock.new_id().to_string(),
            created_at: clock.now(),
            details: Some(details),
            ..of_run.clone()
        })
    }

    /// The steps that are not yet confirmed as written, as events of their run.
    pub(super) fn events(&self) -> Vec<NewEvent> {
        self.unwritten.lock().clone()
    }

    /// The event of the end of a run.
    pub(super) fn finished(&self, status: RunStatus) -> Option<NewEvent> {
        self.event(json!({"step": "finished", "status": status.name()}))
    }
}

impl Pipeline {
    /// Does work whose steps are written as events while it goes on. It goes on during a write, too: it may hold the database
    /// connection that the write waits for.
    pub(super) async fn followed<W: Future>(&self, running: &Running, work: W) -> W::Output {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = timeout(WRITE_EVERY, &mut work).await {
                return done;
            }
            let write = pin!(self.write_steps(running));
            if let Either::Left((done, write)) = select(&mut work, write).await {
                write.await;
                return done;
            }
        }
    }

    /// Writes the events that are not written yet.
    pub(super) async fn write_steps(&self, running: &Running) {
        let events = running.steps.events();
        if events.is_empty() {
            return;
        }
        match self.storage.append_events(&running.to.vault, &events).await {
            Ok(()) => drop(running.steps.unwritten.lock().drain(..events.len())),
            // They are written again at the end of the run, if possible.
            Err(error) => tracing::debug!(%error, "the steps of an update could not be stored"),
        }
    }
}

/// Measures a step of an update and creates its span.
pub(super) fn measure_step<W: Future>(name: &'static str, work: W) -> impl Future<Output = W::Output> {
    let begun = Instant::now();
    traces::step(name, work).inspect(move |_| {
        metrics::histogram!(meters::UPDATE_STEP_SECONDS, "step" => name).record(begun.elapsed());
    })
}

/// Counts how a run ended. A run whose claim was lost has not ended: it was canceled, or another worker runs it.
pub(super) fn count_end(kind: RunKind, result: &Result<UpdateAnswer, PipelineError>) {
    if let Err(PipelineError::Storage(StorageError::ClaimLost(_))) = result {
        return;
    }
    let (status, rebased, rejected, warnings) = match result {
        Ok(answer) => {
            let status = answer.status.of_run().name();
            (status, answer.rebased, &*answer.rejected, &*answer.warnings)
        }
        Err(error) => {
            let rejected = match error {
                PipelineError::Invalid { rejected, .. } => rejected.as_slice(),
                _ => &[],
            };
            let status = error.status().map_or("refused", RunStatus::name);
            (status, false, rejected, [].as_slice())
        }
    };
    let rejected = rejected.iter().map(|fault| (fault.section, &*fault.kind));
    // Those are of the run, and of no item.
    let of_items = warnings
        .iter()
        .filter(|fault| !["no_model", "already_recorded"].contains(&&*fault.kind));
    let warned = of_items.map(|fault| (fault.section, &*fault.kind));
    metrics::counter!(meters::UPDATES_TOTAL, "kind" => kind.name(), "status" => status).increment(1);
    if rebased {
        metrics::counter!(meters::REBASES_TOTAL).increment(1);
    }
    for (section, kind) in rejected.chain(warned) {
        let section = section.map_or("none", Role::name);
        metrics::counter!(meters::FAULTS_TOTAL, "section" => section, "kind" => kind.to_owned()).increment(1);
    }
}
