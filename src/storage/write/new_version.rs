//! A version that was decided, and the same with everything that is saved of it.

use super::head::Head;
use crate::domain::document::Origins;
use crate::domain::history::VersionMark;
use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::memory::{AppliedOperation, Counters, RecordChange, project};
use crate::domain::memory_files::FilePath;
use crate::domain::window::WindowRows;
use crate::storage::Storage;
use crate::storage::contexts::{Context, ContextMetadata, Source};
use crate::storage::database::notification::Notification;
use crate::storage::head_cache::{CachedHead, FillToken};
use crate::storage::idempotency::{Answering, ClaimedAnswer};
use crate::storage::memories::paths::FileTree;
use crate::storage::records::projection::{ChangedRecord, ProjectedVersion};
use crate::storage::updates::{Run, RunJson, quotes_the_head_only};
use crate::telemetry::meters;
use serde_json::Value;

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
    /// The path at which its memory, a new one, becomes a file.
    pub path: Option<(FileTree, FilePath)>,
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
            path: None,
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
}

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
    pub(in crate::storage) origins: Option<Origins>,
    /// The records that it changes.
    pub(super) records: Vec<ChangedRecord>,
    /// The id of its event.
    pub(super) event_id: String,
    /// The stored form of its run: made before it is saved in a batch, which others wait for.
    pub(super) run_json: Option<RunJson>,
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
        let operations = new.stored_operations();
        let version = ProjectedVersion {
            mark: VersionMark {
                version: metadata.version,
                at: metadata.creation_time,
                by: metadata.actor_id.clone(),
            },
            source: new.source,
            text: Some(&new.text),
            operations: operations.as_ref(),
        };
        let origins = head.origins.as_ref();
        Self {
            counted,
            records: version.changed_records(changes),
            origins: origins.map(|before| before.after(&head.text, &new.text, metadata.version)),
            operations,
            event_id: head.next_event_id,
            base: head.context_id,
            run_json: new.run.as_deref().map(RunJson::of),
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

    /// Tells the instances of it and of the steps of its run.
    pub(super) fn notification(&self) -> Notification {
        let metadata = &self.metadata;
        Notification {
            version: Some(metadata.version),
            context: Some(metadata.context_id.clone()),
            ..Notification::of(&metadata.vault_id, &metadata.memory_id)
        }
    }
}

impl Storage {
    /// Must be called for each version after its transaction was committed, before its writer is answered: caches the
    /// new head, and wakes readers of events. `token` was taken before the memory's row was locked.
    pub(in crate::storage) fn committed(&self, prepared: Prepared, token: FillToken) {
        let notification = prepared.notification();
        let Prepared {
            metadata, mut new, ..
        } = prepared;
        // It may stay in the cache for long, and its buffer is larger than needed.
        new.text.shrink_to_fit();
        metrics::counter!(meters::VERSIONS_TOTAL, "source" => metadata.source.name()).increment(1);
        let context = Context {
            metadata,
            text: new.text,
        };
        let head = CachedHead::new((context, prepared.origins));
        self.head_cache.fill_written(token, head);
        self.notifications.publish(notification);
        self.written.notify_one();
    }
}
