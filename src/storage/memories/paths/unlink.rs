//! Unlinks and renames files. Their memories are not changed.

use super::read::{Found, files, find, hold_root, range_below};
use super::{FileChange, FileTree, Storage, StorageError, StoredFile};
use crate::domain::ids::MemoryId;
use crate::domain::memory_files::{FilePath, Refusal, deleted, renamed};
use crate::storage::Preconditions;
use crate::storage::database::connection::Connection;
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::write::lock_memory;
use crate::storage::{Missing, WriteError};
use futures::TryStreamExt as _;

impl FileChange {
    /// The change of these files at or below a path.
    fn of(path: &FilePath, mut files: Vec<StoredFile>, response: String) -> Self {
        files.retain(|file| file.path == *path);
        let file = files.pop();
        Self { response, file }
    }

    /// The memory of the file, if there is one.
    fn memory(&self) -> Option<&MemoryId> {
        self.file.as_ref().map(|file| &file.memory_id)
    }
}

impl Storage {
    /// Unlinks a file, or all files of a directory. The memories stay, with all their versions. Returns the unlinked
    /// file's version, if it was a single file.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_paths.unlink", skip_all)]
    pub async fn unlink_files(
        &self,
        tree: &FileTree,
        path: &FilePath,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        if path.is_root() {
            return Err(Refusal::RootIsNotDeleted.into());
        }
        self.transaction("db.memory_paths.unlink", |mut transaction| async move {
            hold_root(&mut transaction, tree).await?;
            let files = files_at(&mut transaction, tree, path).await?;
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            unlink(&mut transaction, tree, &paths).await?;
            let change = FileChange::of(path, files, deleted(path));
            keep_one(&mut transaction, under, change.memory(), &change).await?;
            Ok::<_, WriteError>(transaction.commit_with(change))
        })
        .await
    }

    /// Unlinks a file if the preconditions hold for its newest version.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_paths.unlink_file", skip_all)]
    pub async fn unlink_file(
        &self,
        tree: &FileTree,
        path: &FilePath,
        preconditions: &Preconditions,
    ) -> Result<(), WriteError> {
        self.transaction("db.memory_paths.unlink_file", |mut transaction| async move {
            hold_root(&mut transaction, tree).await?;
            let Found::File(memory) = find(&mut transaction, tree, path).await? else {
                return Err(WriteError::NotFound(Missing::File));
            };
            // Locked, so that no edit comes between the look and the deed.
            let head = lock_memory(&mut transaction, &tree.vault, &memory).await?;
            let head = head.ok_or(WriteError::NotFound(Missing::File))?;
            preconditions.check(head.context_id.as_ref(), None)?;
            unlink(&mut transaction, tree, &[path.as_str()]).await?;
            Ok::<_, WriteError>(transaction.commit_with(()))
        })
        .await
    }

    /// Renames a file, or a directory with everything in it. Returns the file's version, if it is a single file.
    ///
    /// # Errors
    /// As [`WriteError`] says.
    #[tracing::instrument(name = "db.memory_paths.rename", skip_all)]
    pub async fn rename_files(
        &self,
        tree: &FileTree,
        from: &FilePath,
        to: &FilePath,
        under: Option<&Answering<'_, FileChange>>,
    ) -> Result<FileChange, WriteError> {
        if from.is_root() {
            return Err(Refusal::RootIsNotRenamed.into());
        }
        self.transaction("db.memory_paths.rename", |mut transaction| async move {
            hold_root(&mut transaction, tree).await?;
            let found = find(&mut transaction, tree, to).await?;
            if matches!(found, Found::File(_) | Found::Directory) {
                return Err(Refusal::DestinationExists(to.clone()).into());
            }
            let files = files_at(&mut transaction, tree, from).await?;
            if let Found::BelowFile(file) = found {
                let path = to.clone();
                return Err(Refusal::BelowAFile { path, file }.into());
            }
            if to.is_below(from) {
                return Err(Refusal::IntoItself(from.clone(), to.clone()).into());
            }
            let moved = files.iter().map(|file| file.path.moved(from, to));
            let moved = moved.collect::<Result<Vec<FilePath>, _>>()?;
            let paths: Vec<&str> = moved.iter().map(FilePath::as_str).collect();
            let memories: Vec<&str> = files.iter().map(|file| file.memory_id.as_str()).collect();
            sqlx::query!(
                "UPDATE memory_paths SET path = moved.path
             FROM unnest($3::text[], $4::text[]) AS moved (memory_id, path)
             WHERE memory_paths.vault_id = $1 AND memory_paths.root = $2
               AND memory_paths.memory_id = moved.memory_id",
                tree.vault.as_str(),
                tree.root.as_str(),
                &memories as &[&str],
                &paths as &[&str],
            )
            .execute(&mut transaction)
            .await?;
            let change = FileChange::of(from, files, renamed(from, to));
            keep_one(&mut transaction, under, change.memory(), &change).await?;
            Ok::<_, WriteError>(transaction.commit_with(change))
        })
        .await
    }
}

/// Unlinks the files at these paths.
async fn unlink(connection: &mut Connection, tree: &FileTree, paths: &[&str]) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM memory_paths WHERE vault_id = $1 AND root = $2 AND path = ANY ($3::text[])",
        tree.vault.as_str(),
        tree.root.as_str(),
        paths as &[&str],
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The file at a path, or the files below it.
async fn files_at(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Vec<StoredFile>, WriteError> {
    let (_, end) = range_below(path);
    let mut files: Vec<StoredFile> = files(connection, tree, (path.as_str(), &end), i64::MAX)
        .try_collect()
        .await?;
    // Between them are names that begin with it and continue with a character before the slash.
    files.retain(|file| file.path == *path || file.path.is_below(path));
    match files.is_empty() {
        true => Err(Refusal::NothingThere(path.clone()).into()),
        false => Ok(files),
    }
}
