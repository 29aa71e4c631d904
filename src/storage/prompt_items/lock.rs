//! The locks of owners of items.

use super::ItemOwner;
use crate::domain::ids::VaultId;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::write::lock_memory;
use chrono::{DateTime, Utc};

/// Locks an owner, and makes a memory that does not exist. A memory without a document changes with its items.
pub(super) async fn lock_or_make(
    connection: &mut Connection,
    owner: &ItemOwner,
    now: DateTime<Utc>,
) -> Result<(), StorageError> {
    let Some(memory) = &owner.memory else {
        return lock_vault(connection, &owner.vault).await;
    };
    sqlx::query!(
        "INSERT INTO memories (vault_id, memory_id, head_version, created_at, changed_at) VALUES ($1, $2, 0, $3, $3)
         ON CONFLICT (vault_id, memory_id) DO UPDATE
         SET changed_at = CASE WHEN memories.head_version = 0 THEN GREATEST(memories.changed_at, excluded.changed_at)
                               ELSE memories.changed_at
                          END",
        owner.vault.as_str(),
        memory.as_str(),
        now,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Locks an owner, if it exists, so that the next statements see its current items.
pub(super) async fn lock(connection: &mut Connection, owner: &ItemOwner) -> Result<(), StorageError> {
    match &owner.memory {
        None => lock_vault(connection, &owner.vault).await,
        Some(memory) => lock_memory(connection, &owner.vault, memory).await.map(|_| ()),
    }
}

/// Deletes the row of a locked memory that has neither a document nor items.
pub(super) async fn delete_empty(connection: &mut Connection, owner: &ItemOwner) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM memories
         WHERE vault_id = $1 AND memory_id = $2 AND head_version = 0
           AND NOT EXISTS (SELECT 1 FROM prompt_items WHERE vault_id = $1 AND memory_id = $2)",
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn lock_vault(connection: &mut Connection, vault: &VaultId) -> Result<(), StorageError> {
    sqlx::query!(
        "SELECT pg_advisory_xact_lock(hashtextextended('prompt items of ' || $1::text, 0))",
        vault.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
