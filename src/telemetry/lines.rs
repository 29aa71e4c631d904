//! Buffered writing of log lines: lines are collected for a moment and written together, since a write per line costs as
//! much as answering a small request. (A channel to a writing thread costs more: it wakes that thread for every line.)
//!
//! A thread that logs waits for the writer only if more than [`MOST_BYTES`] are buffered. The buffer is written when the
//! [`Guard`] is dropped; a process that is killed loses the lines of its last [`BATCH_DELAY`].

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How long a line may stay in the buffer.
const BATCH_DELAY: Duration = Duration::from_millis(10);

/// The size limit of the buffer.
const MOST_BYTES: usize = 256 * 1024;

/// The buffer of lines to be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Signalled when lines were added, or at the end.
    line_added: Condvar,
    /// Signalled when the buffer was taken by the writer.
    space_freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    buffer: Vec<u8>,
    ends: bool,
}

/// Writes the buffer when it is dropped, and ends the writer. Later lines are lost.
#[derive(Debug)]
pub struct Guard {
    lines: Lines,
    writer: Option<JoinHandle<()>>,
}

impl Lines {
    /// Starts a thread that writes the lines to `out`; the guard ends it.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<(Self, Guard)> {
        let lines = Self::default();
        let shared = lines.0.clone();
        let writer = thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || shared.write_to(out))?;
        let guard = Guard {
            lines: lines.clone(),
            writer: Some(writer),
        };
        Ok((lines, guard))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        loop {
            let waits = |state: &mut State| state.buffer.is_empty() && !state.ends;
            let state = self.line_added.wait_while(self.state(), waits);
            let ends = state.unwrap_or_else(PoisonError::into_inner).ends;
            if !ends {
                let waits = |state: &mut State| state.buffer.len() < MOST_BYTES && !state.ends;
                drop(
                    self.line_added
                        .wait_timeout_while(self.state(), BATCH_DELAY, waits),
                );
            }
            std::mem::swap(&mut self.state().buffer, &mut lines);
            self.space_freed.notify_all();
            // A write error must not stop the service, and cannot be logged.
            let _ = out.write_all(&lines).and_then(|()| out.flush());
            if ends && lines.is_empty() {
                return;
            }
            lines.clear();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.lines.0.state().ends = true;
        self.lines.0.line_added.notify_all();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has nothing left to write.
            let _ = writer.join();
        }
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let waits = |state: &mut State| state.buffer.len() >= MOST_BYTES && !state.ends;
        let state = self.0.space_freed.wait_while(self.0.state(), waits);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let is_first = state.buffer.is_empty();
        state.buffer.extend_from_slice(line);
        let is_much = state.buffer.len() >= MOST_BYTES;
        drop(state);
        if is_first || is_much {
            self.0.line_added.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'l> MakeWriter<'l> for Lines {
    type Writer = &'l Self;

    fn make_writer(&'l self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::captured_log::CapturedLog;
    use super::*;

    #[test]
    fn every_line_is_written_once_and_whole_by_the_end() {
        let written = CapturedLog::default();
        let (lines, guard) = Lines::to(written.clone()).unwrap();
        thread::scope(|scope| {
            for writer in 0..4 {
                let lines = &lines;
                scope.spawn(move || {
                    for number in 0..5_000 {
                        let line = format!("{writer} {number} {}\n", "x".repeat(100));
                        lines.make_writer().write_all(line.as_bytes()).unwrap();
                    }
                });
            }
        });
        drop(guard);
        let all = written.text();
        assert_eq!(all.lines().count(), 20_000);
        assert!(all.lines().all(|line| line.len() > 100), "a line was cut");
        for writer in 0..4 {
            let own = all
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{writer} ")));
            let numbers: Vec<usize> = own
                .map(|line| line.split(' ').next().unwrap().parse().unwrap())
                .collect();
            assert_eq!(numbers, (0..5_000).collect::<Vec<_>>());
        }
        assert!(written.writes() < 2_000, "{} writes", written.writes());
    }

    #[test]
    fn a_line_does_not_wait_for_the_end() {
        let written = CapturedLog::default();
        let (lines, _guard) = Lines::to(written.clone()).unwrap();
        lines.make_writer().write_all(b"one\n").unwrap();
        let begun = std::time::Instant::now();
        while written.writes() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "nothing is written");
            thread::yield_now();
        }
    }
}
