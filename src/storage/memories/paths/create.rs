//! Creates a file: its memory, the first version and the path, in one transaction.

use super::tree::{Place, hold_root, insert, place_of};
use super::{FileChange, FileError, FileTree, FileVersion, Storage};
use crate::domain::changelog;
use crate::domain::ids::ActorId;
use crate::domain::memory_files::{Edited, FilePath, Refusal};
use crate::storage::contexts::ContextMetadata;
use crate::storage::database::transaction::{Ending, Transaction};
use crate::storage::head_cache::FillToken;
use crate::storage::idempotency::Answering;
use crate::storage::write::{Prepared, save_locked};
use crate::storage::{NewVersion, Source};

impl Storage {
    /// Creates a file at a free path.
    ///
    /// # Errors
    /// As [`FileError`] says.
    #[tracing::instrument(name = "db.memory_paths.create", skip_all)]
    pub async fn create_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, FileError> {
        let change = |made: ContextMetadata| FileChange {
            response: file.response.clone(),
            file: Some(FileVersion {
                memory: made.memory_id,
                version: made.version,
            }),
        };
        let claimed = |new: &mut NewVersion, made| new.answer_under(under, &change(made));
        let made = self.make_file(tree, path, file, actor, &claimed).await?;
        Ok(change(made))
    }

    /// As [`Self::create_file`], for a given first version; `claimed` records it under an idempotency claim.
    pub(super) async fn make_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        file: &Edited,
        actor: &ActorId,
        claimed: &(impl Fn(&mut NewVersion, ContextMetadata) + Sync),
    ) -> Result<ContextMetadata, FileError> {
        let (prepared, token) = self
            .transaction("db.memory_paths.create", |transaction| {
                self.make_file_in(transaction, (tree, path), file, actor, claimed)
            })
            .await?;
        Ok(self.committed(*prepared, token))
    }

    async fn make_file_in(
        &self,
        mut transaction: Transaction,
        (tree, path): (&FileTree, &FilePath),
        file: &Edited,
        actor: &ActorId,
        claimed: &(impl Fn(&mut NewVersion, ContextMetadata) + Sync),
    ) -> Result<Ending<(Box<Prepared>, FillToken)>, FileError> {
        let vault = &tree.vault;
        hold_root(&mut transaction, tree).await?;
        match place_of(&mut transaction, tree, path).await? {
            Place::Free => {}
            Place::Occupied => return Err(Refusal::file_exists(path).into()),
            Place::BelowFile(file) => return Err(Refusal::below_a_file(path, &file).into()),
        }
        let memory = path.new_memory_id(self.clock.new_id());
        let token = self.head_cache.fill_token(vault, &memory);
        let head = self.lock_head(&mut transaction, vault, &memory, &[]).await?;
        let mut new = NewVersion::of_text(&head, file.text.clone(), Source::Tool, actor.clone());
        new.log = changelog::of_text(&head.text, &new.text, &new.changes);
        let made = new.metadata(vault, &memory, &head);
        claimed(&mut new, made);
        let counted = head.counters;
        let prepared = Prepared::new(head, Some(counted), (vault, &memory), new);
        save_locked(&mut transaction, &prepared).await?;
        insert(&mut transaction, tree, path, &memory).await?;
        Ok(transaction.commit_with((Box::new(prepared), token)))
    }
}
