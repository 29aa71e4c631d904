//! Keeping a folder current: whatever is told of the memory, and a look now and then at what nobody tells.

use super::memory::{Memory, rules};
use super::written::{tell, write};
use crate::cli::client::{Exit, Failure, Feed, Service, Told, note};
use crate::cli::stop::Stop;
use crate::domain::window::folder::render;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Everything is read anew this often, also if nothing seems to have changed: a redaction makes no version.
const FULL_LOOK: Duration = Duration::from_secs(60);

/// The longest wait for a service that does not answer.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Everything.
    Whole,
    /// The rules, and everything if the window is another.
    Window,
    /// The rules: of the rest the stream would have told.
    Rules,
}

/// Writes the folder, and again whenever the memory changes, until SIGINT or SIGTERM.
///
/// # Errors
/// The first time nobody answers, or there is no such memory; later the service refuses for good. The disk refuses.
pub(super) async fn watch(
    service: &Service,
    folder: &Path,
    every: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    let unheard = |error: std::io::Error| Failure::failed(format!("cannot listen to signals: {error}"));
    let mut stop = Stop::listen().map_err(unheard)?;
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
    /// The wait before the next try, while the service cannot be asked.
    pause: Option<Duration>,
    /// Whether it was said that there is no stream.
    told_unheard: bool,
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
            told_unheard: false,
        }
    }

    /// Dropped at a signal; a file is written without a pause in which that could be.
    async fn run(mut self) -> Result<(), Failure> {
        // A mistake shows at once.
        let first = Memory::read(self.service).await?;
        self.write(first, true)?;
        let mut feed = Feed::of(self.service);
        loop {
            let wait = self.pause.unwrap_or(self.every);
            let mut look = tokio::select! {
                told = feed.next() => match told {
                    Told::Opened => {
                        self.told_unheard = false;
                        Look::Whole
                    }
                    Told::Happened => Look::Whole,
                    Told::Broken(failure) => {
                        self.tell_unheard(&failure);
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

    /// The memory, if it may be another than the one that was written.
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
            tell(self.folder, memory.version, &changes, self.as_json)?;
        }
        self.memory = Some(memory);
        Ok(())
    }

    fn answers(&mut self) {
        if self.pause.take().is_some() {
            note("the service answers again");
        }
    }

    /// Goes on later, if that may help. The files stay as they are.
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
                note(&format!("{sentence}; the files stay as they are, trying again"));
                self.pause = Some(self.every);
            }
            Some(pause) => self.pause = Some((pause * 2).min(LONGEST_WAIT.max(self.every))),
        }
        Ok(())
    }

    fn tell_unheard(&mut self, failure: &Failure) {
        if !self.told_unheard {
            self.told_unheard = true;
            let (sentence, every) = (&failure.sentence, self.every.as_secs());
            note(&format!(
                "no events: {sentence}; looking every {every} s until there are"
            ));
        }
    }
}
