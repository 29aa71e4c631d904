//! The events of a vault, in one order for all readers: `events`.
//!
//! A writer appends its events in its own transaction (`append`), so an event exists exactly if its change does. If
//! numbers were assigned at that moment, they would become visible out of order, because transactions do not commit in
//! the order in which they insert: a reader that has seen 7 would miss a 6 that is committed later. So a writer leaves
//! the number empty, and the first reader of the vault numbers what is committed by then (`sequence`), under a lock on
//! the vault's row of `event_streams`. Numbered events are complete and never change, so "after number n" is always an
//! exact position.
//!
//! Alternatives that were rejected:
//! - *A counter row that every writer increments* gives the same order, but serialises the commits of a vault.
//! - *The transaction id, read up to `pg_snapshot_xmin`*, costs nothing, but one long transaction anywhere in the
//!   database delays the events of all vaults; ids start again when a dump is restored; and they are local to a node,
//!   so they cannot be compared after a cluster moves a vault.
//!
//! Events of one memory are in commit order: its writers lock its row one after another, so what is committed later
//! gets a later number. Events numbered together are sorted by the database's `insert_order`, never by time: clocks of
//! instances differ, and clocks are set back.
//!
//! A client's position ([`Place`]) contains a part of the event's id besides the number. If the database was restored
//! to an older state, the same numbers are assigned to other events: the position no longer matches, and the client is
//! instructed to start again instead of missing events.

mod read;

pub use read::{Event, Place, StreamState};

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::listed;
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::notification::Notification;
use crate::storage::{Source, Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A version was created.
    Version,
    /// A step of an update; `details.step` is its name.
    Update,
    /// The handoff was rebuilt.
    Handoff,
    /// The memory was deleted.
    MemoryDeleted,
    /// A version was redacted; `details` has its number and id.
    Redacted,
    /// Prompt items of the memory were added, replaced or removed; `details` has the category.
    Items,
    /// An update waits for approval.
    Proposed,
    /// A proposal was approved; the version that it created, if any, has its own event.
    Approved,
    /// A proposal was rejected.
    Rejected,
}

listed! {
    /// What an event can tell of.
    EventKind as "EventKind";
}

impl EventKind {
    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An event to be written. It contains identifiers but never text of a document. Serialized as a step of the run that made
/// a version, whose statement knows the memory.
#[derive(Debug, Clone, Serialize)]
pub struct NewEvent {
    /// A UUID of version 7, from [`crate::clock::Clock::new_id`].
    pub event_id: String,
    /// Which memory.
    #[serde(skip)]
    pub memory: MemoryId,
    /// The kind.
    pub kind: EventKind,
    /// The time.
    pub created_at: DateTime<Utc>,
    /// The created version.
    #[serde(skip)]
    pub version: Option<(i64, ContextId)>,
    /// The actor.
    #[serde(rename = "actor_id")]
    pub actor: Option<ActorId>,
    /// The source of the version.
    #[serde(skip)]
    pub source: Option<Source>,
    /// The run it belongs to.
    pub update_id: Option<UpdateId>,
    /// Further data by kind: a small object without text of the memory.
    pub details: Option<Value>,
    /// Whether its memory's queue of updates changed: an update was added, handed back, given up or cancelled.
    #[serde(skip)]
    pub is_of_queue: bool,
}

impl NewEvent {
    /// An event without optional fields.
    #[must_use]
    pub fn new(event_id: String, memory: MemoryId, kind: EventKind, created_at: DateTime<Utc>) -> Self {
        Self {
            event_id,
            memory,
            kind,
            created_at,
            version: None,
            actor: None,
            source: None,
            update_id: None,
            details: None,
            is_of_queue: false,
        }
    }
}

impl Storage {
    /// An event of this moment without optional fields.
    #[must_use]
    pub fn event(&self, memory: &MemoryId, kind: EventKind) -> NewEvent {
        NewEvent::new(
            self.clock.new_id().to_string(),
            memory.clone(),
            kind,
            self.clock.now(),
        )
    }

    /// Writes events in a transaction of their own. Existing events stay unchanged.
    ///
    /// Its commit is not waited for on the disk: transactions that notify commit one after another, so writers of versions would
    /// wait for it too. A reader gets only numbered events, and numbering them is a commit behind this one in the log.
    ///
    /// # Errors
    /// Database errors.
    pub async fn append_events(&self, vault: &VaultId, events: &[NewEvent]) -> Result<(), StorageError> {
        self.transaction("db.events.append", |mut transaction| async move {
            sqlx::raw_sql("SET LOCAL synchronous_commit TO off")
                .execute(&mut transaction)
                .await?;
            append(&mut transaction, vault, events).await?;
            Ok::<_, StorageError>((transaction, ()))
        })
        .await
    }
}

/// Writes events inside a writer's transaction, and notifies all instances when it commits; this one directly, if it is one of
/// [`Storage::transaction`].
///
/// # Errors
/// Database errors.
pub(super) async fn append(
    connection: &mut Connection,
    vault: &VaultId,
    events: &[NewEvent],
) -> Result<(), StorageError> {
    if events.is_empty() {
        return Ok(());
    }
    for event in events {
        let (version, context) = event.version.as_ref().map(|(version, id)| (*version, id)).unzip();
        sqlx::query!(
            "INSERT INTO events (vault_id, event_id, memory_id, kind, created_at, version, context_id, actor_id, source,
                                 update_id, details)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
             ON CONFLICT (vault_id, event_id) DO NOTHING",
            vault.as_str(),
            event.event_id,
            event.memory.as_str(),
            event.kind.name(),
            event.created_at,
            version,
            context.map(ContextId::as_str),
            event.actor.as_ref().map(ActorId::as_str),
            event.source.map(Source::name),
            event.update_id.as_ref().map(UpdateId::as_str),
            event.details,
        )
        .execute(&mut *connection)
        .await?;
    }
    let notifications = notifications(vault, events);
    listen::notify(connection, &notifications).await?;
    connection.notifications.extend(notifications);
    Ok(())
}

/// The notifications of events: one for each memory, with its newest version.
fn notifications(vault: &VaultId, events: &[NewEvent]) -> Vec<Notification> {
    let mut found: Vec<Notification> = Vec::new();
    for event in events {
        let (version, context) = event.version.clone().unzip();
        let forget = matches!(event.kind, EventKind::MemoryDeleted | EventKind::Redacted);
        match found.iter_mut().find(|known| known.memory == event.memory) {
            Some(known) => {
                if version > known.version {
                    (known.version, known.context) = (version, context);
                }
                known.forget |= forget;
                known.queue |= event.is_of_queue;
            }
            None => found.push(Notification {
                version,
                context,
                forget,
                queue: event.is_of_queue,
                ..Notification::of(vault, &event.memory)
            }),
        }
    }
    found
}
