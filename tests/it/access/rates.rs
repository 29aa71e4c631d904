//! Rate limits of keys and addresses.

use super::first_admin;
use crate::harness::{Answer, Service};
use serde_json::json;

#[tokio::test]
async fn a_key_over_its_rate_limit_is_rejected_with_retry_after() {
    let service = Service::configured(|config| config.http.rate_per_key = 2).await;
    let admin = first_admin(&service).await;
    let other = admin.make(json!({"name": "o", "role": "reader"})).await;
    let second = admin.get("/v1/vaults").await.is(200);
    assert_eq!(second.header("ratelimit-limit"), "2");
    assert_eq!(second.header("ratelimit-remaining"), "0");
    assert!(second.header("ratelimit-reset").parse::<u64>().unwrap() >= 30);
    let third = admin.get("/v1/vaults").await;
    assert_eq!(third.header("ratelimit-remaining"), "0");
    assert!((1..=30).contains(&third.header("retry-after").parse::<u64>().unwrap()));
    third.problem(429, "too-many-requests", None);
    other.get("/v1/vaults").await.is(200);
}

#[tokio::test]
async fn requests_without_a_key_are_counted_by_address() {
    let service = Service::configured(|config| config.http.rate_per_address = 2).await;
    service.get("/v1/vaults").await.is(200);
    let admin = first_admin(&service).await;
    let answer: Answer = service.get("/v1/vaults").await;
    answer.problem(429, "too-many-requests", None);
    admin.get("/v1/vaults").await.is(200);
    service.get("/healthz").await.is(200);
}
