//! A credential in a message is not stored with the run.

use crate::harness::{Answer, Service, holds};
use serde_json::{Value, json};

fn body(token: &str) -> Value {
    let said = format!("We decided to deploy from CI with the token {token} from now on.");
    json!({
        "task": format!("Deploy with {token}"),
        "messages": [{"role": "user", "content": said}],
    })
}

#[tokio::test]
async fn no_row_contains_a_credential_of_a_message() {
    let service = Service::start().await;
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let memory = service.memory("agent");

    let answer = memory.updated(body(&token)).await;

    assert_eq!(service.tables_that_hold(&token).await, Vec::<String>::new());
    assert!(!answer.to_string().contains(&token));
    let stored: String = service.value("SELECT request::text FROM updates").await;
    holds(&stored, &["deploy from CI with the token [secret]"]);
}

#[tokio::test]
async fn no_row_contains_a_credential_of_an_update_that_waits_or_is_called_off() {
    let service = Service::start().await;
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let memory = service.memory("agent");
    let request = memory.updating(&body(&token));
    let request = request
        .header("Prefer", "respond-async")
        .header("Idempotency-Key", "k");

    let queued = Answer::to(request).await.is(202).json();

    assert!(!queued.to_string().contains(&token));
    assert_eq!(service.tables_that_hold(&token).await, Vec::<String>::new());
    let path = format!("updates/{}", queued["update_id"].as_str().unwrap());
    memory.delete_at(&path).await.is(200);
    assert_eq!(service.tables_that_hold(&token).await, Vec::<String>::new());
    let stored: String = service.value("SELECT request::text FROM updates").await;
    holds(&stored, &["deploy from CI with the token [secret]"]);
}
