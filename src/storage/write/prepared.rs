//! A decided version that is not saved yet.

use super::head::Head;
use super::new_version::{NewVersion, version_event};
use crate::domain::document::Origins;
use crate::domain::history::{RecordStep, steps};
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::memory::Counters;
use crate::storage::Storage;
use crate::storage::contexts::{Context, ContextMetadata};
use crate::storage::database::notification::Notification;
use crate::storage::events::NewEvent;
use crate::storage::head_cache::{CachedHead, FillToken};
use crate::storage::updates::{Run, RunJson, RunStatus, quotes_the_head_only};
use crate::telemetry::meters;
use serde_json::Value;

/// A version with everything derived from it. It is saved only if the head of its memory is still `base`.
#[derive(Debug)]
pub(in crate::storage) struct Prepared {
    /// The head that it is based on; `None` if the memory had no version.
    pub(super) base: Option<ContextId>,
    /// The counters that it is based on, if it assigns numbers: they must be unchanged.
    pub(super) counted: Option<Counters>,
    pub(super) metadata: ContextMetadata,
    pub(super) new: NewVersion,
    /// Its operations in the stored form.
    pub(super) operations: Option<Value>,
    /// The origins of its lines, if known.
    pub(super) origins: Option<Origins>,
    /// What it does to records.
    pub(super) steps: Vec<RecordStep>,
    pub(super) event: NewEvent,
    /// The stored form of its run, if the run's row is inserted with the version.
    pub(super) ran: Option<RunJson>,
}

impl Prepared {
    /// Prepares a version decided on `head`.
    pub(in crate::storage) fn new(
        head: Head,
        counted: Option<Counters>,
        (vault, memory): (&VaultId, &MemoryId),
        mut new: NewVersion,
    ) -> Self {
        let changes = std::mem::take(&mut new.changes);
        let metadata = new.metadata(vault, memory, &head);
        Self {
            counted,
            operations: new.stored_operations(),
            origins: new.origins(&head),
            steps: steps(changes, &new.operation_details()),
            event: version_event(head.next_event_id, &metadata),
            base: head.context_id,
            ran: new.run.as_deref().filter(|run| is_new(run)).map(RunJson::of),
            metadata,
            new,
        }
    }

    /// Whether it may be saved without locking the memory's row first. A run under a claim may have lost its claim, and
    /// a run that started from another version than the base may quote what was redacted meanwhile.
    pub(super) fn needs_no_lock(&self) -> bool {
        let is_of_its_base = |run: &Run| run.claim.is_none() && quotes_the_head_only(run);
        self.base.is_some()
            && self.new.resolves.is_none()
            && self.new.run.as_deref().is_none_or(is_of_its_base)
    }

    /// The approximate size of its texts in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.new.text.len()
    }

    /// Its events: the steps of its run, then the version.
    /// Tells the instances of it.
    pub(super) fn notification(&self) -> Notification {
        let metadata = &self.metadata;
        Notification {
            version: Some(metadata.version),
            context: Some(metadata.context_id.clone()),
            ..Notification::of(&metadata.vault_id, &metadata.memory_id)
        }
    }

    fn events(&self) -> Vec<NewEvent> {
        let run = self.new.run.as_deref();
        let mut events = run.map_or_else(Vec::new, |run| run.events.clone());
        events.push(self.event.clone());
        events
    }
}

/// Whether a run has no row yet and quotes nothing that was redacted since.
fn is_new(run: &Run) -> bool {
    run.claim.is_none() && run.status != RunStatus::Approved && quotes_the_head_only(run)
}

impl Storage {
    /// Must be called for each version after its transaction was committed, before its writer is answered: caches the
    /// new head, and wakes readers of events. `token` was taken before the memory's row was locked.
    pub(in crate::storage) fn committed(&self, prepared: Prepared, token: FillToken) -> ContextMetadata {
        let events = prepared.events();
        let Prepared {
            metadata, mut new, ..
        } = prepared;
        // It may stay in the cache for long, and its buffer is larger than needed.
        new.text.shrink_to_fit();
        let context = Context {
            metadata: metadata.clone(),
            text: new.text,
        };
        let head = CachedHead::new(context.without_log(), prepared.origins);
        self.head_cache.fill_written(token, head);
        meters::version_made(metadata.source.name());
        self.appended(&metadata.vault_id, &events);
        self.written.notify_one();
        metadata
    }
}
