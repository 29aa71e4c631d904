//! Waiting for what happens in the background.

use std::time::{Duration, Instant};

/// Tries until it is done; fails after a minute.
pub(crate) async fn eventually(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !done().await {
        assert!(began.elapsed() < Duration::from_secs(60), "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
