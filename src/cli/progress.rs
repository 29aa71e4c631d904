//! A progress line on a terminal.

use crate::storage::transfer::Progress;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

/// The interval between two updates of the line.
const INTERVAL: Duration = Duration::from_millis(200);

/// Prints nothing if standard error is not a terminal.
pub(super) struct ProgressLine {
    on_terminal: bool,
    shown: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self {
            on_terminal: std::io::stderr().is_terminal(),
            shown: None,
        }
    }

    /// Prints the progress, unless it was just printed.
    pub(super) fn show(&mut self, progress: &Progress) {
        if !self.on_terminal || self.shown.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        let Progress {
            memories,
            contexts,
            bytes,
        } = progress;
        let megabytes = bytes / 1_000_000;
        // A failure to print the line must not stop the work.
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[K{memories} memories, {contexts} versions, {megabytes} MB"
        );
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
