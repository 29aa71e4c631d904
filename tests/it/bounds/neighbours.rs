//! A blocked vault does not affect the others.

use super::{get, of, put};
use crate::harness::{Answer, Service};
use futures::future::join_all;
use reqwest::Method;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_whose_requests_all_wait_for_the_database_does_not_block_others() {
    let service = Service::start().await;
    put(&service, "evil", "m", "# A\n").await.is(201);
    put(&service, "other", "m", "# A\n").await.is(201);
    // Every writer of the memory waits for this lock, with a connection.
    let mut lock = service.rows().begin().await.unwrap();
    sqlx::query("SELECT FROM memories WHERE vault_id = 'evil' FOR UPDATE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let status = |n: usize| {
        let request = of(&service, Method::PUT, "evil", "m/status");
        Answer::to(request.json(&serde_json::json!({"goal": format!("g{n}")})))
    };
    let stuck = join_all((0..24).map(status));
    let others = async {
        // Long enough to take all connections of a pool.
        tokio::time::sleep(Duration::from_millis(300)).await;
        for n in 0..10 {
            put(&service, "other", "m", format!("# A\n\n{n}\n")).await.is(201);
            get(&service, "other", "m").await.is(200);
            let past_caches =
                of(&service, Method::GET, "other", "m/context").header("Cache-Control", "no-cache");
            Answer::to(past_caches).await.is(200);
            service.get("/readyz").await.is(200);
        }
        lock.rollback().await.unwrap();
    };
    let (answers, ()) = futures::join!(stuck, others);
    let saved = answers.iter().filter(|answer| answer.status < 300).count();
    assert!(saved > 0, "those that waited in time went on: {answers:?}");
}
