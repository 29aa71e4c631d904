//! Keeping a folder up to date while the program runs: until a signal, and with growing pauses while no service answers.

use crate::cli::client::{Exit, Failure, note};
use crate::cli::run::Stop;
use std::future::Future;
use std::time::Duration;

/// The longest pause while a service does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Runs until SIGINT or SIGTERM, or until `work` ends. `work` is dropped at a signal, at one of its await points.
///
/// # Errors
/// Those of `work`; signals cannot be received.
pub(in crate::cli) async fn until_stopped(
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let no_signals = |error: std::io::Error| Failure::failed(format!("cannot listen to signals: {error}"));
    let mut stop = Stop::listen().map_err(no_signals)?;
    tokio::select! {
        biased;
        _ = stop.wait() => Ok(()),
        ended = work => ended,
    }
}

/// The pauses between two looks.
pub(in crate::cli) struct Backoff {
    every: Duration,
    /// While the service cannot be reached.
    pause: Option<Duration>,
}

impl Backoff {
    /// Looks at this interval as long as the service answers.
    pub(in crate::cli) fn new(every: Duration) -> Self {
        Self { every, pause: None }
    }

    /// The time until the next look.
    pub(in crate::cli) fn wait(&self) -> Duration {
        self.pause.unwrap_or(self.every)
    }

    /// Whether the last look failed.
    pub(in crate::cli) fn is_failing(&self) -> bool {
        self.pause.is_some()
    }

    /// A look succeeded.
    pub(in crate::cli) fn succeeded(&mut self) {
        if self.pause.take().is_some() {
            note("the service answers again");
        }
    }

    /// A look failed: the pause grows, and the first failure is reported. The files are unchanged.
    ///
    /// # Errors
    /// The failure itself, if it will not pass.
    pub(in crate::cli) fn failed(&mut self, failure: Failure, may_pass: &[Exit]) -> Result<(), Failure> {
        if !may_pass.contains(&failure.exit) {
            return Err(failure);
        }
        self.pause = Some(match self.pause {
            Some(pause) => (pause * 2).min(LONGEST_PAUSE.max(self.every)),
            None => {
                note(&format!(
                    "{}; the files are unchanged, retrying",
                    failure.sentence
                ));
                self.every
            }
        });
        Ok(())
    }
}
