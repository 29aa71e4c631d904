//! The lines of a file that are not rows of a table, the enumeration of all lines, their reader, and what is wrong with one.

use super::contexts::ContextLine;
use super::handoffs::HandoffLine;
use super::items::ItemLine;
use super::memory::MemoryLine;
use super::paths::PathLine;
use super::records::RecordLine;
use super::runs::RunLine;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fmt::Display;
use std::io;
use std::str::FromStr;
use strum::IntoStaticStr;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// A line of a file.
#[derive(Debug, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Line {
    Header(Header),
    VaultItem(Box<ItemLine>),
    Memory(MemoryLine),
    Context(Box<ContextLine>),
    Record(Box<RecordLine>),
    Run(Box<RunLine>),
    Handoff(Box<HandoffLine>),
    Item(Box<ItemLine>),
    Path(Box<PathLine>),
    End(End),
    Footer(Footer),
}

impl Line {
    /// The JSON member that identifies the kind.
    pub(super) fn name(&self) -> &'static str {
        self.into()
    }
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) vault_id: String,
}

/// The last line of a memory: what must have preceded it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) memory_id: String,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) sha256: String,
}

/// Number of lines of each kind in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub(super) contexts: u64,
    pub(super) records: u64,
    pub(super) runs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) handoffs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) items: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) paths: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            contexts,
            records,
            runs,
            handoffs,
            items,
            paths,
        } = self;
        write!(
            f,
            "{contexts} contexts, {records} records, {runs} runs, {handoffs} handoffs, {items} items and {paths} paths"
        )
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Footer {
    pub(super) memories: u64,
}

/// What is wrong with a member of a line, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub(super) struct Fault {
    field: &'static str,
    problem: String,
}

/// A fault with the error message of a domain type.
pub(super) fn fault(field: &'static str, problem: &dyn Display) -> Fault {
    Fault {
        field,
        problem: problem.to_string(),
    }
}

/// Requires a condition; `expected` completes "must be".
pub(super) fn order(field: &'static str, holds: bool, expected: &str) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(fault(field, &format_args!("must be {expected}")))
    }
}

/// Parses an id of any kind.
pub(super) fn id<T: FromStr<Err: Display>>(field: &'static str, text: &str) -> Result<T, Fault> {
    text.parse().map_err(|problem| fault(field, &problem))
}

/// Parses a name of an enumeration.
pub(super) fn known<T: FromStr>(field: &'static str, name: &str) -> Result<T, Fault> {
    name.parse().map_err(|_| {
        let shown: String = name.chars().take(40).collect();
        fault(field, &format_args!("{shown:?} is not known to this program"))
    })
}

/// Requires a time that PostgreSQL stores exactly: microseconds, no leap second, a year of four digits.
pub(super) fn time(field: &'static str, time: DateTime<Utc>) -> Result<(), Fault> {
    let nanos = time.nanosecond();
    order(
        field,
        nanos.is_multiple_of(1_000) && nanos < 1_000_000_000 && (1..=9999).contains(&time.year()),
        "a time of the years 1 to 9999 in whole microseconds",
    )
}

/// Requires a text that PostgreSQL can store.
pub(super) fn text(field: &'static str, text: &str) -> Result<(), Fault> {
    order(field, !text.contains('\0'), "free of NUL characters")
}

/// Requires a JSON value that PostgreSQL can store. The parser has bounded its depth.
pub(super) fn json(field: &'static str, value: &Value) -> Result<(), Fault> {
    match value {
        Value::String(string) => text(field, string),
        Value::Array(values) => values.iter().try_for_each(|value| json(field, value)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            text(field, name)?;
            json(field, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Why an export ended before its footer.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("the vault {0} has no memories in this database")]
    NoSuchVault(VaultId),
    /// The memory does not exist.
    #[error("the vault {0} has no memory {1}")]
    NoSuchMemory(VaultId, MemoryId),
    /// The file cannot be written.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an import ended. Complete memories before that line stay imported; the memory of that line is rolled back.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file is not as an export writes it, or says what cannot be imported; with the line.
    #[error("{0}")]
    Refused(String),
    /// The database failed.
    #[error("at line {line}: {source}")]
    Storage {
        /// The number of lines read.
        line: u64,
        /// Why.
        source: StorageError,
    },
}

impl ImportError {
    /// What is wrong with a line, counted from 1.
    pub(super) fn line(line: u64, problem: impl Display) -> Self {
        Self::Refused(format!("line {line}: {problem}"))
    }
}

/// An error of one line, before its number is known.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("{0}")]
    Problem(String),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<Fault> for LineError {
    fn from(fault: Fault) -> Self {
        Self::Problem(fault.to_string())
    }
}

impl From<sqlx::Error> for LineError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}

impl LineError {
    /// Adds the line number.
    pub(super) fn at(self, line: u64) -> ImportError {
        match self {
            Self::Problem(problem) => ImportError::line(line, problem),
            Self::Storage(source) => ImportError::Storage { line, source },
        }
    }
}

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
            return Err(ImportError::Refused(format!(
                "the file ends behind line {}, but {expected} was expected: it is cut off",
                self.number
            )));
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
        ImportError::line(self.number, problem)
    }

    async fn read(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        let most = self.max_line_bytes as u64 + 1;
        let mut limited = (&mut self.input).take(most);
        let read = limited.read_until(b'\n', &mut self.line).await;
        let number = self.number;
        let failed =
            |source: io::Error| ImportError::Refused(format!("cannot read behind line {number}: {source}"));
        let read = read.map_err(failed)?;
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
