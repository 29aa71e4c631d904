//! Requests that are given up in the middle, as when their client goes away: at every point where they wait.

use crate::harness::Service;
use futures::future::poll_fn;
use sqlx::{Connection, PgConnection};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Polls a future so often at most, and drops it. Whether it had ended.
async fn given_up_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let mut polled = false;
        let ended = poll_fn(|context| {
            // Woken up again once it can go on.
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

/// Sessions of the service that stand in a transaction, seen from beside it.
async fn in_a_transaction(beside: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'",
    )
    .fetch_one(beside)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_connection_of_a_request_that_was_given_up_is_not_left_in_a_transaction() {
    let service = Service::start().await;
    let (vault, memory) = ("acme".parse().unwrap(), "agent".parse().unwrap());
    let (storage, update) = (service.storage(), "none".parse().unwrap());
    let mut beside = PgConnection::connect(&service.database_url()).await.unwrap();
    let mut points = 0;
    // Where it waits: for a connection, for its beginning, for its statements.
    while !given_up_after(points, storage.cancel_update(&vault, &memory, &update)).await {
        let settled = async {
            while in_a_transaction(&mut beside).await > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let settled = tokio::time::timeout(Duration::from_secs(5), settled).await;
        assert!(settled.is_ok(), "given up where it waits for the {points}th time");
        points += 1;
    }
    assert!(points > 2, "{points}");
}
