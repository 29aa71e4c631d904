//! `memory_paths`: the row, the line, and the statements of export and import.

use super::import::OnConflict;
use super::line::{Fault, LineError, fault, id, order};
use crate::domain::ids::{MemoryId, VaultId};
use crate::domain::memory_files::FilePath;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::memories::paths::{self, FileTree, Place};
use serde::{Deserialize, Serialize};

/// The path of the surrounding memory as a file of the memory tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathLine {
    pub(super) root: String,
    pub(super) path: String,
}

impl PathLine {
    /// Validates the line by itself, and returns the location.
    pub(super) fn check(&self, vault: &VaultId) -> Result<(FileTree, FilePath), Fault> {
        let root = id("root", &self.root)?;
        let vault = vault.clone();
        let path = FilePath::parse(&self.path).map_err(|refusal| fault("path", &refusal))?;
        let is_kept = path.as_str() == self.path && !path.is_root();
        order(
            "path",
            is_kept,
            "a path below /memories in the spelling it is kept in",
        )?;
        Ok((FileTree { vault, root }, path))
    }
}

/// The path of a memory, if it is a file.
#[tracing::instrument(name = "db.memory_paths.export", skip_all)]
pub(super) async fn read(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &str,
) -> Result<Option<PathLine>, StorageError> {
    let line = sqlx::query_as!(
        PathLine,
        r#"SELECT root AS "root: String", path FROM memory_paths WHERE vault_id = $1 AND memory_id = $2"#,
        vault.as_str(),
        memory,
    )
    .fetch_optional(connection)
    .await?;
    Ok(line)
}

/// Links a memory at its path, unless another file occupies or blocks it.
///
/// # Errors
/// If one does and the import is to fail in this case.
pub(super) async fn place(
    connection: &mut Connection,
    (tree, path): &(FileTree, FilePath),
    memory: &MemoryId,
    on_conflict: OnConflict,
) -> Result<(), LineError> {
    paths::hold_root(connection, tree).await?;
    if paths::place_of(connection, tree, path).await? == Place::Free {
        paths::insert(connection, tree, path, memory).await?;
    } else if on_conflict == OnConflict::Fail {
        return Err(LineError::Problem(format!(
            "path: another file stands at {path} of the root {} already, or in its way",
            tree.root
        )));
    }
    Ok(())
}
