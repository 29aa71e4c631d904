//! `PutContext`'s transaction.

use super::Preconditions;
use super::change::{AlsoRead, Decision};
use super::error::WriteError;
use super::head::Head;
use super::new_version::NewVersion;
use crate::config::limits::Guard;
use crate::domain::changelog;
use crate::domain::document::records;
use crate::domain::ids::{ActorId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{Collapse, RecordChange, collapse};
use crate::fair;
use crate::storage::Storage;
use crate::storage::contexts::{ContextMetadata, Source};
use crate::storage::idempotency::Answering;

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

/// Decides a put. Returned with its result: the records that become active, if it is not known yet which of them were
/// archived.
fn decide(job: &PutJob, head: &Head) -> Result<Decision<(Put, Vec<RecordId>)>, WriteError> {
    head.meets(&job.preconditions)?;
    let text = job.text.as_str();
    if let Some(newest) = head.metadata.as_ref().filter(|_| head.text == text) {
        return Ok(Decision::Keep((Put::Unchanged(newest.clone()), Vec::new())));
    }
    let mut version = NewVersion::of_text(head, text.to_owned(), Source::Put, job.actor.clone());
    let (mut lost, mut added) = (Vec::new(), Vec::new());
    if job.guard != Guard::Off {
        lost = collapse(&head.text, text, &version.changes);
        added.extend(version.changes.iter().filter_map(|change| match change {
            RecordChange::Added(record) => Some(record.id),
            RecordChange::Changed { .. } | RecordChange::Archived(_) => None,
        }));
    }
    if job.guard == Guard::Reject && !lost.is_empty() {
        return Err(WriteError::Collapses(lost));
    }
    version.log = changelog::of_text(changelog::PUT, (&head.text, text), &version.changes);
    if job.idempotency.is_some() {
        // The answer is stored with the version, so it is complete now.
        added.retain(|id| head.archived.contains(id));
        warn_of_reused(&mut lost, std::mem::take(&mut added));
    }
    let done = Put::Created(version.metadata(&job.vault, &job.memory, head), lost);
    version.answer_under(job.idempotency.as_ref(), &done);
    Ok(Decision::Save(Box::new(version), (done, added)))
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
        let optimistic = match &job.idempotency {
            None => self.change_optimistic(of, None, &decide).await?,
            Some(_) => None,
        };
        let (put, added) = match optimistic {
            Some(done) => done,
            None => {
                let mentioned: Vec<RecordId> = match &job.idempotency {
                    None => Vec::new(),
                    Some(_) => fair::run_blocking_if_long(bytes, || {
                        records(&job.text).iter().map(|record| record.id).collect()
                    }),
                };
                let also = AlsoRead {
                    mentioned: &mentioned,
                    ..AlsoRead::default()
                };
                self.change(of, also, decide).await?
            }
        };
        let Put::Created(metadata, mut lost) = put else {
            return Ok(put);
        };
        let known = self.records(of.0, of.1, &added).await.unwrap_or_default();
        let reused = known
            .into_iter()
            .filter(|known| known.born.version < metadata.version);
        warn_of_reused(&mut lost, reused.map(|reused| reused.record.id).collect());
        Ok(Put::Created(metadata, lost))
    }
}
