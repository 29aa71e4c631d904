//! A version in the making.

use super::head::Head;
use super::window_rows::WindowRows;
use crate::domain::changelog::left_out_by;
use crate::domain::document::Origins;
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::domain::memory::{AppliedOperation, Counters, RecordChange, project_and_count};
use crate::storage::StorageError;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::database::connection::Connection;
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{Answering, IdempotencyClaim, KeptAnswer};
use crate::storage::updates::{Run, resolve_run};

/// A version to be saved on top of the head.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The whole text.
    pub text: String,
    /// The counters after it; never lower than the head's.
    pub counters: Counters,
    /// What makes it.
    pub source: Source,
    /// Who makes it.
    pub actor: ActorId,
    /// What it does, where the service knows (reasons of archivings come from here).
    pub operations: Vec<AppliedOperation>,
    /// What it does to the records: [`crate::domain::memory::project`] of the head's text and the new one.
    pub changes: Vec<RecordChange>,
    /// The change in words.
    pub log: String,
    /// The run that makes it, kept in the same transaction.
    pub run: Option<Box<Run>>,
    /// An invalid run that this one finishes by hand.
    pub resolves: Option<UpdateId>,
    /// What it says of tasks and decisions that the text does not hold.
    pub window: WindowRows,
    /// Why it archives records that no operation names: it was put or restored as a whole without them.
    pub left_out: Option<String>,
    /// The claim of the idempotency key under which it is saved, or not at all.
    pub idempotency: Option<IdempotencyClaim>,
    /// What is answered, kept under that claim with the version; without it the version is answered from.
    pub answer: Option<KeptAnswer>,
}

impl NewVersion {
    /// A version with this text, as anybody may put it: the records it names are taken as they are.
    #[must_use]
    pub fn of_text(head: &Head, text: String, source: Source, actor: ActorId) -> Self {
        let (changes, seen) = project_and_count(&head.text, &text);
        let counters = head.counters.raised_by(&seen);
        let left_out = matches!(source, Source::Put | Source::Restore).then(|| left_out_by(head.version + 1));
        Self {
            text,
            counters,
            source,
            actor,
            operations: Vec::new(),
            changes,
            log: String::new(),
            run: None,
            resolves: None,
            window: WindowRows::default(),
            left_out,
            idempotency: None,
            answer: None,
        }
    }

    /// Has it saved under a claim, if there is one, with the answer to what was done.
    pub fn answer_under<T>(&mut self, under: Option<&Answering<'_, T>>, done: &T) {
        self.idempotency = under.map(|under| under.claim().clone());
        self.answer = under.map(|under| under.to(done));
    }

    /// What it will be known by on top of a head.
    pub(in crate::storage) fn metadata(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        head: &Head,
    ) -> ContextMetadata {
        ContextMetadata {
            vault_id: vault.clone(),
            memory_id: memory.clone(),
            context_id: head.next_context_id.clone(),
            version: head.version + 1,
            actor_id: self.actor.clone(),
            creation_time: head.now,
            source: self.source,
            bytes: i32::try_from(self.text.len()).unwrap_or(i32::MAX),
            update_id: self.run.as_ref().map(|run| run.update_id.clone()),
            log: self.log.clone(),
            redaction: None,
        }
    }

    /// Where its lines come from, if that is known of the head's.
    pub(super) fn origins(&self, head: &Head) -> Option<Origins> {
        let before = head.origins.as_ref()?;
        Some(before.after(&head.text, &self.text, head.version + 1))
    }
}

/// What is told of a new version.
pub(super) fn version_event(event_id: String, saved: &ContextMetadata) -> NewEvent {
    NewEvent {
        version: Some((saved.version, saved.context_id.clone())),
        actor: Some(saved.actor_id.clone()),
        source: Some(saved.source),
        update_id: saved.update_id.clone(),
        ..NewEvent::new(
            event_id,
            saved.memory_id.clone(),
            EventKind::Version,
            saved.creation_time,
        )
    }
}

/// Marks an invalid run as finished by another; of several that try, one does.
pub(super) async fn resolve(
    connection: &mut Connection,
    by: &Run,
    resolved: &UpdateId,
) -> Result<(), StorageError> {
    if resolve_run(connection, &by.vault_id, &by.memory_id, resolved, &by.update_id).await? {
        Ok(())
    } else {
        Err(StorageError::AlreadyResolved(resolved.clone()))
    }
}
