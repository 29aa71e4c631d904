//! Reads what exists at a path: a file, a directory, or what is in the way of a new one. Locks a root.

use super::{FileEntry, FileTree, Storage, StorageError, StoredFile};
use crate::domain::ids::MemoryId;
use crate::domain::memory_files::{FilePath, Listing};
use crate::storage::contexts::{Context, latest};
use crate::storage::database::connection::Connection;
use futures::TryStreamExt as _;
use futures::stream::BoxStream;

impl Storage {
    /// The file at a path with its newest text, or the directory.
    ///
    /// # Errors
    /// Database errors.
    pub async fn file_entry(&self, tree: &FileTree, path: &FilePath) -> Result<FileEntry, StorageError> {
        let mut reader = self.reader().await?;
        let newest = match find(&mut reader, tree, path).await? {
            Found::File(memory) => latest(&mut reader, &tree.vault, &memory).await?,
            _ => None,
        };
        match newest {
            Some((Context { metadata, text }, _)) => {
                Ok(FileEntry::File(StoredFile::of(path, metadata), text))
            }
            None => Ok(FileEntry::Directory(list(&mut reader, tree, path).await?)),
        }
    }
}

/// What exists at a path, without its content.
#[derive(Debug, Clone)]
pub(in crate::storage) enum Found {
    /// A file: the text of this memory.
    File(MemoryId),
    /// A directory.
    Directory,
    /// Nothing, because one of its parent directories is this file.
    BelowFile(FilePath),
    /// Nothing; the path is free.
    Nothing,
}

/// Looks for a path.
#[tracing::instrument(name = "db.memory_paths.find", skip_all)]
pub(in crate::storage) async fn find(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Found, StorageError> {
    if path.is_root() {
        return Ok(Found::Directory);
    }
    let directories = path.directories();
    let names: Vec<&str> = directories.iter().map(FilePath::as_str).collect();
    let (from, to) = range_below(path);
    let row = sqlx::query!(
        "SELECT path, memory_id FROM memory_paths
         WHERE vault_id = $1 AND root = $2 AND (path = $3 OR path = ANY ($4::text[]) OR (path > $5 AND path < $6))
         ORDER BY octet_length(path)
         LIMIT 1",
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        &names as &[&str],
        from,
        to,
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Found::Nothing) };
    if row.path == path.as_str() {
        return Ok(Found::File(row.memory_id));
    }
    let file = directories.into_iter().find(|parent| parent.as_str() == row.path);
    Ok(file.map_or(Found::Directory, Found::BelowFile))
}

/// Behind every path, in byte order: all are below `/memories/`.
const BEHIND_ALL: &str = "/memories0";

/// The files of a tree from one path up to another, in byte order of their paths, at most `limit`.
pub(super) fn files<'c>(
    connection: &'c mut Connection,
    tree: &FileTree,
    (from, to): (&str, &str),
    limit: i64,
) -> BoxStream<'c, Result<StoredFile, sqlx::Error>> {
    sqlx::query_as!(
        StoredFile,
        r#"SELECT memory_paths.path AS "path: FilePath", head.memory_id, head.version, head.context_id, head.bytes,
                  head.creation_time AS changed_at
           FROM memory_paths
           JOIN memories
             ON memories.vault_id = memory_paths.vault_id AND memories.memory_id = memory_paths.memory_id
           JOIN memory_contexts AS head
             ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
            AND head.context_id = memories.head_context_id
           WHERE memory_paths.vault_id = $1 AND memories.vault_id = $1 AND head.vault_id = $1
             AND memory_paths.root = $2 AND memory_paths.path >= $3 AND memory_paths.path < $4
           ORDER BY memory_paths.path
           LIMIT $5"#,
        tree.vault.as_str(),
        tree.root.as_str(),
        from,
        to,
        limit,
    )
    .fetch(connection)
}

#[tracing::instrument(name = "db.memory_paths.list", skip_all)]
async fn list(
    connection: &mut Connection,
    tree: &FileTree,
    directory: &FilePath,
) -> Result<Listing, StorageError> {
    let (from, to) = range_below(directory);
    let mut files = files(connection, tree, (&from, &to), i64::MAX);
    let mut listing = Listing::of(directory.clone());
    while let Some(file) = files.try_next().await? {
        listing.add(&file.path, u64::try_from(file.bytes).unwrap_or_default());
    }
    Ok(listing)
}

impl Storage {
    /// The files of a tree after a path, in byte order of their paths.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memory_paths.list_files", skip_all)]
    pub async fn list_files(
        &self,
        tree: &FileTree,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<StoredFile>, StorageError> {
        // No path contains a control character, so the next path is not before this.
        let from = after.map(|after| format!("{after}\u{1}")).unwrap_or_default();
        let mut reader = self.reader().await?;
        let files = files(&mut reader, tree, (&from, BEHIND_ALL), limit);
        Ok(files.try_collect().await?)
    }
}

/// Locks a root until the transaction ends; creates its row if necessary.
#[tracing::instrument(name = "db.memory_roots.hold", skip_all)]
pub(in crate::storage) async fn hold_root(
    connection: &mut Connection,
    tree: &FileTree,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO memory_roots (vault_id, root) VALUES ($1, $2) ON CONFLICT (vault_id, root) DO NOTHING",
        tree.vault.as_str(),
        tree.root.as_str(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query_scalar!(
        "SELECT root FROM memory_roots WHERE vault_id = $1 AND root = $2 FOR UPDATE",
        tree.vault.as_str(),
        tree.root.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(())
}

/// Links a memory to a free path in a locked root.
#[tracing::instrument(name = "db.memory_paths.insert", skip_all)]
pub(in crate::storage) async fn insert(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
    memory: &MemoryId,
) -> Result<(), StorageError> {
    sqlx::query!(
        "INSERT INTO memory_paths (vault_id, root, path, memory_id) VALUES ($1, $2, $3, $4)",
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The bounds of all paths below a path, in byte order.
pub(super) fn range_below(path: &FilePath) -> (String, String) {
    // `0` is the character after `/`.
    (format!("{path}/"), format!("{path}0"))
}
