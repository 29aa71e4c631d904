//! A version to be saved.

use super::head::Head;
use super::window::WindowRows;
use crate::domain::changelog::left_out_by;
use crate::domain::document::Origins;
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::domain::memory::{AppliedOperation, Counters, RecordChange, project};
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::events::{EventKind, NewEvent};
use crate::storage::idempotency::{Answering, ClaimedAnswer};
use crate::storage::updates::Run;

/// A version to be saved after the head.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The whole text.
    pub text: String,
    /// The counters after it; never lower than the head's.
    pub counters: Counters,
    /// The operation that creates it.
    pub source: Source,
    /// The actor that creates it.
    pub actor: ActorId,
    /// The applied operations, if known; reasons of archivings are taken from here.
    pub operations: Vec<AppliedOperation>,
    /// The changes of records: [`crate::domain::memory::project`] of the head's text and the new one.
    pub changes: Vec<RecordChange>,
    /// A description of the change.
    pub log: String,
    /// The run that creates it, saved in the same transaction.
    pub run: Option<Box<Run>>,
    /// An invalid run that this version completes by hand.
    pub resolves: Option<UpdateId>,
    /// Facts of tasks and decisions that the text does not contain.
    pub window: WindowRows,
    /// Why it archives records that no operation names: it was put or restored as a whole without them.
    pub left_out: Option<String>,
    /// The answer to the request, if it has an idempotency key; stored with the version under the claim, which must be held.
    pub answer: Option<ClaimedAnswer>,
}

impl NewVersion {
    /// A version with this text, as any client may put it: the records in it are accepted as they are.
    #[must_use]
    pub fn of_text(head: &Head, text: String, source: Source, actor: ActorId) -> Self {
        let changes = project(&head.text, &text);
        // The other records of the text are in the head too, whose counters hold their numbers.
        let mut counters = head.counters;
        for change in &changes {
            if let RecordChange::Added(record) = change {
                counters.raise(record.id.kind, record.id.number);
            }
        }
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
            answer: None,
        }
    }

    /// Saves it under a claim, if there is one, with the answer to the request.
    pub fn answer_under<T>(&mut self, under: Option<&Answering<'_, T>>, done: &T) {
        self.answer = under.map(|under| under.to(done));
    }

    /// Its metadata when saved after a head.
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

    /// The origins of its lines, if the head's are known.
    pub(super) fn origins(&self, head: &Head) -> Option<Origins> {
        let before = head.origins.as_ref()?;
        Some(before.after(&head.text, &self.text, head.version + 1))
    }
}

/// The event of a new version.
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
