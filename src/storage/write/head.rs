//! The head of a memory: its row, locked until the transaction ends, and the content of the newest version; and the preconditions
//! of a write, which are checked against it (RFC 9110 section 13).

use crate::domain::document::Origins;
use crate::domain::history::RecordLife;
use crate::domain::ids::{ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::Counters;
use crate::domain::window::KnownEntries;
use crate::storage::contexts::{self, Context, ContextMetadata, origins};
use crate::storage::database::connection::Connection;
use crate::storage::memories::paths::Found;
use crate::storage::{Storage, StorageError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The state of a memory that a change is decided on: read while its row is locked, or a snapshot of it.
#[derive(Debug, Clone)]
pub struct Head {
    /// The newest version's number; 0 if the memory does not exist.
    pub version: i64,
    /// The identity of the memory, which no other has, not even one made later under the same id; `None` if the memory
    /// did not exist, or was not read from the database.
    pub identity: Option<String>,
    /// The newest version's id.
    pub context_id: Option<ContextId>,
    /// The newest version; unknown where only a snapshot was read.
    pub metadata: Option<ContextMetadata>,
    /// The newest version's text; empty if the memory does not exist.
    pub text: String,
    /// The origins of its lines, if known.
    pub(in crate::storage) origins: Option<Origins>,
    /// The highest numbers ever assigned.
    pub counters: Counters,
    /// Which of the mentioned records are archived: this and the following as [`AlsoRead`](super::AlsoRead) asked for.
    pub archived: BTreeSet<RecordId>,
    /// The named version, if it exists.
    pub(super) named: Option<Context>,
    /// The record of the task, if it exists.
    pub task: Option<RecordLife>,
    /// All tasks and decisions.
    pub(super) entries: KnownEntries,
    /// What is at the path.
    pub(in crate::storage) at_path: Option<Found>,
    /// In a snapshot of a memory that did not exist: the event of its last deletion, if there is one.
    pub(super) deletion: Option<String>,
    /// The time of the change: now, but never before the newest version.
    pub now: DateTime<Utc>,
    /// The id of the next version.
    pub next_context_id: ContextId,
    /// The id of the next version's event.
    pub(in crate::storage) next_event_id: String,
}

impl Head {
    /// Checks the preconditions of a write.
    ///
    /// # Errors
    /// They do not hold for the newest version.
    pub fn meets(&self, preconditions: &Preconditions) -> Result<(), PreconditionFailed> {
        preconditions.check(self.context_id.as_ref(), Some(self.version))
    }

    /// Whether the memory exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > 0
    }
}

impl Storage {
    /// The head of an empty memory, for a change at the current time, but never before `changed_at`.
    pub(super) fn empty_head(&self, changed_at: DateTime<Utc>) -> Head {
        Head {
            version: 0,
            identity: None,
            context_id: None,
            metadata: None,
            text: String::new(),
            origins: None,
            counters: Counters::default(),
            archived: BTreeSet::new(),
            named: None,
            task: None,
            entries: KnownEntries::default(),
            at_path: None,
            deletion: None,
            now: self.clock.now().max(changed_at),
            next_context_id: self.clock.new_id().into(),
            next_event_id: self.clock.new_id().to_string(),
        }
    }

    /// Locks the memory's row, creates it if it does not exist, and reads the head.
    pub(in crate::storage) async fn lock_head(
        &self,
        connection: &mut Connection,
        of: (&VaultId, &MemoryId),
    ) -> Result<Head, StorageError> {
        let (vault, memory) = of;
        let row = self.lock_or_insert(connection, vault, memory).await?;
        // Read after the lock was granted, so that a writer that waited has a later time than the one it waited for.
        let mut head = Head {
            version: row.version,
            identity: row.identity,
            context_id: row.context_id,
            origins: Some(Origins::default()),
            counters: row.counters,
            ..self.empty_head(row.changed_at)
        };
        if head.exists() {
            let newest = contexts::latest(connection, vault, memory).await?;
            let (newest, origins) = newest
                .filter(|(newest, _)| newest.metadata.version == head.version)
                .ok_or_else(|| {
                    let row = format!("({vault}, {memory})");
                    let problem = format_args!("version {} is not there", head.version);
                    StorageError::corrupt(("memories", "head_version"), row, problem)
                })?;
            head.metadata = Some(newest.metadata);
            head.text = newest.text;
            head.origins = origins;
        }
        Ok(head)
    }

    /// Locks a memory's row, which is made if there is none.
    pub(in crate::storage) async fn lock_or_insert(
        &self,
        connection: &mut Connection,
        vault: &VaultId,
        memory: &MemoryId,
    ) -> Result<LockedMemory, StorageError> {
        if let Some(row) = lock_memory(connection, vault, memory).await? {
            return Ok(row);
        }
        let is_own = insert_memory(connection, vault, memory, self.clock.now()).await?;
        let row = lock_memory(connection, vault, memory).await?;
        let row = row.ok_or(StorageError::WrongRowCount("db.memories.lock"))?;
        Ok(LockedMemory {
            identity: row.identity.filter(|_| !is_own),
            ..row
        })
    }
}

/// The row of a memory, locked until the transaction ends.
pub(in crate::storage) struct LockedMemory {
    pub(in crate::storage) version: i64,
    /// `None` if this transaction made the row.
    pub(in crate::storage) identity: Option<String>,
    pub(in crate::storage) context_id: Option<ContextId>,
    counters: Counters,
    pub(in crate::storage) changed_at: DateTime<Utc>,
}

/// Locks a memory's row; `None` if it does not exist, or is deleted while the lock is waited for.
pub(in crate::storage) async fn lock_memory(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
) -> Result<Option<LockedMemory>, StorageError> {
    let row = sqlx::query!(
        "SELECT head_version, identity, head_context_id, counters, changed_at
         FROM memories
         WHERE vault_id = $1 AND memory_id = $2
         FOR UPDATE",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(LockedMemory {
        version: row.head_version,
        identity: Some(row.identity),
        context_id: row.head_context_id,
        counters: Counters::of_numbers(&row.counters),
        changed_at: row.changed_at,
    }))
}

