//! A client of server-sent events.

use crate::harness::Service;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// One event as received.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sent {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) data: Value,
}

pub(super) struct Watch {
    response: Response,
    buffer: String,
}

impl Watch {
    /// Watches a vault.
    pub(super) async fn vault(service: &Service, query: &str, behind: Option<&str>) -> Self {
        let mut request = service.request(Method::GET, &format!("/v1/vaults/acme/events{query}"));
        if let Some(id) = behind {
            request = request.header("Last-Event-ID", id);
        }
        Self::of(request).await
    }

    /// Watches the answer to a request, which must be a stream.
    pub(super) async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            buffer: String::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Sent> {
        tokio::time::timeout(PATIENCE, self.wait())
            .await
            .expect("no event in time")
    }

    /// The next events, so many.
    pub(super) async fn take(&mut self, count: usize) -> Vec<Sent> {
        let mut received = Vec::new();
        while received.len() < count {
            received.push(self.next().await.expect("the stream ended"));
        }
        received
    }

    /// All events to the end of the stream.
    pub(super) async fn rest(&mut self) -> Vec<Sent> {
        let mut received = Vec::new();
        while let Some(sent) = self.next().await {
            received.push(sent);
        }
        received
    }

    async fn wait(&mut self) -> Option<Sent> {
        loop {
            while let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let sent = read(block);
                self.buffer = rest.to_owned();
                if let Some(sent) = sent {
                    return Some(sent);
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

/// `None` for a comment or a `retry` field.
fn read(block: &str) -> Option<Sent> {
    let field = |name: &str| {
        let mut lines = block.lines().filter_map(|line| line.strip_prefix(name));
        lines
            .next()
            .map(|value| value.trim_start_matches(": ").to_owned())
    };
    Some(Sent {
        id: field("id"),
        name: field("event")?,
        data: serde_json::from_str(&field("data")?).unwrap(),
    })
}
