//! Keeps a folder up to date: by events of the memory, and by polling for changes without events.

use super::folder::render;
use super::memory::{Memory, rules};
use super::written::{print_changes, write};
use crate::cli::client::{Exit, Failure, Feed, FeedEvent, Service, note};
use crate::cli::stop::Stop;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Everything is read again at this interval, also without events: a redaction makes no version.
const FULL_LOOK: Duration = Duration::from_secs(60);

/// The longest wait for a service that does not answer.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Everything.
    Whole,
    /// The rules, and everything if the window has changed.
    Window,
    /// Only the rules: the stream reports other changes.
    Rules,
}

/// Writes the folder, and again whenever the memory changes, until SIGINT or SIGTERM.
///
/// # Errors
/// The first time, no service answers, or there is no such memory; later, the service rejects permanently. An I/O error.
pub(super) async fn watch(
    service: &Service,
    folder: &Path,
    every: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    let no_signals = |error: std::io::Error| Failure::failed(format!("cannot listen to signals: {error}"));
    let mut stop = Stop::listen().map_err(no_signals)?;
    tokio::select! {
        biased;
        () = stop.wait() => Ok(()),
        ended = Watch::new(service, folder, every, as_json).run() => ended,
    }
}

struct Watch<'w> {
    service: &'w Service,
    folder: &'w Path,
    every: Duration,
    as_json: bool,
    memory: Option<Memory>,
    /// When everything was last read.
    looked: Instant,
    /// The wait before the next attempt, while the service cannot be reached.
    pause: Option<Duration>,
    /// Whether the missing stream was reported.
    reported_unavailable: bool,
}

impl<'w> Watch<'w> {
    fn new(service: &'w Service, folder: &'w Path, every: Duration, as_json: bool) -> Self {
        Self {
            service,
            folder,
            every,
            as_json,
            memory: None,
            looked: Instant::now(),
            pause: None,
            reported_unavailable: false,
        }
    }

    /// Dropped at a signal; writing files has no await point at which that could happen.
    async fn run(mut self) -> Result<(), Failure> {
        // A wrong setting is reported at once.
        let first = Memory::read(self.service).await?;
        self.write(first, true)?;
        let mut feed = Feed::of(self.service);
        loop {
            let wait = self.pause.unwrap_or(self.every);
            let mut look = tokio::select! {
                event = feed.next() => match event {
                    FeedEvent::Opened => {
                        self.reported_unavailable = false;
                        Look::Whole
                    }
                    FeedEvent::Happened(_) => Look::Whole,
                    FeedEvent::Broken(failure) => {
                        self.report_unavailable(&failure);
                        continue;
                    }
                },
                () = tokio::time::sleep(wait) => if feed.is_open() { Look::Rules } else { Look::Window },
            };
            if self.looked.elapsed() >= FULL_LOOK || self.pause.is_some() {
                look = Look::Whole;
            }
            match self.look(look).await {
                Ok(Some(memory)) => {
                    self.answers();
                    self.write(memory, false)?;
                }
                Ok(None) => self.answers(),
                Err(failure) => self.wait_for(failure)?,
            }
        }
    }

    /// The memory, if it may have changed since the last write.
    async fn look(&mut self, look: Look) -> Result<Option<Memory>, Failure> {
        if let Some(memory) = self.memory.as_ref().filter(|_| look != Look::Whole) {
            let is_current = memory.folder.rules == rules(self.service).await?
                && (look == Look::Rules || !memory.has_changed(self.service).await?);
            if is_current {
                return Ok(None);
            }
        }
        let memory = Memory::read(self.service).await?;
        self.looked = Instant::now();
        Ok(Some(memory))
    }

    fn write(&mut self, memory: Memory, is_first: bool) -> Result<(), Failure> {
        let changes = write(self.folder, &render(&memory.folder))?;
        if is_first || !changes.written.is_empty() || !changes.removed.is_empty() {
            print_changes(self.folder, memory.version, &changes, self.as_json)?;
        }
        self.memory = Some(memory);
        Ok(())
    }

    fn answers(&mut self) {
        if self.pause.take().is_some() {
            note("the service answers again");
        }
    }

    /// Retries later if the failure may be transient. The files are unchanged.
    fn wait_for(&mut self, failure: Failure) -> Result<(), Failure> {
        if !matches!(
            failure.exit,
            Exit::NoService | Exit::Failed | Exit::Busy | Exit::NotFound
        ) {
            return Err(failure);
        }
        match self.pause {
            None => {
                let sentence = failure.sentence;
                note(&format!("{sentence}; the files are unchanged, retrying"));
                self.pause = Some(self.every);
            }
            Some(pause) => self.pause = Some((pause * 2).min(LONGEST_WAIT.max(self.every))),
        }
        Ok(())
    }

    fn report_unavailable(&mut self, failure: &Failure) {
        if !self.reported_unavailable {
            self.reported_unavailable = true;
            let (sentence, every) = (&failure.sentence, self.every.as_secs());
            note(&format!(
                "no events: {sentence}; polling every {every} s until the stream is open"
            ));
        }
    }
}
