//! `RestoreContext`'s transaction.

use super::Preconditions;
use super::change::{ChangeError, Decision, Wanted};
use super::new_version::NewVersion;
use super::put::Put;
use crate::domain::changelog;
use crate::domain::document::{self, InvalidDocument};
use crate::domain::ids::{ActorId, ContextId, MemoryId, VaultId};
use crate::storage::contexts::{Context, ContextRef, Redaction, Source};
use crate::storage::{Storage, StorageError};

/// Why a version was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A precondition does not hold.
    #[error("the precondition does not hold")]
    PreconditionFailed {
        /// The newest version's id; `None` if the memory does not exist.
        current: Option<ContextId>,
    },
    /// There is no such memory or version.
    #[error("there is no such memory or version")]
    NotFound,
    /// The version has no text any more.
    #[error("the version was redacted")]
    Redacted {
        /// Its number.
        version: i64,
        /// Why.
        redaction: Redaction,
    },
    /// The text is not one that may be put any more: the limit is lower than when it was made.
    #[error(transparent)]
    Invalid(#[from] InvalidDocument),
    /// The database failed; nothing was saved.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Storage {
    /// Makes a new version with the text of an older one, unless the newest has that text already. Records
    /// that were archived meanwhile and stand in that text are active again, with the birth they had.
    /// `limit` is `limits.context_bytes`.
    ///
    /// # Errors
    /// As [`RestoreError`] says.
    pub async fn restore_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        reference: &ContextRef,
        actor: &ActorId,
        preconditions: &Preconditions,
        limit: usize,
    ) -> Result<Put, RestoreError> {
        let outcome = self
            .change_wanting((vault, memory), &Wanted::Version(reference), |head, found| {
                if !preconditions.hold(head.context_id.as_ref().map(ContextId::as_str)) {
                    return Err(RestoreError::PreconditionFailed {
                        current: head.context_id.clone(),
                    });
                }
                let Context { metadata, text } = found.version.ok_or(RestoreError::NotFound)?;
                if let Some(redaction) = metadata.redaction {
                    return Err(RestoreError::Redacted {
                        version: metadata.version,
                        redaction,
                    });
                }
                if head.text == text {
                    return Ok(Decision::Keep(()));
                }
                document::check(&text, limit)?;
                let mut new = NewVersion::of_text(head, text, Source::Restore, actor.clone());
                new.log = changelog::of_restore(metadata.version, &head.text, &new.text, &new.changes);
                Ok(Decision::Save(Box::new(new), ()))
            })
            .await;
        match outcome {
            Ok(outcome) => match outcome.saved {
                Some(metadata) => Ok(Put::Created(metadata, Vec::new())),
                None => self
                    .latest_context(vault, memory)
                    .await?
                    .map(|context| Put::Unchanged(context.metadata))
                    .ok_or(RestoreError::NotFound),
            },
            Err(ChangeError::Refused(refused)) => Err(refused),
            Err(ChangeError::Storage(error)) => Err(error.into()),
        }
    }
}
