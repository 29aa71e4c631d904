//! A credential in a message is not stored with the run.

use crate::harness::{Service, holds};
use serde_json::json;

#[tokio::test]
async fn no_row_contains_a_credential_of_a_message() {
    let service = Service::start().await;
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let memory = service.memory("agent");
    let said = format!("We decided to deploy from CI with the token {token} from now on.");
    let body = json!({
        "task": format!("Deploy with {token}"),
        "messages": [{"role": "user", "content": said}],
    });

    let answer = memory.updated(body).await;

    assert_eq!(service.tables_that_hold(&token).await, Vec::<String>::new());
    assert!(!answer.to_string().contains(&token));
    let stored: String = service.value("SELECT request::text FROM updates").await;
    holds(&stored, &["deploy from CI with the token [secret]"]);
}
