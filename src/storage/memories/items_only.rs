//! A memory that has prompt items and no document.

use crate::domain::ids::{ActorId, MemoryId, VaultId};
use crate::storage::StorageError;
use crate::storage::database::connection::Connection;
use crate::storage::memories::MemorySummary;
use chrono::{DateTime, Utc};

/// What its items tell of it; `None` if none of them is live.
#[tracing::instrument(name = "db.prompt_items.memory", skip_all)]
pub(super) async fn read(
    connection: &mut Connection,
    vault: &VaultId,
    memory: &MemoryId,
    now: DateTime<Utc>,
) -> Result<Option<MemorySummary>, StorageError> {
    let row = sqlx::query!(
        r#"SELECT owner.changed_at, items.created_at AS "created_at!", items.actor_id AS "actor_id!: ActorId"
           FROM prompt_item_owners AS owner
           CROSS JOIN LATERAL (
               SELECT min(item.created_at) AS created_at,
                      (array_agg(item.created_by ORDER BY item.created_at DESC, item.item_id DESC))[1] AS actor_id
               FROM prompt_items AS item
               WHERE item.vault_id = $1 AND item.memory_id = $2 AND (item.expires_at IS NULL OR item.expires_at > $3)
               HAVING count(*) > 0
           ) AS items
           WHERE owner.vault_id = $1 AND owner.memory_id = $2"#,
        vault.as_str(),
        memory.as_str(),
        now,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| MemorySummary {
        vault_id: vault.clone(),
        memory_id: memory.clone(),
        version: 0,
        context_id: None,
        created_at: row.created_at,
        changed_at: row.changed_at,
        bytes: 0,
        actor_id: row.actor_id,
        source: None,
    }))
}
