//! Lists all files of a root, for clients that keep a copy.

use super::{FileTree, Storage, StorageError, StoredFile};
use crate::domain::memory_files::FilePath;

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
        let rows = sqlx::query!(
            "SELECT memory_paths.path, head.memory_id, head.version, head.context_id, head.bytes, head.creation_time
             FROM memory_paths
             JOIN memories
               ON memories.vault_id = memory_paths.vault_id AND memories.memory_id = memory_paths.memory_id
             JOIN memory_contexts AS head
               ON head.vault_id = memories.vault_id AND head.memory_id = memories.memory_id
              AND head.context_id = memories.head_context_id
             WHERE memory_paths.vault_id = $1 AND memories.vault_id = $1 AND head.vault_id = $1
               AND memory_paths.root = $2 AND memory_paths.path > $3
             ORDER BY memory_paths.path
             LIMIT $4",
            tree.vault.as_str(),
            tree.root.as_str(),
            // Every path comes after the empty one.
            after.unwrap_or_default(),
            limit,
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let files = rows.into_iter().map(|row| {
            let path = FilePath::parse(&row.path).map_err(|refusal| StorageError::Corrupt {
                table: "memory_paths",
                column: "path",
                row: format!("({}, {}, {})", tree.vault, tree.root, row.path),
                problem: refusal.to_string(),
            })?;
            Ok(StoredFile {
                path,
                memory_id: row.memory_id,
                version: row.version,
                context_id: row.context_id,
                bytes: row.bytes,
                changed_at: row.creation_time,
            })
        });
        files.collect()
    }
}
