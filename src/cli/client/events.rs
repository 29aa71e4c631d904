//! What happens to a memory, as the service tells it (docs/events.md): a stream that is opened again where it breaks.

use super::failure::{Exit, Failure};
use super::service::Service;
use reqwest::Method;
use std::time::Duration;
use tokio::time::Instant;

/// Between two tries to open the stream: doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// After a refusal the stream is asked for again this much later.
const REFUSED_PAUSE: Duration = Duration::from_secs(300);

/// A stream that is silent for so long is taken for broken. A comment comes every 15 s, unless the operator says
/// otherwise; where that is rarer, the stream is opened anew and goes on where it was.
const SILENCE: Duration = Duration::from_secs(120);

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Who only wants to know that something happened takes none; so many are kept.
const MAX_UNTAKEN: usize = 1_024;

/// What came of waiting for an event.
#[derive(Debug)]
pub(in crate::cli) enum Told {
    /// The stream is open: from now on everything is told.
    Opened,
    /// Something happened to the memory.
    Happened,
    /// The stream broke or could not be opened; the sentence says why.
    Broken(Failure),
}

/// Which events are asked for.
struct Wanted {
    memory: Option<String>,
    kinds: Option<String>,
}

/// The events of a vault, or of one memory.
pub(in crate::cli) struct Feed<'s> {
    service: &'s Service,
    /// `None`: versions of the memory that is meant, and its end.
    wanted: Option<Wanted>,
    stream: Option<reqwest::Response>,
    reader: Reader,
    retry_at: Instant,
    pause: Duration,
}

impl<'s> Feed<'s> {
    /// Versions of the memory that is meant. Opens nothing yet.
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

    /// Whether everything is told at once.
    pub(in crate::cli) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// What the events said that were told since this was last asked, as JSON.
    pub(in crate::cli) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.reader.events)
    }

    /// Waits for what comes next. May be dropped and called again.
    pub(in crate::cli) async fn next(&mut self) -> Told {
        let told = match &mut self.stream {
            None => {
                tokio::time::sleep_until(self.retry_at).await;
                self.open().await.map(|()| Told::Opened)
            }
            Some(stream) => happened(stream, &mut self.reader).await.map(|()| Told::Happened),
        };
        told.unwrap_or_else(|failure| {
            self.stream = None;
            self.reader.restart();
            let wait = match failure.exit {
                Exit::NoService | Exit::Failed | Exit::Busy => self.pause,
                _ => REFUSED_PAUSE,
            };
            self.pause = (self.pause * 2).min(PAUSES.1);
            self.retry_at = Instant::now() + wait;
            Told::Broken(failure)
        })
    }

    async fn open(&mut self) -> Result<(), Failure> {
        let call = self.service.of_vault(Method::GET, &["events"])?;
        let call = match &self.wanted {
            Some(Wanted { memory, kinds }) => call
                .maybe("memory_id", memory.as_ref())
                .maybe("kinds", kinds.as_ref()),
            None => call
                .query("memory_id", self.service.place()?.memory.as_str())
                .query("kinds", "version,memory_deleted"),
        };
        let mut call = call.accept("text/event-stream");
        if let Some(id) = &self.reader.last_id {
            call = call.behind(id)?;
        }
        match call.open().await {
            Ok(stream) => {
                self.stream = Some(stream);
                self.pause = PAUSES.0;
                Ok(())
            }
            Err(failure) => {
                // A place that the service does not understand is not asked for again.
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
        let broken = |why: &str| Failure::failed(format!("the stream of events {why}"));
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

/// Lines of a stream, in whatever pieces they come.
#[derive(Debug, Default)]
struct Reader {
    line: Vec<u8>,
    id: Option<String>,
    data: Option<String>,
    /// The data of events that were complete and not yet taken.
    events: Vec<String>,
    /// The id of the last event that was complete.
    last_id: Option<String>,
}

impl Reader {
    /// Forgets the event that was on its way.
    fn restart(&mut self) {
        (self.line, self.id, self.data) = (Vec::new(), None, None);
    }

    /// Takes a piece; whether an event became complete.
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

    const TOLD: &str =
        ": hello\n\nid: 1-a\nevent: version\ndata: {}\n\nid: 2-a\r\ndata:x\r\n\r\nid: 3-a\ndata: cut";

    #[test]
    fn an_event_counts_when_it_is_complete() {
        let mut reader = Reader::default();
        assert_eq!(reader.feed(b": comment\n\nretry: 2000\n\n"), Ok(false));
        assert_eq!(reader.feed(TOLD.as_bytes()), Ok(true));
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
            let events = TOLD.as_bytes().chunks(size).filter(|piece| reader.feed(piece).unwrap()).count();
            prop_assert!((1..=2).contains(&events));
            prop_assert_eq!(reader.last_id.as_deref(), Some("2-a"));
        }
    }
}
