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
        // A full page of vaults with documents ends at its last vault. Without this bound, owners of items whose
        // memories all have documents would be read up to the last vault. Without a full page the bound is `max` and
        // not a constant, because the database's collation decides which text is the greatest.
        let rows = sqlx::query!(
            r#"WITH written AS (
                   SELECT vault_id, count(*) AS memories, max(changed_at) AS changed_at
                   FROM memories
                   WHERE vault_id > COALESCE($1::text, '')
                     AND ($3::text[] IS NULL OR vault_id = ANY ($3))
                     AND ($4::text IS NULL OR starts_with(vault_id, $4))
                   GROUP BY vault_id
                   ORDER BY vault_id
                   LIMIT $2
               ), items_only AS (
                   SELECT owner.vault_id, count(*) AS memories, max(owner.changed_at) AS changed_at
                   FROM prompt_item_owners AS owner
                   WHERE owner.vault_id > COALESCE($1::text, '')
                     AND ($3::text[] IS NULL OR owner.vault_id = ANY ($3))
                     AND ($4::text IS NULL OR starts_with(owner.vault_id, $4))
                     AND owner.vault_id <= COALESCE((SELECT max(vault_id) FROM written HAVING count(*) = $2),
                                                    (SELECT max(vault_id) FROM prompt_item_owners))
                     AND owner.memory_id <> ''
                     AND NOT EXISTS (SELECT 1 FROM memories
                                     WHERE memories.vault_id = owner.vault_id
                                       AND memories.memory_id = owner.memory_id)
                     AND EXISTS (SELECT 1 FROM prompt_items AS item
                                 WHERE item.vault_id = owner.vault_id AND item.memory_id = owner.memory_id
                                   AND (item.expires_at IS NULL OR item.expires_at > $5))
                   GROUP BY owner.vault_id
                   ORDER BY owner.vault_id
                   LIMIT $2
               )
               SELECT listed.vault_id AS "vault_id!: VaultId", sum(listed.memories)::bigint AS "memories!",
                      max(listed.changed_at) AS "changed_at!"
               FROM (SELECT vault_id, memories, changed_at FROM written
                     UNION ALL
                     SELECT vault_id, memories, changed_at FROM items_only) AS listed
               GROUP BY listed.vault_id
               ORDER BY listed.vault_id
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
