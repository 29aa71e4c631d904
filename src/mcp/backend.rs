//! The interface through which tools, resources and prompts call the routes.

use super::arguments::Fixed;
use super::failure::Failure;
pub(crate) use crate::route_request::RouteRequest;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use rmcp::model::Extensions;
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use std::future::Future;

/// The maximum size of an event of a stream, in bytes.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// A response with its whole body.
pub(crate) type RouteResponse = http::Response<Bytes>;

/// The response to a streaming request.
pub(crate) enum StreamResponse {
    /// Another status than a success, or no stream.
    Whole(RouteResponse),
    /// The pieces of the body.
    Stream(BoxStream<'static, Result<Bytes, Unreachable>>),
}

/// The service cannot be reached; the message says which address and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreachable(pub(crate) String);

/// Executes requests. `from` contains the extensions of the message that caused them.
pub(crate) trait Backend: Send + Sync + 'static {
    /// The vault and memory that are fixed for this client.
    fn fixed(&self, from: &Extensions) -> Fixed;

    /// Sends a request and reads the whole response.
    fn ask(
        &self,
        from: &Extensions,
        ask: RouteRequest,
    ) -> impl Future<Output = Result<RouteResponse, Unreachable>> + Send;

    /// Opens a stream.
    fn open(
        &self,
        from: &Extensions,
        ask: RouteRequest,
    ) -> impl Future<Output = Result<StreamResponse, Unreachable>> + Send;
}

/// Sends a request, and fails unless the response is a success.
pub(super) async fn success<B: Backend + ?Sized>(
    backend: &B,
    from: &Extensions,
    ask: RouteRequest,
) -> Result<RouteResponse, Failure> {
    let answer = backend.ask(from, ask).await?;
    match answer.status().is_success() {
        true => Ok(answer),
        false => Err(Failure::of_answer(&answer)),
    }
}

/// Like [`success`], and parses the JSON.
pub(super) async fn json<B: Backend + ?Sized>(
    backend: &B,
    from: &Extensions,
    ask: RouteRequest,
) -> Result<Value, Failure> {
    parse(&success(backend, from, ask).await?)
}

/// Parses the JSON of a response.
pub(super) fn parse(answer: &RouteResponse) -> Result<Value, Failure> {
    serde_json::from_slice(answer.body()).map_err(|_| {
        Failure::new(
            "the response of the memory service cannot be parsed",
            "Tell the user: the service may have another version than this program.",
        )
    })
}

/// The events of a stream. One that is too long ends it.
pub(crate) fn events<E: std::error::Error + Send + Sync + 'static>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> impl Stream<Item = Result<Sse, Unreachable>> + Send {
    let mut pending = 0;
    let pieces = pieces.map(move |piece| {
        let piece = piece.map_err(|error| Unreachable(error.to_string()))?;
        pending = match memchr::memmem::rfind(&piece, b"\n\n") {
            Some(end) => piece.len() - end,
            None => pending + piece.len(),
        };
        match pending {
            0..=MAX_EVENT_BYTES => Ok(piece),
            _ => Err(Unreachable(format!("an event is over {MAX_EVENT_BYTES} bytes"))),
        }
    });
    SseStream::from_bytes_stream(pieces).map_err(|error| match error {
        sse_stream::Error::Body(cause) => Unreachable(cause.to_string()),
        other => Unreachable(format!("the event stream cannot be read: {other}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[tokio::test]
    async fn events_come_in_any_pieces_and_an_endless_one_ends_the_stream() {
        let text = ": hello\n\nevent: asked\nid: 1-a\ndata: {\"a\":1}\n\ndata: b\ndata: c\n\n";
        for size in 1..text.len() {
            let pieces: Vec<io::Result<Bytes>> = text
                .as_bytes()
                .chunks(size)
                .map(|piece| Ok(Bytes::copy_from_slice(piece)))
                .collect();
            let all = events(futures::stream::iter(pieces)).try_collect::<Vec<Sse>>();
            let data: Vec<String> = all
                .await
                .unwrap()
                .into_iter()
                .filter_map(|event| event.data)
                .collect();
            assert_eq!(data, ["{\"a\":1}", "b\nc"], "pieces of {size}");
        }
        let endless = futures::stream::repeat_with(|| Ok::<_, io::Error>(Bytes::from(vec![b'x'; 1 << 20])));
        let all = events(endless).try_collect::<Vec<Sse>>().await;
        assert!(all.unwrap_err().0.contains("over 4194304 bytes"));
    }
}
