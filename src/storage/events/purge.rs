//! Deletes old events in small batches.

use crate::domain::ids::VaultId;
use crate::storage::{Class, Storage, StorageError};
use chrono::{DateTime, Utc};

/// Maximum events deleted in one transaction.
const BATCH: i64 = 500;

impl Storage {
    /// The next vault with events after `after` in the database's order; `None` after the last one. A single index step
    /// over all vaults.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.events.vaults", skip_all)]
    pub async fn next_vault_with_events(
        &self,
        after: Option<&VaultId>,
    ) -> Result<Option<VaultId>, StorageError> {
        Ok(sqlx::query_scalar!(
            "SELECT vault_id FROM events
             WHERE vault_id > $1
             ORDER BY vault_id
             LIMIT 1",
            after.map_or("", VaultId::as_str),
        )
        .fetch_optional(&mut self.reader_for(Class::Maintenance).await?)
        .await?)
    }

    /// Deletes a vault's events up to the first that is not older than `before`, and returns their number. Events
    /// without a number stay. May run on any number of instances at the same time.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.events.purge", skip_all)]
    pub async fn purge_events(&self, vault: &VaultId, before: DateTime<Utc>) -> Result<u64, StorageError> {
        let mut total = 0;
        loop {
            let oldest = sqlx::query!(
                r#"SELECT sequence AS "sequence!", created_at FROM events
                   WHERE vault_id = $1 AND sequence > 0
                   ORDER BY sequence
                   LIMIT $2"#,
                vault.as_str(),
                BATCH,
            )
            .fetch_all(&mut self.reader_for(Class::Maintenance).await?)
            .await?;
            let old = oldest.iter().take_while(|event| event.created_at < before);
            let Some(end) = old.last().map(|event| event.sequence) else {
                return Ok(total);
            };
            let delete = self.transaction_for(Class::Sweep, "db.events.purge", |mut transaction| async move {
                sqlx::query!(
                    "UPDATE event_streams SET purged_sequence = $2 WHERE vault_id = $1 AND purged_sequence < $2",
                    vault.as_str(),
                    end,
                )
                .execute(&mut transaction)
                .await?;
                let done = sqlx::query!(
                    "DELETE FROM events WHERE vault_id = $1 AND sequence <= $2",
                    vault.as_str(),
                    end,
                )
                .execute(&mut transaction)
                .await?;
                Ok::<_, StorageError>(transaction.commit_with(done.rows_affected()))
            });
            total += delete.await?;
        }
    }
}
