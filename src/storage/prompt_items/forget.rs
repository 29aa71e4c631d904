//! Deleting a memory's items with the memory.

use super::ItemOwner;
use super::owners::lock_present_owner;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use chrono::{DateTime, Utc};

/// What items a memory had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::storage) enum ForgottenItems {
    /// None.
    None,
    /// Only such as had expired: nothing that was shown.
    Expired,
    /// Some that had not expired.
    Live,
}

/// Deletes the items of a memory, and says what it had.
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
    // Locked before they are looked at: one that is added meanwhile would be deleted unseen.
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
    // Its items refer to the row.
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
