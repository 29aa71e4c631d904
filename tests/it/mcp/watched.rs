//! `subscriptions/listen`: changes of resources are notified as they happen.

use crate::harness::Service;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

struct Stream {
    response: reqwest::Response,
    pending: String,
}

impl Stream {
    /// The next message.
    async fn next(&mut self) -> Value {
        loop {
            while let Some((line, rest)) = self.pending.split_once('\n') {
                let data = line
                    .strip_prefix("data:")
                    .map(|data| serde_json::from_str(data.trim()));
                self.pending = rest.to_owned();
                if let Some(Ok(message)) = data {
                    return message;
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await;
            let chunk = chunk
                .expect("no notification in time")
                .unwrap()
                .expect("the stream ended");
            self.pending.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

#[tokio::test]
async fn a_change_of_a_subscribed_memory_is_notified_and_one_of_another_is_not() {
    let service = Service::start().await;
    service.memory("agent").put("a").await.is(201);
    let uri = "memory://acme/agent/context";
    let listen = json!({"jsonrpc": "2.0", "id": "l1", "method": "subscriptions/listen", "params": {
        "notifications": {"resourceSubscriptions": [uri, "memory://acme/agent/contexts/1"]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let request = service
        .request(Method::POST, "/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "subscriptions/listen")
        .json(&listen);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = Stream {
        response,
        pending: String::new(),
    };
    let acknowledged = stream.next().await;
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted, &json!([uri]), "{acknowledged}");
    // The event stream starts with the response; earlier writes are not notified.
    tokio::time::sleep(Duration::from_millis(300)).await;
    service.memory("other").put("b").await.is(201);
    service.memory("agent").put("c").await.is(201);
    let notification = stream.next().await;
    assert_eq!(
        notification["method"], "notifications/resources/updated",
        "{notification}"
    );
    assert_eq!(notification["params"]["uri"], uri);
    service.stop();
    let ended = stream.next().await;
    assert_eq!(ended["id"], "l1", "{ended}");
}
