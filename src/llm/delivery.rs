//! Spans go out as questions to models do: through a client that follows no redirect and no proxy.

use super::Client;
use super::body::read_bounded;
use super::network::network_error;
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;

/// The largest answer of a collector that is read.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Delivers spans. Traces are delivered from a thread of their own, so the runtime is told apart.
#[derive(Debug)]
pub struct Delivery {
    client: Client,
    runtime: Handle,
    /// Whether the last delivery failed: the log tells of a change and not of every batch.
    failing: AtomicBool,
}

impl Delivery {
    /// Delivers through this client on the runtime of the caller.
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
            let answer = client
                .execute(reqwest::Request::try_from(request)?)
                .await
                .map_err(network_error)?;
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
