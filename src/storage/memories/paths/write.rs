//! Writes files: the commands of the tool, and puts of whole files by clients that keep a copy.

use super::read::{Found, find};
use super::{FileTree, Storage, StoredFile, WrittenFile};
use crate::domain::changelog;
use crate::domain::ids::{ActorId, MemoryId};
use crate::domain::memory_files::{Edited, FilePath, Refusal};
use crate::storage::idempotency::Answering;
use crate::storage::{AlsoRead, Decision, Head, Missing, NewVersion, Source, WriteError};

/// A file to be written.
#[derive(Debug)]
pub struct FileWrite<'a> {
    /// The tree.
    pub tree: &'a FileTree,
    /// Its path.
    pub path: &'a FilePath,
    /// The actor.
    pub actor: &'a ActorId,
    /// Why it is refused if a directory is at the path.
    pub if_directory: Refusal,
}

impl Storage {
    /// Makes a file, or a version of it, with the text that `edit` returns. Its argument is the newest version of the
    /// file; `None` if there is none. An unchanged text creates no version.
    ///
    /// `edit` may be called again if the file changes meanwhile.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_paths.write", skip_all)]
    pub async fn write_file<T: From<WrittenFile>>(
        &self,
        write: FileWrite<'_>,
        under: Option<&Answering<'_, T>>,
        edit: impl Fn(Option<&Head>) -> Result<Edited, WriteError>,
    ) -> Result<T, WriteError> {
        let FileWrite { tree, path, .. } = write;
        loop {
            let (memory, at) = match find(&mut self.reader().await?, tree, path).await? {
                Found::File(memory) => (memory, None),
                _ => (path.new_memory_id(self.clock.new_id()), Some((tree, path))),
            };
            let also = AlsoRead {
                path: at,
                ..AlsoRead::default()
            };
            let written = self.change((&tree.vault, &memory), also, |head| {
                let edited = match &head.at_path {
                    None if head.exists() => edit(Some(head))?,
                    // It was deleted or made meanwhile.
                    None | Some(Found::File(_)) => return Err(WriteError::NotFound(Missing::File)),
                    Some(Found::Directory) => return Err(write.if_directory.clone().into()),
                    Some(Found::Nothing) => edit(None)?,
                    Some(Found::BelowFile(file)) => {
                        edit(None)?;
                        let (path, file) = (path.clone(), file.clone());
                        return Err(Refusal::BelowAFile { path, file }.into());
                    }
                };
                Ok(write.version(&memory, head, edited, under))
            });
            match written.await {
                Err(WriteError::NotFound(Missing::File)) => {}
                done => return done,
            }
        }
    }
}

impl FileWrite<'_> {
    /// The version with this text, or none if the newest one has it.
    fn version<T: From<WrittenFile>>(
        &self,
        memory: &MemoryId,
        head: &Head,
        Edited { text, response }: Edited,
        under: Option<&Answering<'_, T>>,
    ) -> Decision<T> {
        let written = |metadata, unchanged| {
            T::from(WrittenFile {
                file: StoredFile::of(self.path, metadata),
                unchanged,
                response,
            })
        };
        if let Some(newest) = head.metadata.as_ref().filter(|_| head.text == text) {
            return Decision::Keep(written(newest.clone(), true));
        }
        let mut new = NewVersion::of_text(head, text, Source::Tool, self.actor.clone());
        new.log = changelog::of_text(changelog::PUT, (&head.text, &new.text), &new.changes);
        let done = written(new.metadata(&self.tree.vault, memory, head), false);
        if !head.exists() {
            new.path = Some((self.tree.clone(), self.path.clone()));
        }
        new.answer_under(under, &done);
        Decision::Save(Box::new(new), done)
    }
}
