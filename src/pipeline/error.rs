//! Errors of updates.

use super::report::Rejection;
use crate::domain::ids::{RecordId, UpdateId};
use crate::domain::memory::EditError;
use crate::domain::operation::Role;
use crate::storage::updates::RunStatus;
use crate::storage::{PreconditionFailed, StorageError, TransactionError};
use chrono::{DateTime, Utc};

/// A limit of the updates that run or wait.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}")]
pub struct LimitReached {
    /// A sentence for the client.
    pub what: String,
    /// The limit.
    pub limit: usize,
    /// Its name in the configuration.
    pub name: &'static str,
}

impl LimitReached {
    /// The limit of the service as a whole.
    pub const OF_SERVICE: &'static str = "pipeline.concurrent_updates";
    /// The limit of what runs or waits of one memory.
    pub(super) const OF_MEMORY: &'static str = "pipeline.queue_per_memory";

    /// As many of these as may do run or wait.
    pub(super) fn of(things: &str, limit: usize, name: &'static str) -> Self {
        let what = format!("{limit} {things} are running or waiting");
        Self { what, limit, name }
    }
}

/// Why an update failed. No version was saved. If the run was stored, the error contains its id.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A precondition does not hold for the head.
    #[error(transparent)]
    PreconditionFailed(#[from] PreconditionFailed),
    /// A limit is reached.
    #[error(transparent)]
    Full(#[from] LimitReached),
    /// The vault's models have used the daily token limit.
    #[error("the models of this vault have used {spent} tokens today, and may use {limit} a day")]
    TokensSpent {
        /// Tokens used today.
        spent: u64,
        /// Tokens allowed per day.
        limit: u64,
        /// The setting that limits them.
        setting: &'static str,
        /// When the next day begins (UTC).
        opens_at: DateTime<Utc>,
        /// Seconds until then, at least 1.
        retry_after: u64,
    },
    /// A queued update cannot be read from its row.
    #[error("{problem}")]
    Unreadable {
        /// The run.
        update_id: UpdateId,
        /// Why.
        problem: String,
    },
    /// A role's model failed after its retries.
    #[error("the {} model failed: {detail}", role.name())]
    ModelFailed {
        /// The run.
        update_id: UpdateId,
        /// The role whose model failed.
        role: Role,
        /// It timed out, as opposed to an invalid answer.
        timed_out: bool,
        /// Whether a retry may succeed.
        retryable: bool,
        /// A sentence that is safe to return to the caller.
        detail: String,
    },
    /// Items are still faulty after the repair, and the caller chose `on_invalid: fail`.
    #[error("{} items stayed faulty", rejected.len() + more)]
    Invalid {
        /// The run, which a person can finish.
        update_id: UpdateId,
        /// The faulty items.
        rejected: Vec<Rejection>,
        /// How many more there are.
        more: usize,
    },
    /// The document would exceed its cap, or a record kind has no ids left.
    #[error("{error}")]
    Edit {
        /// The run.
        update_id: UpdateId,
        /// Why the document was not changed.
        error: EditError,
    },
    /// Another writer changed progress in every attempt.
    #[error("progress moved {rebases} times while it was being rewritten")]
    Conflict {
        /// The run.
        update_id: UpdateId,
        /// How often the progress role was asked again.
        rebases: u32,
    },
    /// The memory was deleted while the update ran. No run was stored.
    #[error("the memory was deleted while the update ran")]
    Deleted,
    /// A version that it may quote was redacted while it ran, so its faults are not told. Nothing was saved.
    #[error("a version that it may quote was redacted while it ran")]
    Redacted,
    /// The `task_id` to record already belongs to a task with different content.
    #[error("task_id belongs to {record} already, which says something else")]
    OtherTask {
        /// The run.
        update_id: UpdateId,
        /// The record of that task.
        record: RecordId,
    },
    /// The proposal can no longer be decided.
    #[error("proposal {update_id} is gone: {why}")]
    ProposalGone {
        /// Which run.
        update_id: UpdateId,
        /// Why.
        why: &'static str,
    },
    /// The run is not a pending proposal.
    #[error("run {update_id} is {status}")]
    NotProposed {
        /// Which run.
        update_id: UpdateId,
        /// Its status, which is not `proposed`.
        status: &'static str,
        /// Who decided about it, and when, if somebody did.
        review: Option<(String, DateTime<Utc>)>,
    },
    /// The key that made a proposal tries to approve it.
    #[error("a key never approves its own proposal")]
    OwnProposal {
        /// Which run.
        update_id: UpdateId,
    },
    /// The approval names operations that the proposal does not contain.
    #[error("{problem}")]
    UnknownOperations {
        /// Which run.
        update_id: UpdateId,
        /// A sentence that describes the problem.
        problem: String,
        /// How many operations the proposal has.
        count: usize,
    },
    /// The run does not exist.
    #[error("there is no run {0}")]
    UnknownRun(UpdateId),
    /// The run to resolve is not waiting to be resolved.
    #[error("run {update_id} is {status}")]
    NotResolvable {
        /// Which run.
        update_id: UpdateId,
        /// Its status, which is not `invalid`.
        status: &'static str,
    },
    /// The database failed.
    #[error(transparent)]
    Storage(StorageError),
}

impl PipelineError {
    /// The status of a run that ends with it; `None` if no run began.
    pub(super) fn status(&self) -> Option<RunStatus> {
        match self {
            Self::PreconditionFailed(_) | Self::Conflict { .. } | Self::OtherTask { .. } | Self::Deleted => {
                Some(RunStatus::Conflict)
            }
            Self::Invalid { .. } => Some(RunStatus::Invalid),
            Self::ModelFailed { .. } | Self::Edit { .. } | Self::Storage(_) => Some(RunStatus::Failed),
            _ => None,
        }
    }

    /// Whether this is a model failure and a retry of the same update may succeed.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::ModelFailed { retryable: true, .. })
    }
}

impl From<StorageError> for PipelineError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::AlreadyResolved(update_id) => Self::NotResolvable {
                update_id,
                status: RunStatus::Resolved.name(),
            },
            StorageError::MemoryDeleted => Self::Deleted,
            other => Self::Storage(other),
        }
    }
}

impl TransactionError for PipelineError {
    fn of_storage(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            _ => None,
        }
    }
}
