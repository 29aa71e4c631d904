//! Unlinks and renames files. Their memories are not changed.

use super::read::{Found, find, hold_root, range_below, stored_path};
use super::{FileChange, FileTree, FileVersion, Storage, StorageError};
use crate::domain::ids::MemoryId;
use crate::domain::memory_files::{FilePath, Refusal, deleted, renamed};
use crate::storage::Preconditions;
use crate::storage::database::connection::Connection;
use crate::storage::idempotency::{Answering, keep_one};
use crate::storage::write::lock_memory;
use crate::storage::{Missing, WriteError};

impl FileChange {
    /// The memory of the file, if there is one.
    fn memory(&self) -> Option<&MemoryId> {
        self.file.as_ref().map(|file| &file.memory)
    }
}

/// A file below a path, or the one at it.
struct Row {
    path: String,
    memory_id: MemoryId,
    head_version: i64,
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
            let rows = files_at(&mut transaction, tree, path).await?;
            if rows.is_empty() {
                return Err(Refusal::NothingThere(path.clone()).into());
            }
            let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
            unlink(&mut transaction, tree, &paths).await?;
            let change = FileChange {
                response: deleted(path),
                file: file_among(path, &rows),
            };
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
            let rows = files_at(&mut transaction, tree, from).await?;
            if rows.is_empty() {
                return Err(Refusal::NothingThere(from.clone()).into());
            }
            if let Found::BelowFile(file) = found {
                let path = to.clone();
                return Err(Refusal::BelowAFile { path, file }.into());
            }
            if to.is_below(from) {
                return Err(Refusal::IntoItself(from.clone(), to.clone()).into());
            }
            let mut paths = Vec::with_capacity(rows.len());
            for row in &rows {
                let moved = stored_path(tree, &row.path)?.moved(from, to)?;
                paths.push(moved.as_str().to_owned());
            }
            let memories: Vec<&str> = rows.iter().map(|row| row.memory_id.as_str()).collect();
            sqlx::query!(
                "UPDATE memory_paths SET path = moved.path
             FROM unnest($3::text[], $4::text[]) AS moved (memory_id, path)
             WHERE memory_paths.vault_id = $1 AND memory_paths.root = $2
               AND memory_paths.memory_id = moved.memory_id",
                tree.vault.as_str(),
                tree.root.as_str(),
                &memories as &[&str],
                &paths,
            )
            .execute(&mut transaction)
            .await?;
            let change = FileChange {
                response: renamed(from, to),
                file: file_among(from, &rows),
            };
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

/// The file at a path, or the files below it, with their newest versions.
#[tracing::instrument(name = "db.memory_paths.files_at", skip_all)]
async fn files_at(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Vec<Row>, StorageError> {
    let (from, to) = range_below(path);
    let rows = sqlx::query_as!(
        Row,
        "SELECT memory_paths.path, memory_paths.memory_id, memories.head_version
         FROM memory_paths
         JOIN memories
           ON memories.vault_id = memory_paths.vault_id AND memories.memory_id = memory_paths.memory_id
         WHERE memory_paths.vault_id = $1 AND memories.vault_id = $1 AND memory_paths.root = $2
           AND (memory_paths.path = $3 OR (memory_paths.path > $4 AND memory_paths.path < $5))",
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        from,
        to,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

/// The file at the path itself.
fn file_among(path: &FilePath, rows: &[Row]) -> Option<FileVersion> {
    let row = rows.iter().find(|row| row.path == path.as_str())?;
    Some(FileVersion {
        memory: row.memory_id.clone(),
        version: row.head_version,
    })
}
