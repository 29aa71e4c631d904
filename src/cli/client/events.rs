//! The events of a memory or vault (docs/events.md): a stream that reconnects when its connection is lost.

use super::failure::{Exit, Failure};
use super::service::Service;
use reqwest::Method;
use std::time::Duration;
use tokio::time::Instant;

/// The backoff between attempts to open the stream: doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// After a rejection the stream is requested again this much later.
const REFUSED_PAUSE: Duration = Duration::from_secs(300);

/// A stream without any data for this long counts as broken. A comment comes every 15 s by default; if the operator
/// configured a longer heartbeat, the stream is reopened and resumes after the last event.
const SILENCE: Duration = Duration::from_secs(120);

/// The longest line that is accepted, in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// How many events are kept for a caller that does not read their data.
const MAX_UNTAKEN: usize = 1_024;

/// The result of waiting for an event.
#[derive(Debug)]
pub(in crate::cli) enum FeedEvent {
    /// The stream is open: from now on every event is received.
    Opened,
    /// An event arrived.
    Happened,
    /// The stream broke or could not be opened, with the error.
    Broken(Failure),
}

/// The filter of the stream.
struct Wanted {
    memory: Option<String>,
    kinds: Option<String>,
}

/// The events of a vault, or of one memory.
pub(in crate::cli) struct Feed<'s> {
    service: &'s Service,
    /// `None`: versions of the selected memory, and its deletion.
    wanted: Option<Wanted>,
    stream: Option<reqwest::Response>,
    reader: Reader,
    retry_at: Instant,
    pause: Duration,
}

impl<'s> Feed<'s> {
    /// Versions of the selected memory. Opens no connection yet.
    pub(in crate::cli) fn of(service: &'s Service) -> Self {
        Self::wanting(service, None)
    }

    /// Events of the vault, of some kinds or of all.
    pub(in crate::cli) fn of_vault(
        service: &'s Service,
        memory: Option<String>,
        kinds: Option<String>,
    ) -> Self {
        Self::wanting(service, Some(Wanted { memory, kinds }))
    }

    fn wanting(service: &'s Service, wanted: Option<Wanted>) -> Self {
        Self {
            service,
            wanted,
            stream: None,
            reader: Reader::default(),
            retry_at: Instant::now(),
            pause: PAUSES.0,
        }
    }

    /// Whether the stream is open, so that events arrive at once.
    pub(in crate::cli) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns the JSON data of the events since the last call.
    pub(in crate::cli) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.reader.events)
    }

    /// Waits for the next event. Cancellation safe.
    pub(in crate::cli) async fn next(&mut self) -> FeedEvent {
        let event = match &mut self.stream {
            None => {
                tokio::time::sleep_until(self.retry_at).await;
                self.open().await.map(|()| FeedEvent::Opened)
            }
            Some(stream) => happened(stream, &mut self.reader)
                .await
                .map(|()| FeedEvent::Happened),
        };
        event.unwrap_or_else(|failure| {
            self.stream = None;
            self.reader.restart();
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
        let call = match &self.wanted {
            Some(Wanted { memory, kinds }) => call
                .maybe("memory_id", memory.as_ref())
                .maybe("kinds", kinds.as_ref()),
            None => call
                .query("memory_id", self.service.memory_ref()?.memory.as_str())
                .query("kinds", "version,memory_deleted"),
        };
        let mut call = call.accept("text/event-stream");
        if let Some(id) = &self.reader.last_id {
            call = call.resume_after(id)?;
        }
        match call.open().await {
            Ok(stream) => {
                self.stream = Some(stream);
                self.pause = PAUSES.0;
                Ok(())
            }
            Err(failure) => {
                // A position that the service rejects is not sent again.
                if failure.exit == Exit::Refused {
                    self.reader.last_id = None;
                }
                Err(failure)
            }
        }
    }
}

/// Reads until an event is complete.
async fn happened(stream: &mut reqwest::Response, reader: &mut Reader) -> Result<(), Failure> {
    loop {
        let broken = |why: &str| Failure::failed(format!("the event stream {why}"));
        let chunk = match tokio::time::timeout(SILENCE, stream.chunk()).await {
            Err(_) => return Err(broken("fell silent")),
            Ok(Err(_)) => return Err(broken("broke")),
            Ok(Ok(None)) => return Err(broken("ended")),
            Ok(Ok(Some(chunk))) => chunk,
        };
        if reader.feed(&chunk).map_err(|()| broken("cannot be read"))? {
            return Ok(());
        }
    }
}

/// Parses the lines of a stream, in pieces of any size.
#[derive(Debug, Default)]
struct Reader {
    line: Vec<u8>,
    id: Option<String>,
    data: Option<String>,
    /// The data of complete events that were not yet returned.
    events: Vec<String>,
    /// The id of the last complete event.
    last_id: Option<String>,
}

impl Reader {
    /// Discards the incomplete event.
    fn restart(&mut self) {
        (self.line, self.id, self.data) = (Vec::new(), None, None);
    }

    /// Adds a piece; returns whether an event became complete.
    fn feed(&mut self, piece: &[u8]) -> Result<bool, ()> {
        let mut is_complete = false;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() > MAX_LINE_BYTES {
                return Err(());
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                is_complete |= self.end_line();
            }
        }
        Ok(is_complete)
    }

    fn end_line(&mut self) -> bool {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line))
            .trim_end_matches(['\r', '\n'])
            .to_owned();
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            _ if line.is_empty() => {
                self.last_id = self.id.take().or_else(|| self.last_id.take());
                let Some(data) = self.data.take() else {
                    return false;
                };
                if self.events.len() < MAX_UNTAKEN {
                    self.events.push(data);
                }
                return true;
            }
            "id" => self.id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str =
        ": hello\n\nid: 1-a\nevent: version\ndata: {}\n\nid: 2-a\r\ndata:x\r\n\r\nid: 3-a\ndata: cut";

    #[test]
    fn an_event_counts_when_it_is_complete() {
        let mut reader = Reader::default();
        assert_eq!(reader.feed(b": comment\n\nretry: 2000\n\n"), Ok(false));
        assert_eq!(reader.feed(STREAM.as_bytes()), Ok(true));
        assert_eq!(reader.last_id.as_deref(), Some("2-a"));
        assert_eq!(std::mem::take(&mut reader.events), ["{}", "x"]);
        reader.restart();
        assert_eq!(reader.feed(b"\n\n"), Ok(false));
        assert_eq!(reader.last_id.as_deref(), Some("2-a"));
        assert_eq!(reader.feed(&vec![b'x'; MAX_LINE_BYTES + 1]), Err(()));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_in_which_pieces_it_comes(size in 1_usize..20) {
            let mut reader = Reader::default();
            let events = STREAM.as_bytes().chunks(size).filter(|piece| reader.feed(piece).unwrap()).count();
            prop_assert!((1..=2).contains(&events));
            prop_assert_eq!(reader.last_id.as_deref(), Some("2-a"));
        }
    }
}
