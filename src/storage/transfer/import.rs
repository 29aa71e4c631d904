//! Imports a file into a vault: one transaction for each memory, lines validated and stored as they arrive.

use super::lines::{Footer, Line, MemoryLine, check_item};
use super::memory::MemoryImport;
use crate::domain::ids::VaultId;
use crate::domain::prompt::PromptItem;
use crate::storage::prompt_items::{self, ItemOwner};
use crate::storage::{Class, Storage, StorageError};
use sha2::{Digest as _, Sha256};
use std::slice::from_ref;
use strum::EnumString;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// How to handle a memory that exists and differs from the one in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OnConflict {
    /// The import fails.
    Fail,
    /// The memory stays unchanged.
    Skip,
    /// The missing versions are appended after its newest, in order: same `context_id`, text and actor; new number;
    /// source `import`; the time of the import. A text equal to the version before creates none. Runs, operations and
    /// record lines are ignored; records are derived from the texts.
    Append,
}

/// Maximum length of a line in bytes: a line is in memory as a whole.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The target vault; `None` for the vault of the file.
    pub into_vault: Option<VaultId>,
    /// How to handle existing memories.
    pub on_conflict: OnConflict,
}

/// The result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// New memories.
    pub created: u64,
    /// Memories with appended versions.
    pub appended: u64,
    /// Memories that were complete before.
    pub unchanged: u64,
    /// Memories that differ and were left unchanged.
    pub skipped: u64,
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

/// Why an import ended, before the number of the line is added.
#[derive(Debug)]
pub(super) enum LineError {
    /// What is wrong with the last line that was read.
    Problem(String),
    /// What is wrong with the file behind it.
    File(String),
    Storage(StorageError),
}

/// The class of the error codes of values that PostgreSQL cannot store, as texts with a NUL.
const DATA_EXCEPTION: &str = "22";

impl From<StorageError> for LineError {
    fn from(error: StorageError) -> Self {
        let StorageError::Internal(sqlx::Error::Database(found)) = &error else {
            return Self::Storage(error);
        };
        // That of a shard ends with its number (Citus).
        let is_of_shard = |c: char| c == '_' || c.is_ascii_digit();
        match found.constraint().map(|name| name.trim_end_matches(is_of_shard)) {
            // In record lines or in the operations of versions.
            Some("records_task_id_key") => problem("task_id: two tasks of the memory have the same"),
            Some("memory_contexts_pkey") => problem("context_id: it stands twice in this memory"),
            Some(constraint) => problem(format!("the database does not accept it: {constraint}")),
            None if found.code().is_some_and(|code| code.starts_with(DATA_EXCEPTION)) => {
                problem(format!("the database does not accept it: {}", found.message()))
            }
            None => Self::Storage(error),
        }
    }
}

impl From<sqlx::Error> for LineError {
    fn from(error: sqlx::Error) -> Self {
        StorageError::from(error).into()
    }
}

impl Storage {
    /// Imports a file that [`Storage::export_vault`] wrote. Each memory is imported completely or not at all. A memory
    /// that exists completely (its head in the file is one of its versions, with the same number) is left unchanged, so
    /// an interrupted import can be repeated.
    ///
    /// # Errors
    /// As [`ImportError`] says. `done` counts the memories before the error, which stay.
    pub async fn import_vault<R: AsyncBufRead + Unpin>(
        &self,
        input: R,
        options: &ImportOptions,
        done: &mut Imported,
    ) -> Result<(), ImportError> {
        let mut import = Import {
            storage: self,
            options,
            input,
            line: Vec::new(),
            number: 0,
            hash: Sha256::new(),
            memories: 0,
            done,
        };
        let imported = import.file().await;
        let line = import.number;
        imported.map_err(|error| match error {
            LineError::Problem(problem) => ImportError::Refused(format!("line {line}: {problem}")),
            LineError::File(problem) => ImportError::Refused(problem),
            LineError::Storage(source) => ImportError::Storage { line, source },
        })
    }
}

