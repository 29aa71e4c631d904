//! A run of the pipeline, and its row.

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::storage::events::NewEvent;
use crate::storage::pages::size_of;
use crate::storage::updates::outcomes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Which route a run came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RunKind {
    /// `UpdateContext`.
    Update,
    /// `ApplyOperations`.
    Operations,
}

impl RunKind {
    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How a run ended, or where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RunStatus {
    /// It was accepted and waits in its memory's line.
    Queued,
    /// A worker has begun it.
    Running,
    /// A new version was saved.
    Applied,
    /// There was nothing to change.
    Unchanged,
    /// It was only tried.
    DryRun,
    /// Items stayed faulty and the caller asked to fail then.
    Invalid,
    /// A model failed, or the result could not be saved.
    Failed,
    /// The memory moved too often or against a precondition.
    Conflict,
    /// A faulty run that a person finished by hand.
    Resolved,
    /// It was called off before it saved anything.
    Cancelled,
    /// It waits for somebody to approve it.
    Proposed,
    /// Somebody approved it, and what of it held was saved.
    Approved,
    /// Somebody rejected it.
    Rejected,
    /// Nobody decided about it in time.
    Expired,
}

impl RunStatus {
    /// Whether the run has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The stored and shown name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One run.
#[derive(Debug, Clone)]
pub struct Run {
    /// The vault.
    pub vault_id: VaultId,
    /// The memory.
    pub memory_id: MemoryId,
    /// The run's id.
    pub update_id: UpdateId,
    /// Which route it came by.
    pub kind: RunKind,
    /// How it ended, or where it stands.
    pub status: RunStatus,
    /// Who asked for it.
    pub actor_id: ActorId,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When it ended; `None` if it has not.
    pub finished_at: Option<DateTime<Utc>>,
    /// How often it was begun.
    pub attempts: i32,
    /// The version it captured; 0 for a memory that did not exist.
    pub base_version: i64,
    /// The version that stands after it, with its id.
    pub version: Option<(i64, ContextId)>,
    /// The run that finished this one by hand.
    pub resolved_by: Option<UpdateId>,
    /// What was asked for, as JSON.
    pub request: Value,
    /// What each role was asked and answered, as JSON.
    pub exchanges: Value,
    /// The version that roles were shown, with its text, when the run is kept: what they quote of it is not kept again.
    pub shown: Option<(i64, Arc<str>)>,
    /// What came of it, as JSON.
    pub outcome: Value,
    /// The claim under which it runs, of one that was queued: its row is there already, and it is kept only if the
    /// claim still stands.
    pub claim: Option<String>,
    /// What is told of it when it is kept.
    pub events: Vec<NewEvent>,
}

pub(in crate::storage) struct Row {
    pub(in crate::storage) vault_id: VaultId,
    pub(in crate::storage) memory_id: MemoryId,
    pub(in crate::storage) update_id: UpdateId,
    pub(in crate::storage) kind: RunKind,
    pub(in crate::storage) status: RunStatus,
    pub(in crate::storage) actor_id: ActorId,
    pub(in crate::storage) created_at: DateTime<Utc>,
    pub(in crate::storage) finished_at: Option<DateTime<Utc>>,
    pub(in crate::storage) attempts: i32,
    pub(in crate::storage) base_version: i64,
    pub(in crate::storage) version: Option<i64>,
    pub(in crate::storage) context_id: Option<ContextId>,
    pub(in crate::storage) resolved_by: Option<UpdateId>,
    pub(in crate::storage) request: Value,
    pub(in crate::storage) exchanges: Value,
    pub(in crate::storage) outcome: Value,
    /// What the version that it made says of it.
    pub(in crate::storage) made: Option<Value>,
}

impl From<Row> for Run {
    fn from(row: Row) -> Self {
        Self {
            vault_id: row.vault_id,
            memory_id: row.memory_id,
            update_id: row.update_id,
            kind: row.kind,
            status: row.status,
            actor_id: row.actor_id,
            created_at: row.created_at,
            finished_at: row.finished_at,
            attempts: row.attempts,
            base_version: row.base_version,
            version: row.version.zip(row.context_id),
            resolved_by: row.resolved_by,
            request: row.request,
            exchanges: row.exchanges,
            shown: None,
            outcome: outcomes::unpack(row.outcome, row.version, row.made.as_ref()),
            claim: None,
            events: Vec::new(),
        }
    }
}

impl Run {
    /// Leaves out what the version that it makes says already; it is put together again when it is read.
    pub fn leave_to_its_version(&mut self) {
        outcomes::pack(&mut self.outcome);
    }

    /// About how many bytes it takes in a list.
    pub(in crate::storage) fn size(&self) -> usize {
        size_of(&self.request) + size_of(&self.exchanges) + size_of(&self.outcome)
    }
}
