//! `PutContext`'s transaction.

use super::Preconditions;
use super::change::{ChangeError, Decision, Likely};
use super::head::Head;
use super::new_version::NewVersion;
use crate::domain::changelog;
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{Collapse, RecordChange, collapse};
use crate::fair;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::IdempotencyClaim;
use crate::storage::{Storage, StorageError};

/// What is done about a put that loses much of what the document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guard {
    /// Nothing: nobody looks.
    Off,
    /// It is made and told.
    #[default]
    Warn,
    /// It is not made.
    Reject,
}

/// What a put came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// A new version was made, which loses this of the one before.
    Created(ContextMetadata, Vec<Collapse>),
    /// The text is the head's already; no version was made.
    Unchanged(ContextMetadata),
}

/// Why a put was not made.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// A precondition does not hold.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if the memory does not exist.
        current: Option<ContextId>,
    },
    /// The text would lose much of what the newest version says.
    #[error("the text would lose much of what the document says")]
    Collapses(Vec<Collapse>),
    /// The database failed; nothing was saved.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A text that is to be the newest version.
#[derive(Debug)]
pub struct PutJob {
    /// The vault.
    pub vault: VaultId,
    /// The memory; it is made if it does not exist.
    pub memory: MemoryId,
    /// The text, which must have passed [`crate::domain::document::check`].
    pub text: String,
    /// Who puts it.
    pub actor: ActorId,
    /// What has to hold of the newest version.
    pub preconditions: Preconditions,
    /// What is done if it loses much of the newest version.
    pub guard: Guard,
    /// The claim of the idempotency key under which it is put.
    pub idempotency: Option<IdempotencyClaim>,
}

/// What a put does besides making its version.
#[derive(Default)]
struct Effects {
    lost: Vec<Collapse>,
    /// Records that are active and were not.
    added: Vec<RecordId>,
}

/// What a put does to a head.
fn decide(job: &PutJob, head: &Head) -> Result<Decision<Effects>, PutError> {
    if !job
        .preconditions
        .hold(head.context_id.as_ref().map(ContextId::as_str))
    {
        return Err(PutError::PreconditionFailed {
            current: head.context_id.clone(),
        });
    }
    let text = job.text.as_str();
    if head.exists() && head.text == text {
        return Ok(Decision::Keep(Effects::default()));
    }
    let mut version = NewVersion::of_text(head, text.to_owned(), Source::Put, job.actor.clone());
    let lost = match job.guard {
        Guard::Off => Vec::new(),
        Guard::Warn | Guard::Reject => collapse(&head.text, text, &version.changes),
    };
    if job.guard == Guard::Reject && !lost.is_empty() {
        return Err(PutError::Collapses(lost));
    }
    version.idempotency.clone_from(&job.idempotency);
    version.log = changelog::of_text(&head.text, text, &version.changes);
    let added = version.changes.iter().filter_map(|change| match change {
        RecordChange::Added(record) => Some(record.id),
        RecordChange::Changed(_) | RecordChange::Archived(_) => None,
    });
    let added = match job.guard {
        Guard::Off => Vec::new(),
        Guard::Warn | Guard::Reject => added.collect(),
    };
    Ok(Decision::Save(Box::new(version), Effects { lost, added }))
}

impl Storage {
    /// Puts a text as the newest version, unless it is that already.
    ///
    /// # Errors
    /// As [`PutError`] says.
    pub async fn put_context(&self, job: PutJob) -> Result<Put, PutError> {
        let bytes = job.text.len();
        let decide = |head: &Head| fair::without_hogging(bytes, || decide(&job, head));
        let of = (&job.vault, &job.memory);
        let outcome = self.change_likely(of, Likely::Cached, &[], &decide).await;
        match outcome {
            Ok(outcome) => {
                match outcome.saved {
                    Some(metadata) => {
                        let Effects { mut lost, added } = outcome.result;
                        let reused = self.known_before(of, metadata.version, &added).await;
                        if let Ok(reused) = reused
                            && !reused.is_empty()
                        {
                            lost.push(Collapse::IdsReused(reused));
                        }
                        Ok(Put::Created(metadata, lost))
                    }
                    None => outcome.head.map(Put::Unchanged).ok_or(PutError::Storage(
                        StorageError::WrongRowCount {
                            statement: "db.memory_contexts.get",
                            expected: 1,
                            actual: 0,
                        },
                    )),
                }
            }
            Err(ChangeError::Refused(refused)) => Err(refused),
            Err(ChangeError::Storage(error)) => Err(error.into()),
        }
    }
}
