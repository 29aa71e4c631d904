//! Errors of exports and imports, worded for the command line.

use super::line::Fault;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use std::io;

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
    /// A line that an export does not write.
    #[error("line {line}: {problem}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The file ends before its footer.
    #[error("the file ends behind line {line}, but {expected} was expected: it is cut off")]
    CutOff {
        /// The number of complete lines.
        line: u64,
        /// The expected next line.
        expected: &'static str,
    },
    /// The memory exists and differs from the one in the file.
    #[error(
        "line {line}: the memory {memory} of the vault {vault} exists already; with --on-conflict skip it is left \
         as it is, with --on-conflict append the versions it does not have are added behind its newest"
    )]
    Exists {
        /// The line of the memory.
        line: u64,
        /// The vault.
        vault: VaultId,
        /// The memory.
        memory: MemoryId,
    },
    /// The file cannot be read.
    #[error("cannot read behind line {line}: {source}")]
    Read {
        /// The number of complete lines read.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// The database failed.
    #[error("at line {line}: {source}")]
    Storage {
        /// The number of lines read.
        line: u64,
        /// Why.
        source: StorageError,
    },
}

/// An error of one line, before its number is known.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("{0}")]
    Problem(String),
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Storage(#[from] StorageError),
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
            Self::Problem(problem) => ImportError::Line { line, problem },
            Self::Fault(fault) => ImportError::Line {
                line,
                problem: fault.to_string(),
            },
            Self::Storage(source) => ImportError::Storage { line, source },
        }
    }
}
