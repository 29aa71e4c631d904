//! The events of a memory or vault (docs/events.md): a stream that reconnects when its connection is lost.

use super::failure::{Exit, Failure};
use super::service::Service;
use crate::mcp::{Unreachable, events};
use bytes::Bytes;
use futures::stream::{BoxStream, unfold};
use futures::{Stream, StreamExt as _};
use reqwest::Method;
use sse_stream::Sse;
use std::time::Duration;
use tokio::time::Instant;

/// The backoff between attempts to open the stream: doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// After a rejection the stream is requested again this much later.
const REFUSED_PAUSE: Duration = Duration::from_secs(300);

/// A stream without any data for this long counts as broken. A comment comes every 15 s by default; if the operator
/// configured a longer heartbeat, the stream is reopened and resumes after the last event.
const SILENCE: Duration = Duration::from_secs(120);

/// The result of waiting for an event.
#[derive(Debug)]
pub(in crate::cli) enum FeedEvent {
    /// The stream is open: from now on every event is received.
    Opened,
    /// An event arrived; its data is JSON.
    Happened(String),
    /// The stream broke or could not be opened, with the error.
    Broken(Failure),
}

/// The events of a vault, of some kinds and of one memory, or of all.
pub(in crate::cli) struct Feed<'s> {
    service: &'s Service,
    memory: Option<String>,
    kinds: Option<String>,
    stream: Option<BoxStream<'static, Result<Sse, Unreachable>>>,
    /// The id of the last event.
    last_id: Option<String>,
    retry_at: Instant,
    pause: Duration,
}

impl<'s> Feed<'s> {
    /// Opens no connection yet.
    pub(in crate::cli) fn new(service: &'s Service, memory: Option<String>, kinds: Option<String>) -> Self {
        Self {
            service,
            memory,
            kinds,
            stream: None,
            last_id: None,
            retry_at: Instant::now(),
            pause: PAUSES.0,
        }
    }

    /// Waits for the next event. Cancellation safe.
    pub(in crate::cli) async fn next(&mut self) -> FeedEvent {
        let event = match &mut self.stream {
            None => {
                tokio::time::sleep_until(self.retry_at).await;
                self.open().await.map(|()| FeedEvent::Opened)
            }
            Some(stream) => happened(stream, &mut self.last_id).await.map(FeedEvent::Happened),
        };
        event.unwrap_or_else(|failure| {
            self.stream = None;
            let wait = match failure.exit {
                Exit::NoService | Exit::Failed | Exit::Busy => self.pause,
                _ => REFUSED_PAUSE,
            };
            self.pause = (self.pause * 2).min(PAUSES.1);
            self.retry_at = Instant::now() + wait;
            FeedEvent::Broken(failure)
        })
    }

    async fn open(&mut self) -> Result<(), Failure> {
        let call = self.service.of_vault(Method::GET, &["events"])?;
        let mut call = call
            .maybe("memory_id", self.memory.as_ref())
            .maybe("kinds", self.kinds.as_ref())
            .accept("text/event-stream");
        if let Some(id) = &self.last_id {
            call = call.header("last-event-id", id)?;
        }
        match call.open().await {
            Ok(stream) => {
                self.stream = Some(events(pieces(stream)).boxed());
                self.pause = PAUSES.0;
                Ok(())
            }
            Err(failure) => {
                // A position that the service rejects is not sent again.
                if failure.exit == Exit::Refused {
                    self.last_id = None;
                }
                Err(failure)
            }
        }
    }
}

/// The pieces of a stream, which must not fall silent: the service sends comments.
fn pieces(response: reqwest::Response) -> impl Stream<Item = Result<Bytes, Unreachable>> + Send {
    unfold(Some(response), |open| async {
        let mut response = open?;
        let broken = |why: &str| Some((Err(Unreachable(format!("the event stream {why}"))), None));
        match tokio::time::timeout(SILENCE, response.chunk()).await {
            Err(_) => broken("fell silent"),
            Ok(Err(_)) => broken("broke"),
            Ok(Ok(None)) => None,
            Ok(Ok(Some(piece))) => Some((Ok(piece), Some(response))),
        }
    })
}

/// Waits for an event with data.
async fn happened(
    stream: &mut BoxStream<'static, Result<Sse, Unreachable>>,
    last_id: &mut Option<String>,
) -> Result<String, Failure> {
    while let Some(event) = stream.next().await {
        let Sse { id, data, .. } = event.map_err(|Unreachable(sentence)| Failure::failed(sentence))?;
        if id.is_some() {
            *last_id = id;
        }
        if let Some(data) = data {
            return Ok(data);
        }
    }
    Err(Failure::failed("the event stream ended"))
}
