//! Deletes expired items.

use super::ItemOwner;
use super::write::{delete_empty, lock};
use crate::domain::ids::MemoryId;
use crate::storage::{Class, FailingVaults, Storage, StorageError};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

impl Storage {
    /// Deletes at most `limit` expired items and returns their number. May run on any number of instances at the same
    /// time.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.prompt_items.purge", skip_all)]
    pub async fn purge_items(&self, limit: i64) -> Result<u64, StorageError> {
        let now = self.clock.now();
        // Rare read over all vaults; the deletion then goes owner by owner.
        let expired = sqlx::query!(
            r#"SELECT vault_id, NULLIF(memory_id, '') AS "memory: MemoryId", item_id FROM prompt_items
               WHERE expires_at <= $1
               ORDER BY expires_at
               LIMIT $2"#,
            now,
            limit,
        )
        .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
        .await?;
        let mut owners: BTreeMap<ItemOwner, Vec<String>> = BTreeMap::new();
        for row in expired {
            let (vault, memory) = (row.vault_id, row.memory);
            let items = owners.entry(ItemOwner { vault, memory }).or_default();
            items.push(row.item_id.to_string());
        }
        let mut deleted = 0;
        let mut failing = FailingVaults::new("items");
        for (owner, items) in owners {
            let done = self.purge_items_of(&owner, &items, now).await;
            deleted += failing.pass_over(owner.vault.as_str(), done)?.unwrap_or_default();
        }
        Ok(deleted)
    }

    async fn purge_items_of(
        &self,
        owner: &ItemOwner,
        items: &[String],
        now: DateTime<Utc>,
    ) -> Result<u64, StorageError> {
        self.transaction_for(
            Class::Sweep,
            "db.prompt_items.purge",
            |mut transaction| async move {
                lock(&mut transaction, owner).await?;
                let done = sqlx::query!(
                    "DELETE FROM prompt_items
                 WHERE vault_id = $1 AND memory_id = $2 AND expires_at <= $3 AND item_id = ANY($4)",
                    owner.vault.as_str(),
                    owner.memory_id(),
                    now,
                    items,
                )
                .execute(&mut transaction)
                .await?;
                delete_empty(&mut transaction, owner).await?;
                Ok(transaction.commit_with(done.rows_affected()))
            },
        )
        .await
    }
}
