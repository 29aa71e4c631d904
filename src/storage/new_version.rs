//! A version in the making, and how it is stored with everything derived from it.

use super::contexts::{ContextMetadata, Source};
use super::events::{EventKind, NewEvent};
use super::head::{Head, move_head};
use super::record_changes::{self, Place, VersionChanges};
use super::updates::{Run, insert_run, resolve_run};
use super::window::{self, WindowRows};
use super::{StorageError, origins};
use crate::domain::document::Origins;
use crate::domain::ids::{ActorId, MemoryId, UpdateId, VaultId};
use crate::domain::memory::{AppliedOperation, Counters, RecordChange, project_and_count};
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::slice::from_ref;

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
}

impl NewVersion {
    /// A version with this text, as anybody may put it: the records it names are taken as they are.
    #[must_use]
    pub fn of_text(head: &Head, text: String, source: Source, actor: ActorId) -> Self {
        let (changes, seen) = project_and_count(&head.text, &text);
        let counters = head.counters.raised_by(&seen);
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
        }
    }

    /// What it will be known by on top of a head.
    pub(super) fn metadata(&self, vault: &VaultId, memory: &MemoryId, head: &Head) -> ContextMetadata {
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

    /// What it does to the records of its memory.
    pub(super) fn record_changes<'a>(&'a self, saved: &'a ContextMetadata) -> VersionChanges<'a> {
        VersionChanges {
            place: Place::of(saved),
            changes: &self.changes,
            operations: &self.operations,
            superseded: self.window.superseded,
        }
    }

    /// What it does, as it is kept with it; `None` if that is not known.
    pub(super) fn told(&self) -> Option<Value> {
        let all = self.operations.iter().map(|operation| {
            json!({
                "op": operation.op.name(),
                "id": operation.id.map(|id| id.to_string()),
                "label": operation.label,
                "reason": operation.reason,
                "content": operation.content,
            })
        });
        let mut all: Vec<Value> = all.collect();
        self.window.tell(&mut all);
        (!all.is_empty()).then_some(Value::Array(all))
    }
}

/// Stores a version on top of a head whose row is locked, with everything derived from it.
pub(super) async fn save_version(
    connection: &mut PgConnection,
    vault: &VaultId,
    memory: &MemoryId,
    head: &Head,
    new: &NewVersion,
) -> Result<ContextMetadata, StorageError> {
    let saved = new.metadata(vault, memory, head);
    let line_origins = new.origins(head).and_then(|origins| origins::to_stored(&origins));
    move_head(connection, vault, memory, head, &new.counters).await?;
    sqlx::query!(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, update_id, operations, log, line_origins)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        vault.as_str(),
        memory.as_str(),
        saved.context_id.as_str(),
        saved.actor_id.as_str(),
        new.text,
        saved.creation_time,
        saved.version,
        saved.source.name(),
        saved.bytes,
        saved.update_id.as_ref().map(UpdateId::as_str),
        new.told(),
        new.log,
        line_origins.as_deref(),
    )
    .execute(&mut *connection)
    .await?;
    let changes = new.record_changes(&saved);
    record_changes::save(connection, from_ref(&changes)).await?;
    window::save(connection, &changes.place, &new.window).await?;
    if let Some(run) = &new.run {
        insert_run(connection, run).await?;
        if let Some(resolved) = &new.resolves {
            resolve(connection, run, resolved).await?;
        }
    }
    Ok(saved)
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
    connection: &mut PgConnection,
    by: &Run,
    resolved: &UpdateId,
) -> Result<(), StorageError> {
    if resolve_run(connection, &by.vault_id, &by.memory_id, resolved, &by.update_id).await? {
        Ok(())
    } else {
        Err(StorageError::AlreadyResolved(resolved.clone()))
    }
}
