//! Why a vault could not be written to a file or read from one, in words for the person at the command line.

use super::check::Fault;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::StorageError;
use std::io;

/// Why an export ended before its footer.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("the vault {0} has no memories in this database")]
    NoSuchVault(VaultId),
    /// The memory that was asked for does not exist.
    #[error("the vault {0} has no memory {1}")]
    NoSuchMemory(VaultId, MemoryId),
    /// The file cannot be written.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an import ended. Whole memories before that line stay, nothing of the one it is in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line that is not what an export writes.
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
        /// How many whole lines there are.
        line: u64,
        /// What should have come.
        expected: &'static str,
    },
    /// The memory exists and is not the one in the file.
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
        /// How many whole lines were read.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// The database failed.
    #[error("at line {line}: {source}")]
    Storage {
        /// How many lines were read.
        line: u64,
        /// Why.
        source: StorageError,
    },
}

/// What one line came to, before its number is known.
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
    /// The error of the line with this number.
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
