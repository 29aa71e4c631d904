//! The lock of a root, and conflicts of a new path with existing ones.

use super::FileTree;
use crate::domain::ids::MemoryId;
use crate::domain::memory_files::FilePath;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// Whether a new path is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::storage) enum Place {
    /// It is free.
    Free,
    /// It is a file or a directory.
    Occupied,
    /// One of its parent directories is a file.
    BelowFile(FilePath),
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
    lock_root(connection, tree).await
}

/// Locks a root until the transaction ends, if its row exists.
#[tracing::instrument(name = "db.memory_roots.lock", skip_all)]
pub(super) async fn lock_root(connection: &mut Connection, tree: &FileTree) -> Result<(), StorageError> {
    sqlx::query_scalar!(
        "SELECT root FROM memory_roots WHERE vault_id = $1 AND root = $2 FOR UPDATE",
        tree.vault.as_str(),
        tree.root.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(())
}

/// Whether a path is available for a new file or directory.
#[tracing::instrument(name = "db.memory_paths.place", skip_all)]
pub(in crate::storage) async fn place_of(
    connection: &mut Connection,
    tree: &FileTree,
    path: &FilePath,
) -> Result<Place, StorageError> {
    if path.is_root() {
        return Ok(Place::Occupied);
    }
    let directories = path.directories();
    let names: Vec<&str> = directories.iter().map(FilePath::as_str).collect();
    let (from, to) = range_below(path);
    let found = sqlx::query_scalar!(
        r#"SELECT path FROM memory_paths
           WHERE vault_id = $1 AND root = $2 AND (path = $3 OR path = ANY ($4::text[]) OR (path > $5 AND path < $6))
           ORDER BY octet_length(path)
           LIMIT 1"#,
        tree.vault.as_str(),
        tree.root.as_str(),
        path.as_str(),
        &names as &[&str],
        from,
        to,
    )
    .fetch_optional(connection)
    .await?;
    Ok(match found {
        None => Place::Free,
        Some(found) => match directories
            .into_iter()
            .find(|directory| directory.as_str() == found)
        {
            Some(file) => Place::BelowFile(file),
            None => Place::Occupied,
        },
    })
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

/// A path as a row has it.
pub(super) fn stored_path(tree: &FileTree, path: &str) -> Result<FilePath, StorageError> {
    FilePath::parse(path).map_err(|refusal| StorageError::Corrupt {
        table: "memory_paths",
        column: "path",
        row: format!("({}, {}, {path})", tree.vault, tree.root),
        problem: refusal.to_string(),
    })
}
