//! The events of a memory or vault (docs/events.md): a stream that reconnects when its connection is lost.

use super::failure::{Exit, Failure, media_type, note, of_another_type};
use super::service::{Call, whole};
use crate::mcp::{Unreachable, events};
use bytes::Bytes;
use futures::stream::unfold;
use futures::{Stream, StreamExt as _};
use sse_stream::Sse;
use std::pin::pin;
use std::time::Duration;

/// The backoff between attempts to open the stream: doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// After a rejection the stream is requested again this much later.
const REFUSED_PAUSE: Duration = Duration::from_secs(300);

/// A stream without any data for this long counts as broken: a comment comes every 15 s.
const SILENCE: Duration = Duration::from_secs(120);

/// Calls `happened` with the JSON of each event that `call` asks for, until it returns false, and opens the stream again after
/// the last event whenever it breaks.
///
/// # Errors
/// It cannot be opened the first time, or `happened` fails.
pub(in crate::cli) async fn follow<'s>(
    call: impl Fn() -> Result<Call<'s>, Failure>,
    happened: impl Fn(&str) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let (mut last_id, mut was_open, mut pause) = (None::<String>, false, PAUSES.0);
    loop {
        let failure = match open(call()?, last_id.as_deref()).await {
            Ok(stream) => {
                if std::mem::replace(&mut was_open, true) {
                    note("the stream is open again and resumes after the last event");
                }
                pause = PAUSES.0;
                let mut stream = pin!(stream);
                loop {
                    match stream.next().await {
                        None => break Failure::failed("the event stream ended"),
                        Some(Err(Unreachable(sentence))) => break Failure::failed(sentence),
                        Some(Ok(Sse { id, data, .. })) => {
                            last_id = id.or(last_id);
                            if data.as_deref().map(&happened).transpose()? == Some(false) {
                                return Ok(());
                            }
                        }
                    }
                }
            }
            Err(failure) if !was_open => return Err(failure),
            Err(failure) => failure,
        };
        note(&format!("{}; trying again", failure.sentence));
        if failure.exit == Exit::Refused {
            // A position that the service rejects is not sent again.
            last_id = None;
        }
        tokio::time::sleep(match failure.exit {
            Exit::NoService | Exit::Failed | Exit::Busy => pause,
            _ => REFUSED_PAUSE,
        })
        .await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

async fn open(
    call: Call<'_>,
    last_id: Option<&str>,
) -> Result<impl Stream<Item = Result<Sse, Unreachable>> + use<>, Failure> {
    let mut call = call.accept("text/event-stream");
    if let Some(id) = last_id {
        call = call.named_header("last-event-id", id)?;
    }
    let response = call.begin().await?;
    if !response.status().is_success() {
        let lost = |_| Failure::failed("the answer of the service was lost");
        whole(response).await.map_err(lost)?.into_success("")?;
        return Err(Failure::failed("the response is not a stream"));
    }
    if !media_type(response.headers()).starts_with("text/event-stream") {
        return Err(of_another_type(response.headers()));
    }
    Ok(events(pieces(response, SILENCE)))
}

/// The pieces of a stream, which must not fall silent for so long: the service sends comments.
pub(in crate::cli) fn pieces(
    response: reqwest::Response,
    silence: Duration,
) -> impl Stream<Item = Result<Bytes, Unreachable>> + Send {
    unfold(Some(response), move |open| async move {
        let mut response = open?;
        let broken = |why: &str| Some((Err(Unreachable(format!("the event stream {why}"))), None));
        match tokio::time::timeout(silence, response.chunk()).await {
            Err(_) => broken("fell silent"),
            Ok(Err(_)) => broken("broke"),
            Ok(Ok(None)) => None,
            Ok(Ok(Some(piece))) => Some((Ok(piece), Some(response))),
        }
    })
}
