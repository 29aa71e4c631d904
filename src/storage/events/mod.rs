//! What happened in a vault, in an order that is the same for everybody: `events`.
//!
//! A writer adds its events in its own transaction (`append`), so that there is an event exactly if there is what it
//! tells of. Numbers given at that moment would become visible out of order, since transactions do not commit in the
//! order in which they insert, and a reader that saw 7 would never see a 6 that comes later. So a writer leaves the
//! sequence open, and whoever reads the vault first gives the next numbers to what is committed by then
//! (`sequence`), under the lock of the vault's row of `event_streams`. What has a number is complete and never
//! changes, so "behind number n" is an exact place for ever.
//!
//! Why not otherwise:
//! - *A counter row that every writer raises* gives the same order, but lets one writer of a vault commit at a time.
//! - *The transaction's id, read up to `pg_snapshot_xmin`*, costs nothing more, but one long transaction anywhere in
//!   the database holds back the events of all vaults; ids begin anew when a dump is restored; and they are those of
//!   one machine, so they cannot be compared once a cluster moves a vault to another.
//!
//! The order within a memory is that of its commits: its writers take turns at its row, so what is committed later is
//! numbered later, and what is numbered together is in the order of its time, versions in that of their numbers.
//!
//! A client's place ([`Place`]) holds a piece of the event's own id beside the number. A database that was put back to
//! an older state gives the same numbers to other events: the place does not fit any more, and the client is told to
//! begin anew instead of missing something.

mod purge;
mod read;
mod sequence;

pub use read::{Event, Place, Resumed, StreamState};

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::batcher::SmallWrite;
use crate::storage::database::connection::Connection;
use crate::storage::database::listen;
use crate::storage::database::notification::Notification;
use crate::storage::{Source, Storage, StorageError};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{Postgres, QueryBuilder};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Rows of one statement.
const ROWS_PER_STATEMENT: usize = 1_000;

/// Rows of a statement that stays prepared on its connection: each number of them is another one.
const USUAL_ROWS: usize = 4;

/// What an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A version was made.
    Version,
    /// An update made a step; `details.step` names it.
    Update,
    /// The handoff was built anew.
    Handoff,
    /// The memory was deleted.
    MemoryDeleted,
    /// A version was redacted; `details` has its number and id.
    Redacted,
    /// Prompt items of the memory were added, replaced or removed; `details` has the category.
    Items,
    /// An update waits to be approved.
    Proposed,
    /// A proposal was approved; its version, if it made one, has an event of its own.
    Approved,
    /// A proposal was rejected.
    Rejected,
}

impl EventKind {
    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An event to be written. It names things and never quotes a document.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// A UUID of version 7, from [`crate::clock::Clock::new_id`].
    pub event_id: String,
    /// Which memory.
    pub memory: MemoryId,
    /// What happened.
    pub kind: EventKind,
    /// When; of a version the version's time.
    pub created_at: DateTime<Utc>,
    /// The version that was made.
    pub version: Option<(i64, ContextId)>,
    /// Who did it.
    pub actor: Option<ActorId>,
    /// What made the version.
    pub source: Option<Source>,
    /// The run it belongs to.
    pub update_id: Option<UpdateId>,
    /// More, by kind; a small object without texts of the memory.
    pub details: Option<Value>,
}

impl NewEvent {
    /// An event that says nothing more yet.
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
        }
    }
}

impl Storage {
    /// An event of this moment that says nothing more yet.
    #[must_use]
    pub fn event(&self, memory: &MemoryId, kind: EventKind) -> NewEvent {
        NewEvent::new(
            self.clock.new_id().to_string(),
            memory.clone(),
            kind,
            self.clock.now(),
        )
    }

    /// Writes events in a transaction of their own, together with those of others that come meanwhile. Those that are
    /// there already stay as they are.
    ///
    /// # Errors
    /// The database's.
    pub async fn append_events(&self, vault: &VaultId, events: &[NewEvent]) -> Result<(), StorageError> {
        let events = events.to_vec();
        let vault = vault.clone();
        self.write_batched(Appended { vault, events }).await
    }

