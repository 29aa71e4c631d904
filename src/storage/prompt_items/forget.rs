//! Deleting a memory's items with the memory.

use super::ItemOwner;
use super::owners::lock_present_owner;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};

/// The items that a memory had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::storage) enum ForgottenItems {
    /// None.
    None,
    /// Only expired ones, which were not visible.
    Expired,
    /// Some unexpired ones.
    Live,
}

/// Deletes the items of a memory, and returns what it had.
#[tracing::instrument(name = "db.prompt_items.forget", skip_all)]
pub(in crate::storage) async fn forget_items(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    now: DateTime<Utc>,
) -> Result<ForgottenItems, StorageError> {
    let owner = ItemOwner {
        vault: vault.clone(),
        memory: Some(memory.clone()),
    };
    // The lock comes first: otherwise an item added meanwhile would be deleted without being counted.
    if !lock_present_owner(connection, &owner).await? {
        return Ok(ForgottenItems::None);
    }
    let live = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT 1 FROM prompt_items
                          WHERE vault_id = $1 AND memory_id = $2
                            AND (expires_at IS NULL OR expires_at > $3)) AS "live!""#,
        vault.as_str(),
        memory.as_str(),
        now,
    )
    .fetch_one(&mut *connection)
    .await?;
    // The items reference this row.
    sqlx::query!(
        "DELETE FROM prompt_item_owners WHERE vault_id = $1 AND memory_id = $2",
        vault.as_str(),
        memory.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(if live {
        ForgottenItems::Live
    } else {
        ForgottenItems::Expired
    })
}
