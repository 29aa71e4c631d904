//! Why an update came to nothing.

use super::report::Rejection;
use crate::domain::ids::{ContextId, RecordId, RecordKind, UpdateId};
use crate::domain::memory::IdsExhausted;
use crate::domain::operation::Role;
use crate::storage::StorageError;
use crate::storage::updates::RunStatus;
use chrono::{DateTime, Utc};

/// Why an update came to nothing. In every case no version was saved; where a run was kept, its id is told.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A precondition does not hold for the head.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if the memory does not exist.
        current: Option<ContextId>,
    },
    /// As many updates of this memory as may wait are waiting.
    #[error("{limit} updates of this memory are running or waiting")]
    QueueFull {
        /// How many may.
        limit: usize,
    },
    /// The vault's models have read and written as many tokens today as they may.
    #[error("the models of this vault have used {spent} tokens today, and may use {limit} a day")]
    TokensSpent {
        /// How many they used.
        spent: u64,
        /// How many they may use.
        limit: u64,
        /// When the next day begins.
        opens_at: DateTime<Utc>,
        /// Seconds until then, at least 1.
        retry_after: u64,
    },
    /// As many updates as may be accepted have still to be run.
    #[error("{limit} updates of this {of} are queued")]
    LineFull {
        /// Of what: `memory` or `vault`.
        of: &'static str,
        /// How many may.
        limit: i64,
        /// The configured limit's name.
        limit_name: &'static str,
    },
    /// As many updates of this vault as may run at once are running.
    #[error("{limit} updates of this vault are running")]
    VaultBusy {
        /// How many may.
        limit: usize,
    },
    /// As many updates as may run at once are running.
    #[error("the service is running as many updates as it can")]
    Busy {
        /// How many may.
        limit: usize,
    },
    /// An update that was queued cannot be run as it is kept.
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
        /// Whose model.
        role: Role,
        /// It did not answer in time, in contrast to answering badly.
        timed_out: bool,
        /// Whether it may do better later.
        retryable: bool,
        /// A sentence fit for the caller.
        detail: String,
    },
    /// Items stayed faulty, and the caller asked to fail then.
    #[error("{} items stayed faulty", rejected.len() + more)]
    Invalid {
        /// The run, to be finished by hand.
        update_id: UpdateId,
        /// What is faulty.
        rejected: Vec<Rejection>,
        /// How many more are.
        more: usize,
    },
    /// The document would exceed its cap.
    #[error("the document would have {bytes} bytes, more than {limit}")]
    TooLarge {
        /// The run.
        update_id: UpdateId,
        /// Its size now.
        before: usize,
        /// The size it would have.
        bytes: usize,
        /// The cap.
        limit: usize,
    },
    /// A record kind has used up its numbers.
    #[error("{}", IdsExhausted { kind: *kind })]
    IdsExhausted {
        /// The run.
        update_id: UpdateId,
        /// Which kind.
        kind: RecordKind,
    },
    /// Progress moved under the update again and again.
    #[error("progress moved {rebases} times while it was being rewritten")]
    Conflict {
        /// The run.
        update_id: UpdateId,
        /// How often it was asked again.
        rebases: u32,
    },
    /// The memory was deleted while the update ran; no run was kept.
    #[error("the memory was deleted while the update ran")]
    Deleted,
    /// The task to be recorded has an id that belongs to one that says something else.
    #[error("task_id belongs to {record} already, which says something else")]
    OtherTask {
        /// The run.
        update_id: UpdateId,
        /// The record of the other task.
        record: RecordId,
    },
    /// The proposal can never be decided any more.
    #[error("proposal {update_id} is gone: {why}")]
    ProposalGone {
        /// Which run.
        update_id: UpdateId,
        /// What became of it.
        why: &'static str,
    },
    /// The run is no proposal that waits.
    #[error("run {update_id} is {status}")]
    NotProposed {
        /// Which run.
        update_id: UpdateId,
        /// What it is instead of `proposed`.
        status: &'static str,
    },
    /// The key that proposed it is to approve it.
    #[error("a key never approves its own proposal")]
    OwnProposal {
        /// Which run.
        update_id: UpdateId,
    },
    /// What is to be approved is not in the proposal.
    #[error("{problem}")]
    UnknownOperations {
        /// Which run.
        update_id: UpdateId,
        /// A sentence.
        problem: String,
        /// How many operations it has.
        count: usize,
    },
    /// The run does not exist.
    #[error("there is no run {0}")]
    UnknownRun(UpdateId),
    /// The run to be finished by hand is not one that waits for it.
    #[error("run {update_id} is {status}")]
    NotResolvable {
        /// Which run.
        update_id: UpdateId,
        /// What it is instead of `invalid`.
        status: &'static str,
    },
    /// The database failed.
    #[error(transparent)]
    Storage(StorageError),
}

impl PipelineError {
    /// Whether it is a model's failure, and the same update may do better later.
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
            other => Self::Storage(other),
        }
    }
}
