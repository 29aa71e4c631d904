//! A run of the pipeline and its row.

use crate::domain::ids::{ActorId, ContextId, MemoryId, UpdateId, VaultId};
use crate::domain::listed;
use crate::storage::StorageError;
use crate::storage::events::NewEvent;
use crate::storage::pages::size_of;
use crate::storage::updates::{exchanges, outcomes};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// The operation that started a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RunKind {
    /// `UpdateContext`.
    Update,
    /// `ApplyOperations`.
    Operations,
    /// `ConsolidateMemory`.
    Consolidation,
}

impl RunKind {
    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum RunStatus {
    /// It was accepted and waits in the queue of its memory.
    Queued,
    /// A worker is running it.
    Running,
    /// A new version was saved.
    Applied,
    /// There was nothing to change.
    Unchanged,
    /// It was a dry run; nothing was saved.
    DryRun,
    /// Some items stayed invalid, and the caller wanted the run to fail in this case.
    Invalid,
    /// A model failed, or the result could not be saved.
    Failed,
    /// The memory changed too often, or a precondition failed.
    Conflict,
    /// An invalid run that was completed by hand.
    Resolved,
    /// It was cancelled before it saved anything.
    Cancelled,
    /// It waits for approval.
    Proposed,
    /// It was approved, and its valid parts were saved.
    Approved,
    /// It was rejected.
    Rejected,
    /// It was not decided in time.
    Expired,
}

listed! {
    /// The routes a run can come by.
    RunKind as "RunKind";
    /// Where a run can stand, and how it can end.
    RunStatus as "RunStatus";
}

impl RunStatus {
    /// Whether the run has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The name in storage and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One run of `/update` or `/operations`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Run {
    /// The run's id.
    #[schema(value_type = String)]
    pub update_id: UpdateId,
    /// The vault.
    #[schema(value_type = String)]
    pub vault_id: VaultId,
    /// The memory.
    #[schema(value_type = String)]
    pub memory_id: MemoryId,
    /// Which route it came by.
    pub kind: RunKind,
    /// How it ended, or where it stands.
    pub status: RunStatus,
    /// Who asked for it.
    #[schema(value_type = String)]
    pub actor_id: ActorId,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When it ended; null while it is queued or running. Of a proposal that waits, when it was made.
    pub finished_at: Option<DateTime<Utc>>,
    /// How often it was begun.
    #[schema(minimum = 0)]
    pub attempts: i32,
    /// The version it captured; 0 for a memory that did not exist.
    #[schema(minimum = 0)]
    pub base_version: i64,
    /// The version that stood after it.
    pub version: Option<i64>,
    /// That version's id.
    #[schema(value_type = Option<String>)]
    pub context_id: Option<ContextId>,
    /// The run that finished this one by hand.
    #[schema(value_type = Option<String>)]
    pub resolved_by: Option<UpdateId>,
    /// What was asked for.
    pub request: Value,
    /// What each model was asked and answered; not in lists.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub exchanges: Value,
    /// What came of it.
    pub outcome: Value,
    /// The version that the roles received, with its text, for saving: quotations of it are not stored again.
    #[serde(skip)]
    pub shown: Option<(i64, String)>,
    /// The claim of a queued run. Its row exists already, and the run is saved only while the claim is held.
    #[serde(skip)]
    pub claim: Option<String>,
    /// The identity of the memory that it began with, for saving; `None` if there was none.
    #[serde(skip)]
    pub identity: Option<String>,
    /// Events to append when it is saved.
    #[serde(skip)]
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
    /// In their stored form.
    pub(in crate::storage) exchanges: Value,
    /// The texts of instructions that they refer to, by hash.
    pub(in crate::storage) instructions: Option<Value>,
    /// The text of the version that they refer to, if it exists.
    pub(in crate::storage) shown: Option<String>,
    pub(in crate::storage) outcome: Value,
    /// The parts of its outcome that are stored in the created version.
    pub(in crate::storage) made: Option<Value>,
}

impl TryFrom<Row> for Run {
    type Error = StorageError;

    fn try_from(row: Row) -> Result<Self, StorageError> {
        let (shown, instructions) = (row.shown.as_deref(), row.instructions.unwrap_or_default());
        let exchanges = exchanges::unpack(shown, &row.request, row.exchanges, &instructions);
        let exchanges = exchanges.map_err(|problem| {
            StorageError::corrupt(("updates", "exchanges"), row.update_id.as_str(), problem)
        })?;
        Ok(Self {
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
            version: row.version,
            context_id: row.context_id,
            resolved_by: row.resolved_by,
            request: row.request,
            exchanges,
            shown: None,
            outcome: outcomes::unpack(row.outcome, row.version, row.made.as_ref()),
            claim: None,
            identity: None,
            events: Vec::new(),
        })
    }
}

impl Run {
    /// A run that waits in the queue of its memory, which has this identity if it exists.
    #[must_use]
    pub fn queued(
        (vault_id, memory_id, identity): (VaultId, MemoryId, Option<String>),
        (update_id, kind): (UpdateId, RunKind),
        (actor_id, created_at): (ActorId, DateTime<Utc>),
        (base_version, request): (i64, Value),
    ) -> Self {
        Self {
            update_id,
            vault_id,
            memory_id,
            kind,
            status: RunStatus::Queued,
            actor_id,
            created_at,
            finished_at: None,
            attempts: 0,
            base_version,
            version: None,
            context_id: None,
            resolved_by: None,
            request,
            exchanges: json!([]),
            outcome: json!({}),
            shown: None,
            claim: None,
            identity,
            events: Vec::new(),
        }
    }

    /// How long it ran; `None` while it does, and of a decided proposal, which mostly waited.
    #[must_use]
    pub fn took(&self) -> Option<TimeDelta> {
        let has_waited = matches!(
            self.status,
            RunStatus::Approved | RunStatus::Rejected | RunStatus::Expired
        );
        let end = self.finished_at.filter(|_| !has_waited);
        end.map(|end| end - self.created_at)
    }

    /// Removes what the version that it creates contains; reading the run restores it.
    pub fn leave_to_its_version(&mut self) {
        outcomes::pack(&mut self.outcome);
    }

    /// Its approximate size in a list, in bytes.
    pub(in crate::storage) fn size(&self) -> usize {
        size_of(&self.request) + size_of(&self.exchanges) + size_of(&self.outcome)
    }
}
