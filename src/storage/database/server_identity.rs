//! Which server a connection leads to, and what ends when that is another one.

use crate::storage::database::liveness::Liveness;
use crate::storage::head_cache::HeadCache;
use sqlx::{PgConnection, Row as _};
use std::time::Duration;
use tokio::time::sleep;

/// Which server a connection leads to: no two were started at the same microsecond.
pub(in crate::storage) async fn server_of(connection: &mut PgConnection) -> Result<String, sqlx::Error> {
    // One message, as a pooler may need it.
    let row = sqlx::raw_sql("SELECT pg_postmaster_start_time()::text")
        .fetch_one(connection)
        .await?;
    row.try_get(0)
}

/// A new connection leads to `server`. If earlier ones led to another, nothing of before counts any more: what is
/// cached was read there, and what still waits there is given up after a while, as that server may be silent.
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
