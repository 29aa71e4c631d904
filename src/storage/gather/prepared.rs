//! Versions that are decided before anything is locked.

use super::super::contexts::{Context, ContextMetadata};
use super::super::events::NewEvent;
use super::super::head::Head;
use super::super::heads::{KeptHead, Ticket};
use super::super::new_version::{NewVersion, version_event};
use super::super::put::{PutJob, decide};
use super::super::updates::{Run, RunJson};
use super::super::{Decision, Storage, StorageError};
use crate::domain::document::Origins;
use crate::domain::ids::{ContextId, MemoryId, VaultId};
use crate::domain::memory::{Collapse, Counters, RecordChange};
use crate::telemetry::meters;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// A version that is made if the newest one is still `base` when it is saved.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) base: ContextId,
    /// The largest numbers ever given, if it was decided by them: then they have to be these still.
    pub(super) counted: Option<Counters>,
    pub(super) metadata: ContextMetadata,
    pub(super) new: NewVersion,
    /// What it does, as JSON.
    pub(super) operations: Option<String>,
    /// What its run says.
    pub(super) run: Option<RunJson>,
    /// Where its lines come from, if that is known.
    pub(super) origins: Option<Origins>,
    /// What is told of it.
    pub(super) event: NewEvent,
    /// Others of this process that change the memory so wait until this one has come to something.
    _alone: OwnedMutexGuard<()>,
}

impl Prepared {
    /// `None` if what it does besides has to be done while the memory's row is locked.
    pub(super) fn over(
        head: Head,
        counted: Option<Counters>,
        (vault, memory): (&VaultId, &MemoryId),
        new: NewVersion,
        alone: OwnedMutexGuard<()>,
    ) -> Option<Self> {
        // No version from its base on is redacted, then: all there is of them is the head.
        let is_over_its_base = |run: &Run| run.claim.is_none() && run.base_version == head.version;
        if new.resolves.is_some()
            || !new.window.is_empty()
            || !new.run.as_deref().is_none_or(is_over_its_base)
        {
            return None;
        }
        let metadata = new.metadata(vault, memory, &head);
        Some(Self {
            counted,
            operations: new.told().map(|told| told.to_string()),
            run: new.run.as_deref().map(RunJson::of),
            origins: new.origins(&head),
            event: version_event(head.next_event_id, &metadata),
            base: head.context_id?,
            metadata,
            new,
            _alone: alone,
        })
    }

    /// Whether all that it does is known before the database is asked: of a record that it adds, that there never was
    /// one with this number.
    pub(super) fn is_whole(&self) -> bool {
        self.new.changes.iter().all(|change| match change {
            RecordChange::Added(record) => self
                .counted
                .is_some_and(|counted| record.id.number > counted.get(record.id.kind)),
            RecordChange::Changed(_) | RecordChange::Archived(_) => true,
        })
    }

    /// What it holds of texts.
    pub(super) fn bytes(&self) -> usize {
        self.new.text.len() + self.run.as_ref().map_or(0, RunJson::bytes)
    }

    /// What is told of it and of its run.
    pub(super) fn events(&self) -> Vec<NewEvent> {
        let run = self.new.run.as_deref();
        let mut events = run.map_or_else(Vec::new, |run| run.events.clone());
        events.push(self.event.clone());
        events
    }
}

impl Storage {
    /// Decides a put by the newest version as far as this process knows it. `None` if the memory does not exist, or
    /// if the put makes no version of it: what refuses a put, or finds that it changes nothing, has to be certain.
    pub(super) async fn prepare(
        &self,
        job: &PutJob,
        alone: OwnedMutexGuard<()>,
    ) -> Result<Option<(Prepared, Vec<Collapse>)>, StorageError> {
        let Some(newest) = self.recent_head(&job.vault, &job.memory).await? else {
            return Ok(None);
        };
        let Context { metadata, text } = &*newest.context;
        let head = Head {
            version: metadata.version,
            context_id: Some(metadata.context_id.clone()),
            text: text.clone(),
            origins: newest.origins.as_deref().cloned(),
            ..self.empty_head(metadata.creation_time)
        };
        let Ok(Decision::Save(new, lost)) = decide(job, &head) else {
            return Ok(None);
        };
        let prepared = Prepared::over(head, None, (&job.vault, &job.memory), *new, alone);
        Ok(prepared.map(|prepared| (prepared, lost)))
    }

    /// What was committed is kept and told; then its writer can be answered.
    pub(super) fn was_saved(&self, prepared: Prepared, ticket: Ticket) -> ContextMetadata {
        let events = prepared.events();
        let Prepared {
            metadata, mut new, ..
        } = prepared;
        // It may be kept for long, and was written into more room than it needs.
        new.text.shrink_to_fit();
        let context = Context {
            metadata: metadata.clone(),
            text: new.text,
        };
        let head = KeptHead {
            context: Arc::new(context.without_log()),
            origins: prepared.origins.map(Arc::new),
        };
        self.heads.wrote(ticket, head);
        meters::version_made(metadata.source.name());
        self.appended(&metadata.vault_id, &events);
        metadata
    }
}
