//! Keys that are limited to vaults.

use super::{Holder, first_admin, with_admin};
use crate::harness::{Service, rows};
use serde_json::{Value, json};

fn ids(list: &Value, field: &str) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_key_lists_only_its_own_vaults_on_all_pages() {
    let (_, admin) = with_admin().await;
    for vault in ["acme.a", "acme.b", "acmex", "other", "zeta"] {
        admin.put(vault, "text").await.is(201);
    }
    let listed = admin
        .make(json!({"name": "l", "role": "reader", "vaults": ["zeta", "acme.a", "none"]}))
        .await;
    let prefix = admin
        .make(json!({"name": "p", "role": "reader", "vault_prefix": "acme."}))
        .await;
    let seen = listed.get("/v1/vaults").await.is(200).json();
    assert_eq!(ids(&seen, "vault_id"), ["acme.a", "zeta"]);
    let first = prefix.get("/v1/vaults?limit=1").await.is(200).json();
    assert_eq!(ids(&first, "vault_id"), ["acme.a"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = prefix
        .get(&format!("/v1/vaults?limit=1&cursor={cursor}"))
        .await
        .is(200)
        .json();
    assert_eq!(ids(&second, "vault_id"), ["acme.b"]);
    assert_eq!(second["next_cursor"], Value::Null);
    prefix.put("acme.a", "more").await.forbidden();
    prefix.put("acmex", "more").await.missing();
}

#[tokio::test]
async fn an_administrator_of_some_vaults_creates_and_lists_only_keys_of_them() {
    let (_, root) = with_admin().await;
    let own = root.make(json!({"name": "own", "role": "admin", "vault_prefix": "acme.", "expires_at": "2027-01-01T00:00:00Z"})).await;
    let other = root
        .make(json!({"name": "other", "role": "reader", "vaults": ["other"]}))
        .await;
    let end = "2026-12-01T00:00:00Z";
    for (body, field) in rows(
        r#"
        {"name": "a", "role": "reader", "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vaults": ["acme.a", "other"], "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vault_prefix": "acme", "expires_at": "2026-12-01T00:00:00Z"} → vaults
        {"name": "a", "role": "reader", "vaults": ["acme.a"]} → expires_at
        {"name": "a", "role": "reader", "vaults": ["acme.a"], "expires_at": "2027-01-02T00:00:00Z"} → expires_at"#,
    ) {
        own.post("/v1/keys", &body)
            .await
            .problem(403, "forbidden", Some(field));
    }
    let made = own
        .make(json!({"name": "a", "role": "admin", "vaults": ["acme.a"], "expires_at": end}))
        .await;
    let mut expected = vec![own.key_id.clone(), made.key_id.clone()];
    expected.sort();
    let seen = own.get("/v1/keys").await.is(200).json();
    assert_eq!(ids(&seen, "key_id"), expected);
    let seen = made.get("/v1/keys?limit=1").await.is(200).json();
    assert_eq!(ids(&seen, "key_id"), [&*made.key_id]);
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
    assert_eq!(
        (&refused["limit"], &refused["limit_name"]),
        (&json!(2), &json!("limits.vault_keys"))
    );
    root.make(json!({"name": "b", "role": "reader", "vaults": ["acme.b"]}))
        .await;
    own.delete(&format!("/v1/keys/{}", made.key_id)).await.is(204);
    own.post("/v1/keys", &key).await.conflict();
}
