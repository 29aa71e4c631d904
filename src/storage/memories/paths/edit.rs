//! Edits a file: a change of its memory under the lock of the memory's row.

use super::read::{Found, find};
use super::{FileChange, FileError, FileTree, FileVersion, Storage};
use crate::domain::changelog;
use crate::domain::ids::ActorId;
use crate::domain::memory_files::{Edited, FilePath, Refusal};
use crate::storage::idempotency::Answering;
use crate::storage::{Decision, NewVersion, Source};

impl Storage {
    /// Changes the text of a file with `edit`, and returns the message for the model. An unchanged text creates no
    /// version.
    ///
    /// `edit` may be called again with a newer text if the transaction lost a race.
    ///
    /// # Errors
    /// As [`FileError`] says.
    pub async fn edit_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        actor: &ActorId,
        edit: impl Fn(&str) -> Result<Edited, Refusal>,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, FileError> {
        let found = find(&mut *self.reader().await?, tree, path).await?;
        let memory = match found {
            Found::File(memory) => memory,
            Found::Directory => return Err(Refusal::not_a_file(path).into()),
            Found::Nothing => return Err(Refusal::no_such_path(path).into()),
        };
        let outcome = self
            .change(&tree.vault, &memory, &[], |head| {
                if !head.exists() {
                    // The memory was deleted, and its path with it.
                    return Err(Refusal::no_such_path(path));
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
                version.log = changelog::of_text(&head.text, &version.text, &version.changes);
                version.answer_under(under, &change);
                Ok(Decision::Save(Box::new(version), change))
            })
            .await?;
        Ok(outcome.result)
    }
}
