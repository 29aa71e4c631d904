//! Lists vaults.

use crate::domain::access::VaultScope;
use crate::domain::ids::VaultId;
use crate::storage::memories::VaultSummary;
use crate::storage::{Storage, StorageError};

impl Storage {
    /// Vaults by id, those of `scope` after `after`, at most `limit`. Reads only the memories of the vaults on the
    /// page.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.memories.vaults", skip_all)]
    pub async fn list_vaults(
        &self,
        scope: &VaultScope,
        after: Option<&VaultId>,
        limit: i64,
    ) -> Result<Vec<VaultSummary>, StorageError> {
        let listed: Option<Vec<String>> = scope
            .vaults()
            .map(|vaults| vaults.iter().map(VaultId::to_string).collect());
        let rows = sqlx::query!(
            r#"SELECT vault_id, count(*) AS "memories!", max(changed_at) AS "changed_at!"
               FROM memories
               WHERE vault_id > COALESCE($1::text, '')
                 AND ($3::text[] IS NULL OR vault_id = ANY ($3))
                 AND ($4::text IS NULL OR starts_with(vault_id, $4))
                 AND (head_version > 0 OR EXISTS (
                          SELECT FROM prompt_items AS item
                          WHERE item.vault_id = memories.vault_id AND item.memory_id = memories.memory_id
                            AND (item.expires_at IS NULL OR item.expires_at > $5)))
               GROUP BY vault_id
               ORDER BY vault_id
               LIMIT $2"#,
            after.map(VaultId::as_str),
            limit,
            listed.as_deref(),
            scope.prefix().map(VaultId::as_str),
            self.clock.now(),
        )
        .fetch_all(&mut *self.reader().await?)
        .await?;
        let vaults = rows.into_iter().map(|row| VaultSummary {
            vault_id: row.vault_id,
            memories: row.memories,
            changed_at: row.changed_at,
        });
        Ok(vaults.collect())
    }
}
