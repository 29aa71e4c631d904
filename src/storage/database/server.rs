//! The state of the database, for the service's status page, and whether writes succeed.

use crate::storage::database::liveness::{Liveness, SILENCE};
use crate::storage::database::notification::CHANNEL;
use crate::storage::error::{DISK_FULL, has_code};
use crate::storage::head_cache::HeadCache;
use crate::storage::{Class, Storage, StorageError};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, PgExecutor, Row as _};
use std::time::Duration;
use tokio::time::sleep;

/// The database behind the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerState {
    /// The server's version string.
    pub version: String,
    /// The number of the newest migration.
    pub schema: i64,
    /// Bytes on disk.
    pub bytes: i64,
    /// Connections to the database, of all instances and other clients.
    pub connections: i64,
    /// Whether the server is a standby.
    pub is_standby: bool,
}

impl Storage {
    /// Reads the state.
    ///
    /// # Errors
    /// Database errors.
    pub async fn server_state(&self) -> Result<ServerState, StorageError> {
        let schema = self.schema_version().await?;
        let state = sqlx::query_as!(
            ServerState,
            r#"SELECT current_setting('server_version') AS "version!", $1::bigint AS "schema!",
                      pg_database_size(current_database()) AS "bytes!",
                      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS "connections!",
                      pg_is_in_recovery() AS "is_standby!""#,
            schema,
        )
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(state)
    }
}

/// The identity of the server: its start time in microseconds, which no two servers share.
pub(in crate::storage) async fn server_of(connection: &mut PgConnection) -> Result<String, sqlx::Error> {
    // A single message, since a pooler may require it.
    let row = sqlx::raw_sql("SELECT pg_postmaster_start_time()::text")
        .fetch_one(connection)
        .await?;
    row.try_get(0)
}

/// A new connection leads to `server`. If earlier ones led to another server, all caches are invalidated, and
/// statements that still wait there are given up after a while, since that server may be silent.
pub(in crate::storage) fn leads_to(server: &str, liveness: &Liveness, head_cache: &HeadCache) {
    let Some(earlier) = liveness.connected_to(server) else {
        return;
    };
    tracing::info!("another server answers at the address of the database");
    head_cache.next_epoch();
    tokio::spawn(async move {
        sleep(SILENCE).await;
        earlier.given_up().cancel();
    });
}

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
            Some((Err(problem), _)) => Ok(Some(problem.to_owned())),
            Some((Ok(()), at)) if at.elapsed() < BEAT_LASTS => Ok(None),
            Some(_) | None => {
                let is_read_only = self.test_write().await?;
                Ok(is_read_only.then(|| BLOCKED_AS_READ_ONLY.to_owned()))
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
        let is_full = written.is_err_and(|error| has_code(&error.into(), DISK_FULL));
        self.liveness.set_disk_full(is_full);
        Ok(!is_full)
    }

    /// Commits a transaction without changes. Returns whether the server is read-only.
    async fn test_write(&self) -> Result<bool, StorageError> {
        let mut transaction = self.begin(Class::Health).await?;
        let is_read_only = write_notice(&mut transaction, "ready").await?;
        transaction.commit().await?;
        Ok(is_read_only)
    }
}

/// Why writes are blocked on a former primary, or on a standby that is not promoted yet.
pub(in crate::storage) const BLOCKED_AS_READ_ONLY: &str = "the database is read-only";

/// Notifies the listeners: a small write. Returns whether the server is read-only. The payload has only letters, digits,
/// blanks and hyphens.
pub(in crate::storage) async fn write_notice(
    connection: impl PgExecutor<'_>,
    payload: &str,
) -> Result<bool, sqlx::Error> {
    // A single message, since a pooler may require it.
    let statement =
        format!("SELECT pg_notify('{CHANNEL}', '{payload}')::text, current_setting('transaction_read_only')");
    let row = sqlx::raw_sql(AssertSqlSafe(statement))
        .fetch_one(connection)
        .await?;
    Ok(row.try_get::<&str, _>(1)? == "on")
}
