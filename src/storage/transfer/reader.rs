//! The lines of a file, one after the other, none longer than allowed.

use super::error::ImportError;
use super::line::Line;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// The most of a parser's message that is shown: it may quote the line.
const MESSAGE_CHARS: usize = 300;

/// Reads lines, numbers them, and hashes them.
pub(super) struct Reader<R> {
    input: R,
    max_line_bytes: usize,
    /// The newest line, with its end.
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    hash: Sha256,
}

impl<R: AsyncBufRead + Unpin> Reader<R> {
    pub(super) fn new(input: R, max_line_bytes: usize) -> Self {
        Self {
            input,
            max_line_bytes,
            line: Vec::new(),
            number: 0,
            bytes: 0,
            hash: Sha256::new(),
        }
    }

    /// The number of the newest line, from 1; 0 before the first.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line, which must be there.
    pub(super) async fn next(&mut self, expected: &'static str) -> Result<Line, ImportError> {
        if !self.read().await? {
            return Err(ImportError::CutOff {
                line: self.number,
                expected,
            });
        }
        let problem = match serde_json::from_slice(&self.line) {
            Ok(line) => return Ok(line),
            Err(error) => error,
        };
        // The parser counts lines within what it is given, which says nothing here.
        let message = problem.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message: String = message.chars().take(MESSAGE_CHARS).collect();
        Err(self.broken(format!(
            "expected {expected}, but {message} at column {}",
            problem.column()
        )))
    }

    /// Checks that nothing comes any more.
    pub(super) async fn end(&mut self) -> Result<(), ImportError> {
        if self.read().await? {
            return Err(self.broken("nothing is expected behind the footer".to_owned()));
        }
        Ok(())
    }

    /// Begins a hash with the newest line.
    pub(super) fn begin_hash(&mut self) {
        self.hash.reset();
        self.hash.update(&self.line);
    }

    /// Adds the newest line to the hash.
    pub(super) fn continue_hash(&mut self) {
        self.hash.update(&self.line);
    }

    /// The hash of the lines since it was begun.
    pub(super) fn take_hash(&mut self) -> String {
        hex::encode(self.hash.finalize_reset())
    }

    /// An error of the newest line.
    pub(super) fn broken(&self, problem: String) -> ImportError {
        ImportError::Line {
            line: self.number,
            problem,
        }
    }

    async fn read(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        let most = self.max_line_bytes as u64 + 1;
        let mut limited = (&mut self.input).take(most);
        let read = limited.read_until(b'\n', &mut self.line).await;
        let read = read.map_err(|source| ImportError::Read {
            line: self.number,
            source,
        })?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.bytes += read as u64;
        if self.line.last() == Some(&b'\n') {
            return Ok(true);
        }
        Err(if read as u64 == most {
            let limit = self.max_line_bytes;
            self.broken(format!(
                "it is longer than {limit} bytes; --max-line-bytes allows more"
            ))
        } else {
            self.broken("it has no end: the file is cut off".to_owned())
        })
    }
}
