//! The state of the database, for the service's status page.

use crate::storage::{Storage, StorageError};

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
        .fetch_one(&mut *self.reader().await?)
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