/// Inserts the row of a memory; locks the one that another transaction has inserted meanwhile. Returns whether it inserted it.
async fn insert_memory(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    now: DateTime<Utc>,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "INSERT INTO memories (vault_id, memory_id, head_version, created_at, changed_at)
         VALUES ($1, $2, 0, $3, $3)
         ON CONFLICT (vault_id, memory_id) DO UPDATE SET head_version = memories.head_version WHERE false",
        vault.as_str(),
        memory.as_str(),
        now,
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

impl Storage {
    /// Reads the head from the database, without a lock.
    ///
    /// # Errors
    /// Database errors.
    pub async fn head_snapshot(&self, vault: &VaultId, memory: &MemoryId) -> Result<Head, StorageError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query!(
            r#"SELECT m.head_version, m.head_context_id, COALESCE(c.context, '') AS "context!", c.line_origins, m.identity,
                      m.counters, m.changed_at
             FROM memories m
             LEFT JOIN memory_contexts c ON c.vault_id = $1 AND c.memory_id = $2 AND c.version = m.head_version
             WHERE m.vault_id = $1 AND m.memory_id = $2"#,
            vault.as_str(),
            memory.as_str(),
        )
        .fetch_optional(&mut reader)
        .await?;
        // One that has only prompt items ends with them, and is not deleted by that.
        let Some(row) = row.filter(|row| row.head_version > 0) else {
            return Ok(Head {
                deletion: last_deletion(&mut reader, (vault, memory)).await?,
                ..self.empty_head(DateTime::UNIX_EPOCH)
            });
        };
        Ok(Head {
            version: row.head_version,
            identity: Some(row.identity),
            context_id: row.head_context_id,
            origins: row
                .line_origins
                .and_then(|stored| origins::from_stored(&stored, &row.context)),
            text: row.context,
            counters: Counters::of_numbers(&row.counters),
            ..self.empty_head(row.changed_at)
        })
    }

    /// The same head, for a change at the current time.
    pub(super) fn head_now(&self, snapshot: &Head) -> Head {
        let new = self.empty_head(snapshot.now);
        Head {
            now: new.now,
            next_context_id: new.next_context_id,
            next_event_id: new.next_event_id,
            ..snapshot.clone()
        }
    }
}

impl Head {
    /// Fails if the memory did not exist when this snapshot was read, and was made and deleted since: what began then is
    /// not to bring it back. Under the lock of the memory's row.
    pub(super) async fn must_not_have_been_deleted(
        &self,
        connection: &mut Connection,
        of: (&VaultId, &MemoryId),
    ) -> Result<(), StorageError> {
        if self.identity.is_some() {
            return Ok(());
        }
        match last_deletion(connection, of).await? {
            // None if the event that was there has been purged since.
            Some(last) if self.deletion.as_ref() != Some(&last) => Err(StorageError::MemoryDeleted),
            _ => Ok(()),
        }
    }
}

/// The event of the last deletion of a memory, while events are kept.
async fn last_deletion(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
) -> Result<Option<String>, StorageError> {
    let event = sqlx::query_scalar!(
        "SELECT event_id FROM events
         WHERE vault_id = $1 AND memory_id = $2 AND kind = 'memory_deleted'
         ORDER BY insert_order DESC
         LIMIT 1",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(event)
}

/// The tags of an `If-Match` or `If-None-Match` header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityTags {
    /// `*`: any existing memory.
    Any,
    /// These tags, unquoted. A weak tag never matches a write and is omitted.
    List(Vec<String>),
}

impl EntityTags {
    /// Whether the memory's current tag (`None`: no memory) is among them.
    #[must_use]
    pub fn contains(&self, current: Option<&str>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::List(tags), Some(current)) => tags.iter().any(|tag| tag == current),
        }
    }
}

/// The conditions of a write; without any it is unconditional.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Preconditions {
    /// The head must be one of these.
    pub if_match: Option<EntityTags>,
    /// The head must be none of these; `*` means that the memory must not exist.
    pub if_none_match: Option<EntityTags>,
}

/// The preconditions of a write do not hold for what stands there. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the precondition does not hold")]
pub struct PreconditionFailed {
    /// The id of the newest version; `None` if there is none.
    pub current: Option<ContextId>,
    /// Its number, if it was read.
    pub version: Option<i64>,
}

impl Preconditions {
    /// Checks them for a head: the id and the number of the newest version.
    ///
    /// # Errors
    /// They do not hold.
    pub fn check(&self, current: Option<&ContextId>, version: Option<i64>) -> Result<(), PreconditionFailed> {
        let is_named = |tags: &EntityTags| tags.contains(current.map(ContextId::as_str));
        let is_excluded = self.if_none_match.as_ref().is_some_and(is_named);
        if self.if_match.as_ref().is_none_or(is_named) && !is_excluded {
            return Ok(());
        }
        let current = current.cloned();
        let version = version.filter(|_| current.is_some());
        Err(PreconditionFailed { current, version })
    }
}
