//! Whether writes succeed.

use crate::storage::database::liveness::Beat;
use crate::storage::database::notification::CHANNEL;
use crate::storage::error::is_disk_full;
use crate::storage::{Class, Storage, StorageError};
use sqlx::{AssertSqlSafe, Row as _};
use std::time::Duration;

/// How long the result of a heartbeat is valid.
const BEAT_LASTS: Duration = Duration::from_secs(1);

/// How long a batch of versions may be in flight before writes count as blocked: a batch waits for no lock.
const BATCH_LASTS: Duration = Duration::from_secs(5);

impl Storage {
    /// The reason why writes are blocked at the moment; `None` if they are not.
    ///
    /// # Errors
    /// Database errors, if it was asked.
    pub async fn blocked_writes(&self) -> Result<Option<String>, StorageError> {
        if let Some(busy) = self.batchers.versions.busy_for()
            && busy > BATCH_LASTS
        {
            let seconds = busy.as_secs();
            return Ok(Some(format!("versions wait for the database for {seconds} s")));
        }
        if self.liveness.is_disk_full() && !self.has_room().await? {
            return Ok(Some(
                "the disk of the database is full: free space on it, or make it larger".to_owned(),
            ));
        }
        match self.liveness.last_beat() {
            Some((Beat::NotWritten(problem), _)) => Ok(Some(problem.to_owned())),
            Some((Beat::Written, at)) if at.elapsed() < BEAT_LASTS => Ok(None),
            Some(_) | None => {
                let is_read_only = self.test_write().await?;
                Ok(is_read_only.then(|| "the database is read-only".to_owned()))
            }
        }
    }

    /// Whether the database's disk has room, after a statement found none. Small commits succeed on a full disk, and so do
    /// rows that fit into pages that are there, so this needs new pages, which are given back.
    async fn has_room(&self) -> Result<bool, StorageError> {
        let mut transaction = self.begin(Class::Health).await?;
        // Built at run time: the database used for checking queries has no such table. About 1 MiB.
        let written = sqlx::raw_sql(
            "CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT md5(n::text) FROM generate_series(1, 16384) AS n",
        )
        .execute(&mut transaction)
        .await;
        transaction.rollback().await?;
        let is_full = written.is_err_and(|error| is_disk_full(&error.into()));
        self.liveness.set_disk_full(is_full);
        Ok(!is_full)
    }

    /// Commits a transaction without changes. Returns whether the server is read-only.
    async fn test_write(&self) -> Result<bool, StorageError> {
        let mut transaction = self.begin(Class::Health).await?;
        let statement = format!(
            "SELECT pg_notify('{}', 'ready')::text, current_setting('transaction_read_only')",
            CHANNEL
        );
        let row = sqlx::raw_sql(AssertSqlSafe(statement))
            .fetch_one(&mut transaction)
            .await?;
        let is_read_only = row.try_get::<&str, _>(1)? == "on";
        transaction.commit().await?;
        Ok(is_read_only)
    }
}
