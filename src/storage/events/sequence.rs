//! Numbers committed events.

use crate::domain::ids::VaultId;
use crate::storage::database::transaction::{Ending, Transaction};
use crate::storage::{Storage, StorageError};

/// Maximum events numbered in one transaction.
const BATCH: i64 = 1_000;

impl Storage {
    /// Numbers all committed events of a vault that have no number. May run on any number of instances at the same
    /// time: a lock serialises them.
    ///
    /// # Errors
    /// Database errors.
    #[tracing::instrument(name = "db.events.sequence", skip_all)]
    pub async fn sequence_events(&self, vault: &VaultId) -> Result<(), StorageError> {
        loop {
            let waiting = sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT 1 FROM events WHERE vault_id = $1 AND sequence IS NULL) AS "waiting!""#,
                vault.as_str(),
            )
            .fetch_one(&mut *self.event_reader().await?)
            .await?;
            if !waiting || self.sequence_batch(vault).await? < BATCH {
                return Ok(());
            }
        }
    }

    async fn sequence_batch(&self, vault: &VaultId) -> Result<i64, StorageError> {
        self.event_transaction("db.events.sequence", |transaction| sequence(transaction, vault))
            .await
    }
}

/// Returns the number of events it numbered.
async fn sequence(mut transaction: Transaction, vault: &VaultId) -> Result<Ending<i64>, StorageError> {
    sqlx::query!(
        "INSERT INTO event_streams (vault_id, last_sequence, purged_sequence) VALUES ($1, 0, 0)
             ON CONFLICT (vault_id) DO NOTHING",
        vault.as_str(),
    )
    .execute(&mut *transaction)
    .await?;
    let last = sqlx::query_scalar!(
        "SELECT last_sequence FROM event_streams WHERE vault_id = $1 FOR UPDATE",
        vault.as_str(),
    )
    .fetch_one(&mut *transaction)
    .await?;
    // A separate statement after the lock, so that it sees what the previous holder of the lock numbered.
    let waiting = sqlx::query_scalar!(
        "SELECT event_id FROM events
             WHERE vault_id = $1 AND sequence IS NULL
             ORDER BY insert_order, created_at, event_id
             LIMIT $2",
        vault.as_str(),
        BATCH,
    )
    .fetch_all(&mut *transaction)
    .await?;
    let Some(newest) = waiting.last() else {
        return Ok(transaction.roll_back_with(0));
    };
    let count = i64::try_from(waiting.len()).unwrap_or(BATCH);
    let numbers: Vec<i64> = (last + 1..=last + count).collect();
    sqlx::query!(
        "UPDATE events SET sequence = given.sequence
             FROM unnest($2::text[], $3::bigint[]) AS given (event_id, sequence)
             WHERE events.vault_id = $1 AND events.event_id = given.event_id AND events.sequence IS NULL",
        vault.as_str(),
        &waiting,
        &numbers,
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!(
        "UPDATE event_streams SET last_sequence = $2, last_event_id = $3 WHERE vault_id = $1",
        vault.as_str(),
        last + count,
        newest,
    )
    .execute(&mut *transaction)
    .await?;
    Ok(transaction.commit_with(count))
}
