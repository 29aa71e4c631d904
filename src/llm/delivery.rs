//! Exports trace spans with the same HTTP client as model requests: without redirects and proxies.

use super::Client;
use super::endpoint::{network_error, read_bounded};
use crate::telemetry::traces::DELIVERY_TIME;
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;

/// Maximum size of a collector's response that is read.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Exports spans. The exporter runs on its own thread, so the runtime handle is stored.
#[derive(Debug)]
pub struct Delivery {
    client: Client,
    runtime: Handle,
    /// Whether the last export failed: only changes are logged, not every batch.
    failing: AtomicBool,
}

impl Delivery {
    /// Creates an exporter that uses this client on the current runtime.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self {
            client,
            runtime: Handle::current(),
            failing: AtomicBool::new(false),
        }
    }

    fn note(&self, problem: Option<String>) {
        let was_failing = self.failing.swap(problem.is_some(), Ordering::Relaxed);
        match problem {
            Some(problem) if !was_failing => tracing::warn!(problem, "spans cannot be delivered"),
            None if was_failing => tracing::info!("spans are delivered again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Delivery {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.0.clone();
        let sent = self.runtime.spawn(async move {
            let mut request = reqwest::Request::try_from(request)?;
            // The exporter's own timeout only ends its retries: a collector that never answers would hold it forever.
            *request.timeout_mut() = Some(DELIVERY_TIME);
            let answer = client.execute(request).await.map_err(network_error)?;
            let status = answer.status();
            let headers = answer.headers().clone();
            let body = read_bounded(answer, MAX_ANSWER_BYTES).await?;
            let mut response = Response::new(Bytes::from(body));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok::<_, HttpError>(response)
        });
        let answer = sent.await?;
        self.note(match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answered with status {}", answer.status())),
            Err(error) => Some(error.to_string()),
        });
        answer
    }
}