/// A running import.
struct Import<'i, R> {
    storage: &'i Storage,
    options: &'i ImportOptions,
    input: R,
    /// The last line that was read, including its line end.
    line: Vec<u8>,
    /// Its number, from 1; 0 before the first.
    number: u64,
    /// The hash of the lines of this memory before that line.
    hash: Sha256,
    /// Complete memories.
    memories: u64,
    done: &'i mut Imported,
}

pub(super) fn problem(text: impl Into<String>) -> LineError {
    LineError::Problem(text.into())
}

pub(super) fn unexpected(expected: &str, found: &Line) -> LineError {
    let found: &str = found.into();
    problem(format!("{expected} is expected here, not: {found}"))
}

impl<R: AsyncBufRead + Unpin> Import<'_, R> {
    async fn file(&mut self) -> Result<(), LineError> {
        let expected = "a header";
        let vault = match self.next(expected).await? {
            Line::Header(header) => {
                header.check()?;
                self.options.into_vault.clone().unwrap_or(header.vault_id)
            }
            other => return Err(unexpected(expected, &other)),
        };
        let expected = "a memory or the footer";
        loop {
            match self.next(expected).await? {
                Line::VaultItem(item) => self.vault_item(&vault, &item).await?,
                Line::Memory(line) => self.memory(&vault, *line).await?,
                Line::Footer(Footer { memories }) if memories == self.memories => break,
                Line::Footer(Footer { memories }) => {
                    let were = self.memories;
                    return Err(problem(format!(
                        "memories: the footer counts {memories}, the file has {were}"
                    )));
                }
                other => return Err(unexpected(expected, &other)),
            }
        }
        match self.read().await? {
            true => Err(problem("nothing is expected behind the footer")),
            false => Ok(()),
        }
    }

    /// Stores an item of the vault, unless it exists.
    async fn vault_item(&mut self, vault: &VaultId, item: &PromptItem) -> Result<(), LineError> {
        check_item(item)?;
        let owner = ItemOwner {
            vault: vault.clone(),
            memory: None,
        };
        let mut transaction = self.storage.begin(Class::Maintenance).await?;
        prompt_items::insert(&mut transaction, &owner, from_ref(item)).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Reads the lines of one memory, and commits it if its end line matches.
    async fn memory(&mut self, vault: &VaultId, line: MemoryLine) -> Result<(), LineError> {
        self.hash.reset();
        line.check()?;
        let mut memory = MemoryImport::begin(self.storage, self.options, vault, line).await?;
        loop {
            let expected = "a context, a record, a run, a handoff, an item, a path or the end of the memory";
            match self.next(expected).await? {
                Line::End(end) => {
                    let hash = hex::encode(self.hash.finalize_reset());
                    memory.finish(&end, &hash, self.done).await?;
                    self.memories += 1;
                    return Ok(());
                }
                line => memory.line(line).await?,
            }
        }
    }

    /// The next line, which must exist.
    async fn next(&mut self, expected: &str) -> Result<Line, LineError> {
        if !self.read().await? {
            return Err(LineError::File(format!(
                "the file ends behind line {}, but {expected} was expected: it is cut off",
                self.number
            )));
        }
        parse(&self.line, expected)
    }

    /// Reads a line, and adds the one before it to the hash. `false` at the end of the file.
    async fn read(&mut self) -> Result<bool, LineError> {
        self.hash.update(&self.line);
        self.line.clear();
        let read = (&mut self.input)
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut self.line)
            .await
            .map_err(|source| {
                LineError::File(format!("cannot read behind line {}: {source}", self.number))
            })?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.ends_with(b"\n") {
            return Ok(true);
        }
        Err(match read as u64 > MAX_LINE_BYTES {
            true => problem(format!("it is longer than {MAX_LINE_BYTES} bytes")),
            false => problem("it has no end: the file is cut off"),
        })
    }
}

/// Maximum characters shown of a parser's message, which may quote the line.
const MESSAGE_CHARS: usize = 300;

/// Parses a line.
fn parse(line: &[u8], expected: &str) -> Result<Line, LineError> {
    serde_json::from_slice(line).map_err(|error| {
        // The parser's line and column refer to the single line, so only the column is of use here.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message: String = message.chars().take(MESSAGE_CHARS).collect();
        problem(format!(
            "expected {expected}, but {message} at column {}",
            error.column()
        ))
    })
}
