//! The state of the database, for the service's status page.

use crate::storage::database::liveness::Liveness;
use crate::storage::head_cache::HeadCache;
use crate::storage::{Storage, StorageError};
use sqlx::{PgConnection, Row as _};
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
    #[tracing::instrument(name = "db.server.state", skip_all)]
    pub async fn server_state(&self) -> Result<ServerState, StorageError> {
        let schema = self.schema_version().await?;
        let row = sqlx::query!(
            r#"SELECT current_setting('server_version') AS "version!",
                      pg_database_size(current_database()) AS "bytes!",
                      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS "connections!",
                      pg_is_in_recovery() AS "is_standby!""#
        )
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(ServerState {
            version: row.version,
            schema,
            bytes: row.bytes,
            connections: row.connections,
            is_standby: row.is_standby,
        })
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
pub(in crate::storage) fn leads_to(
    server: &str,
    liveness: &Liveness,
    head_cache: &HeadCache,
    grace: Duration,
) {
    let Some(earlier) = liveness.connected_to(server) else {
        return;
    };
    tracing::info!("another server answers at the address of the database");
    head_cache.next_epoch();
    tokio::spawn(async move {
        sleep(grace).await;
        earlier.given_up().cancel();
    });
}
