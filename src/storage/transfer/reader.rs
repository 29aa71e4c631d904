//! Reads the lines of a file, each up to a maximum length.

use super::error::ImportError;
use super::line::Line;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// Maximum characters shown of a parser's message, which may quote the line.
const MESSAGE_CHARS: usize = 300;

/// Reads, counts and hashes lines.
pub(super) struct Reader<R> {
    input: R,
    max_line_bytes: usize,
    /// The current line, including its line end.
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

    /// The number of the current line, from 1; 0 before the first.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line, which must exist.
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
        // The parser's line and column refer to the single line, so they are useless here.
        let message = problem.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message: String = message.chars().take(MESSAGE_CHARS).collect();
        Err(self.broken(format!(
            "expected {expected}, but {message} at column {}",
            problem.column()
        )))
    }

    /// Requires the end of the file.
    pub(super) async fn end(&mut self) -> Result<(), ImportError> {
        if self.read().await? {
            return Err(self.broken("nothing is expected behind the footer".to_owned()));
        }
        Ok(())
    }

    /// Starts a hash with the current line.
    pub(super) fn begin_hash(&mut self) {
        self.hash.reset();
        self.hash.update(&self.line);
    }

    /// Adds the current line to the hash.
    pub(super) fn continue_hash(&mut self) {
        self.hash.update(&self.line);
    }

    /// The hash of the lines since its start.
    pub(super) fn take_hash(&mut self) -> String {
        hex::encode(self.hash.finalize_reset())
    }

    /// An error in the current line.
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
