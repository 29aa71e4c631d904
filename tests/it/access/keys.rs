//! The life cycle of keys: `/v1/keys`.

use super::{first_admin, with_admin};
use crate::harness::{Answer, Service, rows};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

/// After this time every instance knows.
const A_SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_key_is_shown_once_and_stored_as_a_hash() {
    let service = Service::start().await;
    service.get("/v1/vaults").await.is(200);
    let admin = first_admin(&service).await;
    let body =
        json!({"name": "ci", "role": "writer", "vaults": ["b", "a"], "expires_at": "2027-01-01T00:00:00Z"});
    let made = admin.post("/v1/keys", &body).await.is(201).json();
    let (key_id, token) = (made["key_id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let secret = token.strip_prefix(&format!("wm_{key_id}_")).unwrap();
    assert_eq!(secret.len(), 64);
    let mut expected = json!({
        "key_id": key_id, "name": "ci", "role": "writer", "vaults": ["a", "b"], "vault_prefix": null,
        "speaks_for_others": false, "active": true, "created_by": "root", "created_at": "2026-11-21T02:00:00Z",
        "rotated_at": null, "expires_at": "2027-01-01T00:00:00Z", "revoked_at": null,
    });
    let got = admin.get(&format!("/v1/keys/{key_id}")).await.is(200).json();
    assert_eq!(got, expected);
    let listed = admin.get("/v1/keys").await.is(200).json();
    assert!(listed["items"].as_array().unwrap().contains(&got));
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    expected["key"] = token.into();
    assert_eq!(made, expected);
    assert!(service.tables_that_hold(secret).await.is_empty());
    assert_eq!(service.tables_that_hold(key_id).await, ["api_keys"]);
}

#[tokio::test]
async fn a_new_key_is_valid_everywhere_at_once_and_a_revoked_one_is_rejected_within_a_second() {
    let service = Service::start().await;
    let other = service.beside(None).await;
    service.get("/v1/vaults").await.is(200);
    other.get("/v1/vaults").await.is(200);
    let admin = first_admin(&service).await;
    service.get("/v1/vaults").await.unauthorized();
    admin.at(&other).get("/v1/vaults").await.is(200);
    tokio::time::sleep(A_SECOND).await;
    other.get("/v1/vaults").await.unauthorized();

    let reader = admin.make(json!({"name": "r", "role": "reader"})).await;
    reader.at(&other).get("/v1/vaults").await.is(200);
    reader.get("/v1/vaults").await.is(200);
    admin.delete(&format!("/v1/keys/{}", reader.key_id)).await.is(204);
    reader.get("/v1/vaults").await.unauthorized();
    tokio::time::sleep(A_SECOND).await;
    reader.at(&other).get("/v1/vaults").await.unauthorized();
    admin.delete(&format!("/v1/keys/{}", reader.key_id)).await.is(204);
    admin.delete("/v1/keys/nobody").await.missing();
}

#[tokio::test]
async fn a_service_whose_last_key_has_ended_still_requires_a_key() {
    let (service, admin) = with_admin().await;
    admin.delete(&format!("/v1/keys/{}", admin.key_id)).await.is(204);
    service.get("/v1/vaults").await.unauthorized();
    let restarted = service.beside(None).await;
    restarted.get("/v1/vaults").await.unauthorized();
    let body = json!({"name": "again", "role": "admin"});
    restarted.post("/v1/keys", &body).await.unauthorized();
}

#[tokio::test]
async fn a_key_is_valid_until_it_expires() {
    let (service, admin) = with_admin().await;
    let body = json!({"name": "r", "role": "reader", "expires_at": "2026-11-21T03:00:00+01:00"});
    admin.post("/v1/keys", &body).await.invalid("expires_at");
    let reader = admin
        .make(json!({"name": "r", "role": "reader", "expires_at": "2026-11-21T02:00:10Z"}))
        .await;
    reader.get("/v1/vaults").await.is(200);
    service.clock.advance(Duration::from_secs(10));
    reader.get("/v1/vaults").await.unauthorized();
    let path = format!("/v1/keys/{}", reader.key_id);
    assert_eq!(admin.get(&path).await.is(200).json()["active"], false);
    admin.post(&format!("{path}/rotate"), &json!({})).await.conflict();
}

#[tokio::test]
async fn a_rotated_key_has_a_new_secret_and_the_old_one_ends_now_or_after_its_grace() {
    let (service, admin) = with_admin().await;
    let old = admin.make(json!({"name": "r", "role": "reader"})).await;
    let path = format!("/v1/keys/{}/rotate", old.key_id);
    let graceful = format!("{path}?grace_seconds=60");
    let made = admin.post(&graceful, &json!({})).await.is(200).json();
    let new = super::Holder::of(&service, &made);
    assert_eq!(new.key_id, old.key_id);
    assert_eq!(made["rotated_at"], "2026-11-21T02:00:00Z");
    old.get("/v1/vaults").await.is(200);
    new.get("/v1/vaults").await.is(200);
    service.clock.advance(Duration::from_secs(60));
    old.get("/v1/vaults").await.unauthorized();
    new.get("/v1/vaults").await.is(200);
    let newest = admin.post(&path, &json!({})).await.is(200).json();
    new.get("/v1/vaults").await.unauthorized();
    let newest = super::Holder::of(&service, &newest);
    newest.get("/v1/vaults").await.is(200);
    for bad in ["-1", "2592001", "soon"] {
        let path = format!("{path}?grace_seconds={bad}");
        let problem = admin.post(&path, &json!({})).await.invalid("grace_seconds");
        assert_eq!(problem["limit"], 2_592_000, "{bad}");
    }
}

#[tokio::test]
async fn a_flood_of_invalid_keys_causes_few_queries() {
    let (service, admin) = with_admin().await;
    let bad = format!("wm_0123456789ab_{}", "0".repeat(64));
    let requests = (0..64).map(|_| {
        let request = service.request(Method::GET, "/v1/vaults").bearer_auth(&bad);
        Answer::to(request)
    });
    let began = std::time::Instant::now();
    for answer in futures::future::join_all(requests).await {
        answer.unauthorized();
    }
    admin.get("/v1/vaults").await.is(200);
    // One query for all concurrent requests, or a few: never one each, fifty milliseconds apart.
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_unknown_key_takes_as_long_as_a_wrong_secret() {
    let (service, admin) = with_admin().await;
    let wrong = |key_id: &str| format!("wm_{key_id}_{}", "0".repeat(64));
    let time_of = async |token: String| {
        let mut times = Vec::new();
        for _ in 0..9 {
            admin.get("/v1/vaults").await.is(200);
            let request = service.request(Method::GET, "/v1/vaults").bearer_auth(&token);
            let begun = std::time::Instant::now();
            Answer::to(request).await.is(401);
            times.push(begun.elapsed());
        }
        times.sort();
        times[4]
    };
    let there = time_of(wrong(&admin.key_id)).await;
    let nowhere = time_of(wrong("0000000000ab")).await;
    let (less, more) = (there.min(nowhere), there.max(nowhere));
    let most = less * 2 + Duration::from_millis(15);
    assert!(more < most, "{there:?} {nowhere:?}");
}

#[tokio::test]
async fn an_invalid_key_request_is_rejected_with_its_field() {
    let service = Service::start().await;
    for (body, field) in rows(
        r#"
        {"role": "admin"} → body
        {"name": "a b", "role": "admin"} → name
        {"name": "a", "role": "root"} → role
        {"name": "a", "role": "reader", "vaults": []} → vaults
        {"name": "a", "role": "reader", "vaults": ["a", "*"]} → vaults[1]
        {"name": "a", "role": "reader", "vault_prefix": ""} → vault_prefix
        {"name": "a", "role": "reader", "vaults": ["a"], "vault_prefix": "a"} → vault_prefix
        {"name": "a", "role": "reader", "expires_at": "soon"} → expires_at
        {"name": "a", "role": "reader", "expires_at": "9999-12-31T23:59:59-01:00"} → expires_at
        {"name": "a", "role": "reader", "expires_at": "+20000-01-01T00:00:00Z"} → expires_at
        {"name": "a", "role": "reader", "key": "mine"} → key"#,
    ) {
        service.post("/v1/keys", &body).await.invalid(field);
    }
    service.get("/v1/vaults").await.is(200);
}
