//! `PutContext`'s transaction.

use super::change::{ChangeError, Decision, NewVersion};
use super::contexts::{ContextMetadata, Source};
use super::{Preconditions, Storage, StorageError};
use crate::domain::changelog;
use crate::domain::ids::{ActorId, ContextId, MemoryId, VaultId};

/// What a put came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// A new version was made.
    Created(ContextMetadata),
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
    /// The database failed; nothing was saved.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Storage {
    /// Puts a text as the newest version, unless it is that already. The text must have passed
    /// [`crate::domain::document::check`].
    ///
    /// # Errors
    /// As [`PutError`] says.
    pub async fn put_context(
        &self,
        vault: &VaultId,
        memory: &MemoryId,
        text: &str,
        actor: &ActorId,
        preconditions: &Preconditions,
    ) -> Result<Put, PutError> {
        let outcome = self
            .change(vault, memory, &[], |head| {
                if !preconditions.hold(head.context_id.as_ref().map(ContextId::as_str)) {
                    return Err(PutError::PreconditionFailed {
                        current: head.context_id.clone(),
                    });
                }
                if head.exists() && head.text == text {
                    return Ok(Decision::Keep(()));
                }
                let mut version = NewVersion::of_text(head, text.to_owned(), Source::Put, actor.clone());
                version.log = changelog::of_text(&head.text, text, &version.changes);
                Ok(Decision::Save(Box::new(version), ()))
            })
            .await;
        match outcome {
            Ok(outcome) => match outcome.saved {
                Some(metadata) => Ok(Put::Created(metadata)),
                None => self
                    .latest_context(vault, memory)
                    .await?
                    .map(|context| Put::Unchanged(context.metadata))
                    .ok_or(PutError::Storage(StorageError::WrongRowCount {
                        statement: "db.memory_contexts.latest",
                        expected: 1,
                        actual: 0,
                    })),
            },
            Err(ChangeError::Refused(refused)) => Err(refused),
            Err(ChangeError::Storage(error)) => Err(error.into()),
        }
    }
}
