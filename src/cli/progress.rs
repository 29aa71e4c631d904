//! One line on a terminal that says how far a transfer is.

use crate::storage::transfer::Progress;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

/// Between two looks at the line.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows nothing where standard error is no terminal.
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

    /// Shows how far it is, unless it did so just before.
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
        // A line that cannot be shown does not keep the work from being done.
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[K{memories} memories, {contexts} versions, {megabytes} MB"
        );
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