    /// Wakes the readers of this process, after the transaction that appended was committed. Those of others were
    /// woken by the commit; without this call the readers here may have to wait for their connection.
    pub(super) fn appended(&self, vault: &VaultId, events: &[NewEvent]) {
        for notification in notifications(vault, events) {
            self.notifications.publish(notification);
        }
    }
}

/// Events of a vault to be written.
#[derive(Debug)]
pub(super) struct Appended {
    vault: VaultId,
    events: Vec<NewEvent>,
}

impl SmallWrite for Appended {
    /// The instances are told by one of their own.
    const IS_ONE_STATEMENT: bool = false;

    async fn write(connection: &mut Connection, all: &[Self]) -> Result<(), StorageError> {
        let of_vaults: Vec<_> = all.iter().map(|of| (&of.vault, &*of.events)).collect();
        append_all(connection, &of_vaults).await
    }

    fn written(storage: &Storage, all: &[Self]) {
        for Self { vault, events } in all {
            storage.appended(vault, events);
        }
    }
}

/// Writes events inside a writer's transaction, and has all instances told of them when it commits. Afterwards
/// [`Storage::appended`] tells this one without a way round.
///
/// # Errors
/// The database's.
pub(super) async fn append(
    connection: &mut Connection,
    vault: &VaultId,
    events: &[NewEvent],
) -> Result<(), StorageError> {
    append_all(connection, &[(vault, events)]).await
}

/// As [`append`], those of several vaults together.
#[tracing::instrument(name = "db.events.append", skip_all)]
pub(super) async fn append_all(
    connection: &mut Connection,
    of_vaults: &[(&VaultId, &[NewEvent])],
) -> Result<(), StorageError> {
    let events: Vec<(&VaultId, &NewEvent)> = of_vaults
        .iter()
        .flat_map(|(vault, events)| events.iter().map(move |event| (*vault, event)))
        .collect();
    if events.is_empty() {
        return Ok(());
    }
    for rows in events.chunks(ROWS_PER_STATEMENT) {
        insert(connection, rows).await?;
    }
    let told: Vec<Notification> = of_vaults
        .iter()
        .flat_map(|(vault, events)| notifications(vault, events))
        .collect();
    listen::notify(connection, &told).await
}

/// Built at run time, since the number of rows differs; the text is constant but for the placeholders.
async fn insert(connection: &mut Connection, rows: &[(&VaultId, &NewEvent)]) -> Result<(), StorageError> {
    let mut statement = QueryBuilder::<Postgres>::new(
        "INSERT INTO events (vault_id, event_id, memory_id, kind, created_at, version, context_id, actor_id, source,
                             update_id, details) ",
    );
    statement.push_values(rows, |mut row, (vault, event)| {
        let (version, context) = event.version.as_ref().map(|(version, id)| (*version, id)).unzip();
        row.push_bind(vault.as_str())
            .push_bind(&event.event_id)
            .push_bind(event.memory.as_str())
            .push_bind(event.kind.name())
            .push_bind(event.created_at)
            .push_bind(version)
            .push_bind(context.map(ContextId::as_str))
            .push_bind(event.actor.as_ref().map(ActorId::as_str))
            .push_bind(event.source.map(Source::name))
            .push_bind(event.update_id.as_ref().map(UpdateId::as_str))
            .push_bind(event.details.as_ref());
    });
    statement.push(" ON CONFLICT (vault_id, event_id) DO NOTHING");
    let is_usual = rows.len() <= USUAL_ROWS;
    statement.build().persistent(is_usual).execute(connection).await?;
    Ok(())
}

/// What the instances are told of events: each memory once, with its newest version.
pub(super) fn notifications(vault: &VaultId, events: &[NewEvent]) -> Vec<Notification> {
    let mut told: Vec<Notification> = Vec::new();
    for event in events {
        let (version, context) = event.version.clone().unzip();
        let forget = matches!(event.kind, EventKind::MemoryDeleted | EventKind::Redacted);
        match told.iter_mut().find(|known| known.memory == event.memory) {
            Some(known) => {
                if version > known.version {
                    (known.version, known.context) = (version, context);
                }
                known.forget |= forget;
            }
            None => told.push(Notification {
                version,
                context,
                forget,
                ..Notification::of(vault, &event.memory)
            }),
        }
    }
    told
}
