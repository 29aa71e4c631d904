//! Whether the memory that something began with still exists.

use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// Whether the memory with this identity still exists. Until the transaction ends it cannot be deleted, and none of its
/// versions redacted. Always true without an identity: there was no memory that could have been deleted.
#[tracing::instrument(name = "db.memories.lives_on", skip_all)]
pub(in crate::storage) async fn lives_on(
    connection: &mut Connection,
    (vault, memory): (&VaultId, &MemoryId),
    identity: Option<&str>,
) -> Result<bool, StorageError> {
    let current = sqlx::query_scalar!(
        "SELECT identity FROM memories WHERE vault_id = $1 AND memory_id = $2 FOR KEY SHARE",
        vault.as_str(),
        memory.as_str(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(identity.is_none_or(|identity| current.as_deref() == Some(identity)))
}

/// As [`lives_on`].
///
/// # Errors
/// [`StorageError::MemoryDeleted`] if it does not: then nothing of the transaction may be committed. Database errors.
pub(in crate::storage) async fn must_live_on(
    connection: &mut Connection,
    of: (&VaultId, &MemoryId),
    identity: Option<&str>,
) -> Result<(), StorageError> {
    match lives_on(connection, of, identity).await? {
        true => Ok(()),
        false => Err(StorageError::MemoryDeleted),
    }
}
