//! Puts that are decided before anything is locked.

use super::super::change::Decision;
use super::super::contexts::{Context, ContextMetadata};
use super::super::events::NewEvent;
use super::super::head::Head;
use super::super::heads::{KeptHead, Ticket};
use super::super::new_version::version_event;
use super::super::put::{Put, PutJob, decide};
use super::super::{Storage, StorageError};
use crate::domain::document::Origins;
use crate::domain::ids::ContextId;
use crate::domain::memory::{Collapse, Counters, RecordChange};
use crate::telemetry::meters;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// A version that a put makes if the newest one is still `base` when it is saved.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) base: ContextId,
    pub(super) metadata: ContextMetadata,
    pub(super) text: String,
    /// The numbers that the text speaks of: the memory may have given higher ones.
    pub(super) counters: Counters,
    /// What it does to the records.
    pub(super) changes: Vec<RecordChange>,
    /// Where its lines come from, if that is known.
    pub(super) origins: Option<Origins>,
    /// What is told of it.
    pub(super) event: NewEvent,
    lost: Vec<Collapse>,
    /// Others of this process that put into the memory wait until this one has come to something.
    _alone: OwnedMutexGuard<()>,
}

impl Storage {
    /// Decides a put by the newest version as far as this process knows it. `None` if the memory does not exist, or
    /// if the put makes no version of it: what refuses a put, or finds that it changes nothing, has to be certain.
    pub(super) async fn prepare(
        &self,
        job: &PutJob,
        alone: OwnedMutexGuard<()>,
    ) -> Result<Option<Prepared>, StorageError> {
        let Some(newest) = self.recent_head(&job.vault, &job.memory).await? else {
            return Ok(None);
        };
        let Context { metadata, text } = &*newest.context;
        let origins = match newest.origins {
            Some(origins) => Some(Origins::clone(&origins)),
            None => self.kept_origins(&newest.context).await?,
        };
        let head = Head {
            version: metadata.version,
            context_id: Some(metadata.context_id.clone()),
            text: text.clone(),
            origins,
            counters: Counters::default(),
            archived: BTreeSet::new(),
            now: self.clock.now().max(metadata.creation_time),
            next_context_id: self.clock.new_id().into(),
            next_event_id: self.clock.new_id().to_string(),
        };
        let Ok(Decision::Save(new, lost)) = decide(job, &head) else {
            return Ok(None);
        };
        let version = head.version + 1;
        let before = head.origins.as_ref();
        let metadata = ContextMetadata {
            vault_id: job.vault.clone(),
            memory_id: job.memory.clone(),
            context_id: head.next_context_id,
            version,
            actor_id: new.actor,
            creation_time: head.now,
            source: new.source,
            bytes: i32::try_from(new.text.len()).unwrap_or(i32::MAX),
            update_id: None,
            log: new.log,
            redaction: None,
        };
        Ok(Some(Prepared {
            base: newest.context.metadata.context_id.clone(),
            origins: before.map(|before| before.after(&head.text, &new.text, version)),
            event: version_event(head.next_event_id, &metadata),
            metadata,
            text: new.text,
            counters: new.counters,
            changes: new.changes,
            lost,
            _alone: alone,
        }))
    }

    /// What was committed is kept and told; then its writer can be answered.
    pub(super) fn was_put(&self, prepared: Prepared, ticket: Ticket) -> Put {
        let Prepared { metadata, text, .. } = prepared;
        let context = Context {
            metadata: metadata.clone(),
            text,
        };
        let head = KeptHead {
            context: Arc::new(context.without_log()),
            origins: prepared.origins.map(Arc::new),
        };
        self.heads.wrote(ticket, head);
        meters::version_made(metadata.source.name());
        self.appended(&metadata.vault_id, from_ref(&prepared.event));
        Put::Created(metadata, prepared.lost)
    }
}
