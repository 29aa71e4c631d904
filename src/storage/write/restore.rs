//! `RestoreContext`'s transaction.

use super::Preconditions;
use super::change::{AlsoRead, Decision};
use super::error::{Missing, WriteError};
use super::new_version::NewVersion;
use super::put::Put;
use crate::domain::changelog;
use crate::domain::document;
use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::domain::memory::{Collapse, collapse};
use crate::storage::Storage;
use crate::storage::contexts::{Context, ContextRef, Source};
use crate::storage::idempotency::Answering;

/// A version to be restored as the newest one.
#[derive(Debug)]
pub struct RestoreJob {
    /// The vault.
    pub vault: VaultId,
    /// The memory.
    pub memory: MemoryId,
    /// The version.
    pub reference: ContextRef,
    /// The actor.
    pub actor: ActorId,
    /// The reason, if given; it is added to the log.
    pub reason: Option<String>,
    /// Conditions on the newest version.
    pub preconditions: Preconditions,
    /// `limits.context_bytes`.
    pub limit: usize,
    /// The answer to store under the claim of the request's idempotency key.
    pub idempotency: Option<Answering<'static, Put>>,
}

impl Storage {
    /// Creates a new version with the text of an older one, unless the newest has that text already. Records in that
    /// text that were archived meanwhile become active again, with their original creation. Active records that are not
    /// in it are archived and reported.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn restore_context(&self, job: &RestoreJob) -> Result<Put, WriteError> {
        let of = (&job.vault, &job.memory);
        let also = AlsoRead {
            version: Some(&job.reference),
            ..AlsoRead::default()
        };
        self.change(of, also, |head| {
            head.meets(&job.preconditions)?;
            let (Some(newest), Some(Context { metadata, text })) = (&head.metadata, &head.named) else {
                return Err(WriteError::NotFound(Missing::Version));
            };
            if let Some(redaction) = metadata.redaction.clone() {
                return Err(WriteError::Redacted {
                    version: metadata.version,
                    redaction,
                });
            }
            if head.text == *text {
                return Ok(Decision::Keep(Put::Unchanged(newest.clone())));
            }
            document::check(text, job.limit)?;
            let mut new = NewVersion::of_text(head, text.clone(), Source::Restore, job.actor.clone());
            let restored = changelog::restored(metadata.version, job.reason.as_deref());
            new.log = changelog::of_text(&restored, (&head.text, text), &new.changes);
            let done = Put::Created(new.metadata(of.0, of.1, head), dropped(&head.text, &new));
            new.answer_under(job.idempotency.as_ref(), &done);
            Ok(Decision::Save(Box::new(new), done))
        })
        .await
    }
}

/// The active records that a restored text does not contain.
fn dropped(before: &str, new: &NewVersion) -> Vec<Collapse> {
    let mut lost = collapse(before, &new.text, &new.changes);
    // The caller knew the length of the restored text.
    lost.retain(|lost| matches!(lost, Collapse::RecordsDropped(_)));
    lost
}
