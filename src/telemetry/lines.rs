//! Buffered writing of log lines: lines are collected for a moment and written together, since a write per line costs as
//! much as answering a small request. (A channel to a writing thread costs more: it wakes that thread for every line.)
//!
//! A thread that logs writes, and waits for who writes already, only if more than [`MOST_BYTES`] are buffered. The buffer is
//! written when the [`Guard`] is dropped; a process that is killed loses the lines of its last [`BATCH_DELAY`].

use parking_lot::Mutex;
use std::io::{self, Write};
use std::mem::take;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How long a line may stay in the buffer.
const BATCH_DELAY: Duration = Duration::from_millis(10);

/// The size limit of the buffer.
const MOST_BYTES: usize = 256 * 1024;

/// The lines to be written.
#[derive(Clone)]
pub(super) struct Lines {
    shared: Arc<Shared>,
    /// Tells the writing thread of the first line in an empty buffer. The thread ends with the last sender.
    first_line: SyncSender<()>,
}

struct Shared {
    buffer: Mutex<Vec<u8>>,
    /// Locked before the buffer by who writes, so that lines keep their order. The buffer is not locked during a write.
    out: Mutex<Box<dyn Write + Send>>,
}

/// Writes the buffer when it is dropped.
pub struct Guard(Arc<Shared>);

impl Lines {
    /// Starts a thread that writes the lines to `out`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<(Self, Guard)> {
        let shared = Arc::new(Shared {
            buffer: Mutex::default(),
            out: Mutex::new(Box::new(out)),
        });
        let (first_line, begun) = sync_channel(1);
        let written = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            while begun.recv().is_ok() {
                thread::sleep(BATCH_DELAY);
                written.write_out();
            }
        })?;
        let guard = Guard(shared.clone());
        Ok((Self { shared, first_line }, guard))
    }
}

impl Shared {
    fn write_out(&self) {
        let mut out = self.out.lock();
        let lines = take(&mut *self.buffer.lock());
        // A write error must not stop the service, and cannot be logged.
        let _ = out.write_all(&lines).and_then(|()| out.flush());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.write_out();
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut buffer = self.shared.buffer.lock();
        let is_first = buffer.is_empty();
        buffer.extend_from_slice(line);
        let is_much = buffer.len() >= MOST_BYTES;
        drop(buffer);
        if is_much {
            self.shared.write_out();
        } else if is_first {
            // If it was told already, it still has to look.
            let _ = self.first_line.try_send(());
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
