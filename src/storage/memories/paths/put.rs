//! A file as a whole, written under preconditions: for programs that keep a copy of it.

use super::read::{Found, find};
use super::{FileError, FileTree, Storage, StoredFile, WriteFileError, WrittenFile};
use crate::domain::changelog;
use crate::domain::ids::{ActorId, ContextId};
use crate::domain::memory_files::{Edited, FilePath, Refusal};
use crate::storage::contexts::ContextMetadata;
use crate::storage::idempotency::Answering;
use crate::storage::{ChangeError, Decision, NewVersion, Preconditions, Source};

impl Storage {
    /// Makes the file, or a version of it with this text, if the preconditions hold of its newest version.
    ///
    /// # Errors
    /// As [`WriteFileError`] says.
    pub async fn put_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        preconditions: &Preconditions,
        under: Option<&Answering<'_, WrittenFile>>,
    ) -> Result<WrittenFile, WriteFileError> {
        let found = find(&mut *self.reader().await?, tree, path).await?;
        let memory = match found {
            Found::File(memory) => memory,
            Found::Directory => return Err(Refusal::not_a_file(path).into()),
            Found::Nothing => {
                return self
                    .put_new_file(tree, path, file, actor, preconditions, under)
                    .await;
            }
        };
        let outcome = self
            .change(&tree.vault, &memory, &[], |head| {
                if !head.exists() {
                    // The memory was deleted, and its path with it.
                    return Err(WriteFileError::NotFound);
                }
                if !preconditions.hold(head.context_id.as_ref().map(ContextId::as_str)) {
                    let current = head.context_id.clone();
                    return Err(WriteFileError::PreconditionFailed { current });
                }
                if head.text == file.text {
                    return Ok(Decision::Keep(()));
                }
                let mut version = NewVersion::of_text(head, file.text.clone(), Source::Tool, actor.clone());
                version.log = changelog::of_text(&head.text, &version.text, &version.changes);
                let made = version.metadata(&tree.vault, &memory, head);
                version.answer_under(under, &WrittenFile::made(path, made));
                Ok(Decision::Save(Box::new(version), ()))
            })
            .await
            .map_err(|error| match error {
                ChangeError::Refused(refused) => refused,
                ChangeError::Storage(error) => error.into(),
            })?;
        let unchanged = outcome.saved.is_none();
        let Some(metadata) = outcome.saved.or(outcome.head) else {
            return Err(WriteFileError::NotFound);
        };
        Ok(WrittenFile {
            file: StoredFile::of(path, metadata),
            unchanged,
        })
    }

    async fn put_new_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        preconditions: &Preconditions,
        under: Option<&Answering<'_, WrittenFile>>,
    ) -> Result<WrittenFile, WriteFileError> {
        if !preconditions.hold(None) {
            return Err(WriteFileError::PreconditionFailed { current: None });
        }
        let claimed = |new: &mut NewVersion, made| new.answer_under(under, &WrittenFile::made(path, made));
        let made = self.make_file(tree, path, file, actor, &claimed).await?;
        Ok(WrittenFile::made(path, made))
    }
}

impl WrittenFile {
    fn made(path: &FilePath, metadata: ContextMetadata) -> Self {
        Self {
            file: StoredFile::of(path, metadata),
            unchanged: false,
        }
    }
}

impl StoredFile {
    fn of(path: &FilePath, metadata: ContextMetadata) -> Self {
        Self {
            path: path.clone(),
            memory_id: metadata.memory_id,
            version: metadata.version,
            context_id: metadata.context_id,
            bytes: metadata.bytes,
            changed_at: metadata.creation_time,
        }
    }
}

impl From<FileError> for WriteFileError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Refused(refusal) => Self::Refused(refusal),
            FileError::Storage(error) => Self::Storage(error),
        }
    }
}
