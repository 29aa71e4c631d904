//! The steps of an update as they are made: shown to somebody who waits, and kept as events.
//!
//! Whoever runs an update tells its [`Steps`]. A watcher gets each at once. As events they are gathered and written
//! beside the update every moment (`WRITE_EVERY`), and what is left goes into the transaction that ends the run: so
//! an update of milliseconds costs its transaction one longer statement, and one of a minute is seen while it runs.

use crate::clock::Clock;
use crate::domain::ids::{ActorId, ContextId, UpdateId};
use crate::domain::operation::Role;
use crate::storage::events::{EventKind, NewEvent};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, mpsc};

use super::report::Target;

/// How often steps are written while an update runs.
pub(super) const WRITE_EVERY: Duration = Duration::from_millis(250);

/// One step of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It has its turn.
    Started {
        /// The run.
        update_id: UpdateId,
        /// How often it was begun, this time included.
        attempt: i32,
    },
    /// The head was read.
    Captured {
        /// Its version; 0 if the memory does not exist.
        version: i64,
        /// Its id.
        context_id: Option<ContextId>,
    },
    /// A role's model is asked.
    Asked {
        /// Whose.
        role: Role,
        /// 0 for the first time, 1 and more where it is asked again about faulty items.
        round: u32,
    },
    /// A role's model has answered, or failed after its retries.
    Answered {
        /// Whose.
        role: Role,
        /// As in [`Step::Asked`].
        round: u32,
        /// Requests that were sent.
        attempts: u32,
        /// How long it took.
        millis: u64,
        /// There is no answer.
        failed: bool,
    },
    /// The operations were applied to the head.
    Merged {
        /// The head was another than the captured one.
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

    /// The step as an object: its name under `step`, and what belongs to it.
    #[must_use]
    pub fn details(&self) -> Value {
        let step = self.name();
        match self {
            Self::Started { update_id, attempt } => {
                json!({"step": step, "update_id": update_id.as_str(), "attempt": attempt})
            }
            Self::Captured { version, context_id } => {
                json!({"step": step, "version": version, "context_id": context_id.as_ref().map(ContextId::as_str)})
            }
            Self::Asked { role, round } => json!({"step": step, "role": role.name(), "round": round}),
            Self::Answered {
                role,
                round,
                attempts,
                millis,
                ..
            } => {
                json!({"step": step, "role": role.name(), "round": round, "attempts": attempts, "millis": millis})
            }
            Self::Merged { rebased } => json!({"step": step, "rebased": rebased}),
            Self::Saved { version, context_id } => {
                json!({"step": step, "version": version, "context_id": context_id})
            }
        }
    }

    /// Merging and saving are told by the version's own event and the run's end, in the same moment.
    fn is_kept(&self) -> bool {
        !matches!(self, Self::Merged { .. } | Self::Saved { .. })
    }
}

/// Takes the steps of one update; by default nobody watches. Cheap to clone.
#[derive(Clone, Default)]
pub struct Steps(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The pipeline's, once the update runs.
    clock: OnceLock<Arc<dyn Clock>>,
    watcher: Option<mpsc::UnboundedSender<Step>>,
    unwritten: Mutex<Vec<Noted>>,
    /// Held by who writes steps.
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
    /// Steps with somebody who watches; they are few, so the channel needs no bound.
    #[must_use]
    pub fn watched(watcher: mpsc::UnboundedSender<Step>) -> Self {
        Self(Arc::new(Inner {
            watcher: Some(watcher),
            ..Inner::default()
        }))
    }

    /// From now on steps are kept as events, too.
    pub(super) fn keep(&self, clock: &Arc<dyn Clock>) {
        // A request that is run twice has its clock already.
        let _ = self.0.clock.set(clock.clone());
    }

    pub(super) fn tell(&self, step: Step) {
        if step.is_kept()
            && let Some(clock) = self.0.clock.get()
        {
            let noted = Noted::now(&**clock, step.details());
            self.unwritten(|unwritten| unwritten.push(noted));
        }
        if let Some(watcher) = &self.0.watcher {
            // Whoever watched may have gone.
            let _ = watcher.send(step);
        }
    }

    /// The steps that are not known to be written, as events of their run.
    pub(super) fn events(&self, target: &Target, actor: &ActorId) -> Vec<NewEvent> {
        let noted = self.unwritten(|unwritten| unwritten.clone());
        noted
            .into_iter()
            .map(|noted| event(target, actor, noted))
            .collect()
    }

    /// The end of a run as an event.
    pub(super) fn finished(&self, target: &Target, actor: &ActorId, status: &str) -> Option<NewEvent> {
        let details = json!({"step": "finished", "status": status});
        let noted = Noted::now(&**self.0.clock.get()?, details);
        Some(event(target, actor, noted))
    }

    /// Waits until nobody else writes steps, and lets nobody do so while the value lives: of two transactions that
    /// write the same steps one waits for the other, and of two that write those of several updates each might.
    pub(super) async fn to_be_written(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().await
    }

    /// Takes steps off that have been written.
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
