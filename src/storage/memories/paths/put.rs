//! Conditional writes of whole files, for clients that keep a copy.

use super::read::{Found, find, hold_root, insert};
use super::{FileChange, FileTree, FileVersion, Storage, StoredFile, WrittenFile};
use crate::domain::changelog;
use crate::domain::ids::{ActorId, MemoryId};
use crate::domain::memory_files::{Edited, FilePath, Refusal};
use crate::storage::contexts::ContextMetadata;
use crate::storage::idempotency::Answering;
use crate::storage::write::{Prepared, save_locked};
use crate::storage::{AlsoRead, Decision, NewVersion, Preconditions, Source};
use crate::storage::{Missing, WriteError};

impl Storage {
    /// Creates the file, or a version of it with this text, if the preconditions hold for its newest version.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn put_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        preconditions: &Preconditions,
        under: Option<&Answering<'_, WrittenFile>>,
    ) -> Result<WrittenFile, WriteError> {
        loop {
            let Some(memory) = self.file_memory(tree, path).await? else {
                preconditions.check(None, None)?;
                let answer = |made| WrittenFile::made(path, made);
                match self.make_file(tree, path, file, actor, under, answer).await {
                    // Another has made it meanwhile.
                    Err(WriteError::Refused(Refusal::FileExists(_))) => continue,
                    done => return done,
                }
            };
            let written = self.change((&tree.vault, &memory), AlsoRead::default(), |head| {
                let Some(newest) = head.metadata.clone() else {
                    // The memory was deleted, and its path with it.
                    return Err(WriteError::NotFound(Missing::File));
                };
                head.meets(preconditions)?;
                if head.text == file.text {
                    let file = StoredFile::of(path, newest);
                    return Ok(Decision::Keep(WrittenFile {
                        file,
                        unchanged: true,
                    }));
                }
                let mut version = NewVersion::of_text(head, file.text.clone(), Source::Tool, actor.clone());
                version.log =
                    changelog::of_text(changelog::PUT, (&head.text, &version.text), &version.changes);
                let made = WrittenFile::made(path, version.metadata(&tree.vault, &memory, head));
                version.answer_under(under, &made);
                Ok(Decision::Save(Box::new(version), made))
            });
            match written.await.map_err(WriteError::from) {
                // Another has deleted it meanwhile.
                Err(WriteError::NotFound(Missing::File)) => {}
                done => return done,
            }
        }
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

impl Storage {
    /// Creates a file at a free path.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_paths.create", skip_all)]
    pub async fn create_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        let change = |made: ContextMetadata| FileChange {
            response: file.response.clone(),
            file: Some(FileVersion {
                memory: made.memory_id,
                version: made.version,
            }),
        };
        self.make_file(tree, path, file, actor, under, change).await
    }

    /// The memory of the file at a path; `None` if nothing is there.
    async fn file_memory(&self, tree: &FileTree, path: &FilePath) -> Result<Option<MemoryId>, WriteError> {
        match find(&mut self.reader().await?, tree, path).await? {
            Found::File(memory) => Ok(Some(memory)),
            Found::Directory => Err(Refusal::NotAFile(path.clone()).into()),
            Found::BelowFile(_) | Found::Nothing => Ok(None),
        }
    }

    /// As [`Self::create_file`], with this answer.
    async fn make_file<T>(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        under: Option<&Answering<'_, T>>,
        answer: impl Fn(ContextMetadata) -> T,
    ) -> Result<T, WriteError> {
        let made = &answer;
        let (prepared, token, answer) = self
            .transaction("db.memory_paths.create", |mut transaction| async move {
                let vault = &tree.vault;
                hold_root(&mut transaction, tree).await?;
                match find(&mut transaction, tree, path).await? {
                    Found::Nothing => {}
                    Found::File(_) | Found::Directory => return Err(Refusal::FileExists(path.clone()).into()),
                    Found::BelowFile(file) => {
                        let path = path.clone();
                        return Err(Refusal::BelowAFile { path, file }.into());
                    }
                }
                let memory = path.new_memory_id(self.clock.new_id());
                let token = self.head_cache.fill_token(vault, &memory);
                let head = self.lock_head(&mut transaction, (vault, &memory)).await?;
                let mut new = NewVersion::of_text(&head, file.text.clone(), Source::Tool, actor.clone());
                new.log = changelog::of_text(changelog::PUT, (&head.text, &new.text), &new.changes);
                let answer = made(new.metadata(vault, &memory, &head));
                new.answer_under(under, &answer);
                self.check_quotas(&mut transaction, vault, true, new.text.len())
                    .await?;
                let counted = head.counters;
                let prepared = Prepared::new(head, Some(counted), (vault, &memory), new);
                save_locked(&mut transaction, &prepared).await?;
                insert(&mut transaction, tree, path, &memory).await?;
                Ok::<_, WriteError>(transaction.commit_with((Box::new(prepared), token, answer)))
            })
            .await?;
        self.committed(*prepared, token);
        Ok(answer)
    }
}

impl Storage {
    /// Changes the text of a file with `edit`, and returns the message for the model. An unchanged text creates no
    /// version.
    ///
    /// `edit` may be called again with a newer text if the transaction lost a race.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    pub async fn edit_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        actor: &ActorId,
        edit: impl Fn(&str) -> Result<Edited, Refusal>,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        let Some(memory) = self.file_memory(tree, path).await? else {
            return Err(Refusal::NoSuchPath(path.clone()).into());
        };
        let of = (&tree.vault, &memory);
        let changed = self
            .change(of, AlsoRead::default(), |head| {
                if !head.exists() {
                    // The memory was deleted, and its path with it.
                    return Err(Refusal::NoSuchPath(path.clone()));
                }
                let Edited { text, response } = edit(&head.text)?;
                let change = |version| FileChange {
                    response,
                    file: Some(FileVersion {
                        memory: memory.clone(),
                        version,
                    }),
                };
                if text == head.text {
                    return Ok(Decision::Keep(change(head.version)));
                }
                let change = change(head.version + 1);
                let mut version = NewVersion::of_text(head, text, Source::Tool, actor.clone());
                version.log =
                    changelog::of_text(changelog::PUT, (&head.text, &version.text), &version.changes);
                version.answer_under(under, &change);
                Ok(Decision::Save(Box::new(version), change))
            })
            .await?;
        Ok(changed)
    }
}
