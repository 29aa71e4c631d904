//! The rows that writers of items lock: `prompt_item_owners`.

use super::ItemOwner;
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;

/// Locks the row of an owner, if it exists, so that the next statements see its current items. `false` if it does not.
pub(super) async fn lock_present_owner(
    connection: &mut Connection,
    owner: &ItemOwner,
) -> Result<bool, StorageError> {
    let found = sqlx::query_scalar!(
        r#"SELECT 1 AS "one!" FROM prompt_item_owners WHERE vault_id = $1 AND memory_id = $2 FOR UPDATE"#,
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// Deletes the row of a locked owner that has no items left.
pub(super) async fn forget_owner_without_items(
    connection: &mut Connection,
    owner: &ItemOwner,
) -> Result<(), StorageError> {
    sqlx::query!(
        "DELETE FROM prompt_item_owners
         WHERE vault_id = $1 AND memory_id = $2
           AND NOT EXISTS (SELECT 1 FROM prompt_items WHERE vault_id = $1 AND memory_id = $2)",
        owner.vault.as_str(),
        owner.memory_id(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
