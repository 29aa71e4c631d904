//! Keys that are limited to vaults.

use super::{Holder, first_admin, with_admin};
use crate::harness::{Service, each, has, rows};
use serde_json::{Value, json};

#[tokio::test]
async fn a_key_lists_only_its_own_vaults_on_all_pages() {
    let (_, admin) = with_admin().await;
    for vault in ["acme.a", "acme.b", "acmex", "other", "zeta"] {
        admin.put(vault, "text").await.is(201);
    }
    let listed = json!({"name": "l", "role": "reader", "vaults": ["zeta", "acme.a", "none"]});
    let listed = admin.make(listed).await;
    let prefix = json!({"name": "p", "role": "reader", "vault_prefix": "acme."});
    let prefix = admin.make(prefix).await;
    let seen = listed.get("/v1/vaults").await.is(200).json();
    assert_eq!(each(&seen["items"], "vault_id"), ["acme.a", "zeta"]);
    let first = prefix.get("/v1/vaults?limit=1").await.is(200).json();
    assert_eq!(each(&first["items"], "vault_id"), ["acme.a"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = format!("/v1/vaults?limit=1&cursor={cursor}");
    let second = prefix.get(&second).await.is(200).json();
    assert_eq!(each(&second["items"], "vault_id"), ["acme.b"]);
    assert_eq!(second["next_cursor"], Value::Null);
    prefix.put("acme.a", "more").await.forbidden();
    prefix.put("acmex", "more").await.missing();
}

#[tokio::test]
async fn an_administrator_of_some_vaults_creates_and_lists_only_keys_of_them() {
    let (_, root) = with_admin().await;
    let own = root.make(json!({"name": "own", "role": "admin", "vault_prefix": "acme.", "expires_at": "2027-01-01T00:00:00Z"})).await;
    let other = json!({"name": "other", "role": "reader", "vaults": ["other"]});
    let other = root.make(other).await;
    let end = "2026-12-01T00:00:00Z";
    for (body, field) in rows(
        r#"
        {"name": "a", "role": "reader", "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vaults": ["acme.a", "other"], "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vault_prefix": "acme", "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vaults": ["acme.a"]} → expires_at
        {"name": "a", "role": "reader", "vaults": ["acme.a"], "expires_at": "2027-01-02T00:00:00Z"} → expires_at"#,
    ) {
        let refused = own.post("/v1/keys", &body).await;
        refused.problem(403, "forbidden", Some(field));
    }
    let made = json!({"name": "a", "role": "admin", "vaults": ["acme.a"], "expires_at": end});
    let made = own.make(made).await;
    let mut expected = [&*own.key_id, &*made.key_id];
    expected.sort();
    let seen = own.get("/v1/keys").await.is(200).json();
    assert_eq!(each(&seen["items"], "key_id"), expected);
    let seen = made.get("/v1/keys?limit=1").await.is(200).json();
    assert_eq!(each(&seen["items"], "key_id"), [&*made.key_id]);
    for hidden in [&root.key_id, &other.key_id] {
        let path = format!("/v1/keys/{hidden}");
        own.get(&path).await.missing();
        own.delete(&path).await.missing();
        own.post(&format!("{path}/rotate"), &json!({})).await.missing();
    }
    other.get("/v1/vaults").await.is(200);
}

/// Where vaults may have so many keys: the first key, that of an administrator of some vaults, and a key to ask for.
async fn limited_to(keys: u64) -> (Holder, Holder, Value) {
    let service = Service::configured(|config| config.limits.vault_keys = keys).await;
    let root = first_admin(&service).await;
    let end = "2027-01-01T00:00:00Z";
    let own = root
        .make(json!({"name": "own", "role": "admin", "vault_prefix": "acme.", "expires_at": end}))
        .await;
    let key = json!({"name": "a", "role": "reader", "vaults": ["acme.a"], "expires_at": end});
    (root, own, key)
}

#[tokio::test]
async fn keys_created_at_the_same_time_stay_within_the_limit() {
    let (_root, own, key) = limited_to(3).await;
    let creating = (0..12).map(|_| own.post("/v1/keys", &key));
    let answers = futures::future::join_all(creating).await;
    let mut created = 0;
    for answer in answers {
        match answer.status {
            201 => created += 1,
            _ => drop(answer.conflict()),
        }
    }
    assert_eq!(created, 2, "beside the key that creates them");
}

#[tokio::test]
async fn the_number_of_keys_is_limited_per_vault() {
    let (root, own, key) = limited_to(2).await;
    let made = own.make(key.clone()).await;
    let refused = own.post("/v1/keys", &key).await.conflict();
    has(&refused, json!({"limit": 2, "limit_name": "limits.vault_keys"}));
    let beside = json!({"name": "b", "role": "reader", "vaults": ["acme.b"]});
    root.make(beside).await;
    own.delete(&format!("/v1/keys/{}", made.key_id)).await.is(204);
    own.post("/v1/keys", &key).await.conflict();
}
