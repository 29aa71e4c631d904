//! Requests that are cancelled, as when their client disconnects: at every await point.

use crate::harness::Service;
use futures::future::poll_fn;
use sqlx::{Connection, PgConnection};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Polls a future at most this many times, then drops it. Returns whether it had finished.
async fn cancelled_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let mut polled = false;
        let ended = poll_fn(|context| {
            // Polled again once it can make progress.
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(false);
            }
            match future.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending => Poll::Pending,
            }
        });
        if ended.await {
            return true;
        }
    }
    false
}

/// Sessions of the service that are in a transaction, as seen by another connection.
async fn in_a_transaction(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'",
    )
    .fetch_one(connection)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_cancelled_request_leaves_no_connection_in_a_transaction() {
    let service = Service::start().await;
    let (vault, memory) = ("acme".parse().unwrap(), "agent".parse().unwrap());
    let (storage, update) = (service.storage(), "none".parse().unwrap());
    let mut connection = PgConnection::connect(&service.database_url()).await.unwrap();
    let mut points = 0;
    // Where it waits: for a connection, for `BEGIN`, for its statements.
    while !cancelled_after(points, storage.cancel_update(&vault, &memory, &update)).await {
        let settled = async {
            while in_a_transaction(&mut connection).await > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let settled = tokio::time::timeout(Duration::from_secs(5), settled).await;
        assert!(settled.is_ok(), "given up where it waits for the {points}th time");
        points += 1;
    }
    assert!(points > 2, "{points}");
}
