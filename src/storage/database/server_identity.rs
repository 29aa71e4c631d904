//! Identifies the server behind a connection, and handles a change of server.

use crate::storage::database::liveness::Liveness;
use crate::storage::head_cache::HeadCache;
use sqlx::{PgConnection, Row as _};
use std::time::Duration;
use tokio::time::sleep;

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
