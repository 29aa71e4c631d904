//! Captures the log in tests.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Keeps what is written, write by write.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapturedLog(Arc<Mutex<Vec<Vec<u8>>>>);

impl CapturedLog {
    /// The whole text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().concat()).unwrap()
    }

    /// The number of writes.
    pub(crate) fn writes(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
