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
async fn no_row_contains_a_credential_of_an_update_that_ran_that_waits_or_is_called_off() {
    let service = Service::start().await;
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let is_masked = async |answer: &Value| {
        assert!(!answer.to_string().contains(&token));
        assert_eq!(service.tables_that_hold(&token).await, Vec::<String>::new());
        let stored: Vec<String> = service.values("SELECT request::text FROM updates").await;
        for request in stored {
            holds(&request, &["deploy from CI with the token [secret]"]);
        }
    };

    is_masked(&service.memory("other").updated(body(&token)).await).await;
    let memory = service.memory("agent");
    let request = memory.updating(&body(&token)).header("Prefer", "respond-async");
    let queued = Answer::to(request.header("Idempotency-Key", "k")).await;
    let queued = queued.is(202).json();
    is_masked(&queued).await;
    let path = format!("updates/{}", queued["update_id"].as_str().unwrap());
    is_masked(&memory.delete_at(&path).await.is(200).json()).await;
}
