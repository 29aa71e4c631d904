//! Every operation of the OpenAPI document, without a key, with the key of another tenant and with a reader's key.

use super::{first_admin, with_admin};
use crate::harness::{Answer, OPERATIONS, Service};
use reqwest::Method;
use serde_json::json;

const PUBLIC: [&str; 3] = ["/healthz", "/readyz", "/openapi.yaml"];
const METHODS: [&str; 6] = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"];

/// Paths of the document, with the operations of each.
pub(super) fn operations() -> Vec<(String, Vec<Method>)> {
    let paths = OPERATIONS.chunk_by(|one, next| one.path == next.path);
    paths
        .map(|of_path| {
            let methods = of_path.iter().map(|operation| operation.method.clone());
            (of_path[0].path.to_owned(), methods.collect())
        })
        .collect()
}

pub(super) fn filled(path: &str, vault: &str) -> String {
    let mut filled = path.replace("{vault_id}", vault).replace("{memory_id}", "agent");
    for (name, value) in [("{ref}", "1"), ("{record_id}", "KL-1")] {
        filled = filled.replace(name, value);
    }
    while let (Some(open), Some(close)) = (filled.find('{'), filled.find('}')) {
        filled.replace_range(open..=close, "x");
    }
    filled
}

#[tokio::test]
async fn without_a_key_every_route_is_unauthorized() {
    let service = Service::start().await;
    first_admin(&service).await;
    for (path, _) in operations() {
        let public = PUBLIC.contains(&path.as_str());
        for method in METHODS {
            let method: Method = method.parse().unwrap();
            let answer = Answer::to(service.request(method.clone(), &filled(&path, "acme"))).await;
            assert_eq!(answer.status != 401, public, "{method} {path}: {}", answer.status);
            if !public {
                let realm = r#"Bearer realm="working-memory""#;
                assert_eq!(answer.header("www-authenticate"), realm);
            }
        }
    }
    service.get("/no/such/route").await.missing();
}

#[tokio::test]
async fn a_vault_of_another_tenant_has_the_same_responses_as_a_missing_one() {
    let (service, admin) = with_admin().await;
    admin.put("acme", "# Key Learnings\n- secret\n").await.is(201);
    let foreign = json!({"name": "other", "role": "admin", "vaults": ["other"]});
    let foreign = admin.make(foreign).await;
    let mut paths = operations();
    paths.retain(|(path, _)| path.contains("{vault_id}"));
    for (path, _) in &paths {
        for method in METHODS {
            let ask = async |vault| {
                let method: Method = method.parse().unwrap();
                Answer::to(foreign.request(method, &filled(path, vault))).await
            };
            let (there, nowhere) = (ask("acme").await, ask("nowhere").await);
            assert_eq!((there.status, nowhere.status), (404, 404), "{method} {path}");
            assert_eq!(there.told(), nowhere.told(), "{method} {path}");
            let names = |answer: &Answer| {
                let mut names: Vec<_> = answer.headers.keys().map(ToString::to_string).collect();
                names.sort();
                names
            };
            assert_eq!(names(&there), names(&nowhere), "{method} {path}");
        }
    }
    let vaults = foreign.get("/v1/vaults").await.is(200).json();
    assert_eq!(vaults["items"], json!([]));
    assert_eq!(service.counts(["memories", "memory_contexts"]).await, [1, 1]);
}

#[tokio::test]
async fn a_reader_changes_nothing() {
    let (service, admin) = with_admin().await;
    admin.put("acme", "text").await.is(201);
    let reader = admin
        .make(json!({"name": "r", "role": "reader", "vaults": ["acme"]}))
        .await;
    for (path, methods) in operations() {
        for method in methods {
            let request = reader.request(method.clone(), &filled(&path, "acme"));
            let status = request.send().await.unwrap().status().as_u16();
            let is_keys = path.starts_with("/v1/keys");
            // Every key may send messages; which tools a reader may call is tested in `mcp`.
            let is_protocol = path == "/mcp";
            if method == Method::GET && !is_keys || is_protocol {
                assert!(![401, 403, 405].contains(&status), "{method} {path}: {status}");
            } else {
                assert_eq!(status, 403, "{method} {path}");
            }
        }
    }
    // Of a method that the route does not have no role is asked.
    let request = reader.request(Method::PATCH, "/v1/vaults/acme/memories/agent/context");
    assert_eq!(request.send().await.unwrap().status(), 405);
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_writer_adds_and_only_an_administrator_deletes_history() {
    let (_, admin) = with_admin().await;
    let writer = admin
        .make(json!({"name": "w", "role": "writer", "vault_prefix": "acme"}))
        .await;
    writer.put("acme", "one").await.is(201);
    writer.put("acme", "two").await.is(201);
    let memory = "/v1/vaults/acme/memories/agent";
    let reason = json!({"reason": "it held a key"});
    let redact = format!("{memory}/contexts/1/redact");
    let refused = writer.post(&redact, &reason).await.forbidden();
    assert_eq!(refused["required_role"], "admin");
    writer.delete(memory).await.forbidden();
    writer.get("/v1/keys").await.forbidden();
    admin.post(&redact, &reason).await.is(200);
    admin.delete(memory).await.is(204);
}
