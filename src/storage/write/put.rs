//! `PutContext`'s transaction.

use super::Preconditions;
use super::change::{Decision, Likely};
use super::error::WriteError;
use super::head::Head;
use super::new_version::NewVersion;
use crate::domain::changelog;
use crate::domain::document::records;
use crate::domain::ids::{ActorId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{Collapse, RecordChange, collapse};
use crate::fair;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::Answering;
use crate::storage::{Storage, StorageError};

/// How to treat a put that removes much of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guard {
    /// Not checked.
    Off,
    /// Accepted, with a warning.
    #[default]
    Warn,
    /// Rejected.
    Reject,
}

/// The result of a put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// A new version was created, with these losses compared to the previous one.
    Created(ContextMetadata, Vec<Collapse>),
    /// The head has this text already; no version was created.
    Unchanged(ContextMetadata),
}

/// A text to be saved as the newest version.
#[derive(Debug)]
pub struct PutJob {
    /// The vault.
    pub vault: VaultId,
    /// The memory; created if it does not exist.
    pub memory: MemoryId,
    /// The text, which must have passed [`crate::domain::document::check`].
    pub text: String,
    /// The actor.
    pub actor: ActorId,
    /// Conditions on the newest version.
    pub preconditions: Preconditions,
    /// How to treat a loss of much of the newest version.
    pub guard: Guard,
    /// The answer to store under the claim of the request's idempotency key.
    pub idempotency: Option<Answering<'static, Put>>,
}

/// Side effects of a put.
#[derive(Default)]
struct Effects {
    lost: Vec<Collapse>,
    /// Records that become active.
    added: Vec<RecordId>,
}

/// Decides a put.
fn decide(job: &PutJob, head: &Head) -> Result<Decision<Effects>, WriteError> {
    head.meets(&job.preconditions)?;
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
        return Err(WriteError::Collapses(lost));
    }
    version.log = changelog::of_text(changelog::PUT, (&head.text, text), &version.changes);
    let added = version.changes.iter().filter_map(|change| match change {
        RecordChange::Added(record) => Some(record.id),
        RecordChange::Changed { .. } | RecordChange::Archived(_) => None,
    });
    let added: Vec<RecordId> = match job.guard {
        Guard::Off => Vec::new(),
        Guard::Warn | Guard::Reject => added.collect(),
    };
    let mut effects = Effects { lost, added };
    if let Some(under) = &job.idempotency {
        // The answer is stored with the version, so it is complete now.
        let added = std::mem::take(&mut effects.added).into_iter();
        let reused = added.filter(|id| head.archived.contains(id)).collect();
        warn_of_reused(&mut effects.lost, reused);
        let metadata = version.metadata(&job.vault, &job.memory, head);
        let done = Put::Created(metadata, effects.lost.clone());
        version.answer_under(Some(under), &done);
    }
    Ok(Decision::Save(Box::new(version), effects))
}

fn warn_of_reused(lost: &mut Vec<Collapse>, reused: Vec<RecordId>) {
    if !reused.is_empty() {
        lost.push(Collapse::IdsReused(reused));
    }
}

impl Storage {
    /// Saves a text as the newest version, unless it is already.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn put_context(&self, job: PutJob) -> Result<Put, WriteError> {
        let bytes = job.text.len();
        let decide = |head: &Head| fair::run_blocking_if_long(bytes, || decide(&job, head));
        let of = (&job.vault, &job.memory);
        let outcome = match &job.idempotency {
            None => match self.change_optimistic(of, Likely::Cached, &decide).await? {
                Some(outcome) => outcome,
                None => self.change(of.0, of.1, &[], decide).await?,
            },
            Some(_) => {
                let mentioned: Vec<RecordId> = records(&job.text).iter().map(|record| record.id).collect();
                self.change(of.0, of.1, &mentioned, decide).await?
            }
        };
        match outcome.saved {
            Some(metadata) => {
                let Effects { mut lost, added } = outcome.result;
                let reused = self.known_before(of, metadata.version, &added).await;
                warn_of_reused(&mut lost, reused.unwrap_or_default());
                Ok(Put::Created(metadata, lost))
            }
            None => outcome
                .head
                .map(Put::Unchanged)
                .ok_or(WriteError::Storage(StorageError::WrongRowCount(
                    "db.memory_contexts.get",
                ))),
        }
    }
}
