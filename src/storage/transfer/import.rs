//! Imports a file into a vault: one transaction for each memory, lines validated and stored as they arrive.

use super::incoming::Incoming;
use super::items::{self, ItemLine};
use super::line::{Header, ImportError, Line, LineError, Reader};
use super::memory::MemoryLine;
use super::{FORMAT, FORMAT_VERSION, OLDEST_VERSION, Progress};
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::{Class, Storage};
use tokio::io::AsyncBufRead;

impl Storage {
    /// Imports a file that [`Storage::export_vault`] wrote. Each memory is imported completely or not at all. A memory
    /// that exists completely (its head in the file is one of its versions, with the same number) is left unchanged, so
    /// an interrupted import can be repeated.
    ///
    /// `report` is called after each line.
    ///
    /// # Errors
    /// As [`ImportError`] says. `done` counts the memories before the error, which stay.
    pub async fn import_vault<R: AsyncBufRead + Unpin>(
        &self,
        input: R,
        options: &ImportOptions,
        done: &mut Imported,
        report: &mut dyn FnMut(&Progress),
    ) -> Result<(), ImportError> {
        let mut reader = Reader::new(input, options.max_line_bytes);
        let vault = match reader.next("a header").await? {
            Line::Header(header) => vault_of(&header, options).map_err(|error| error.at(reader.number()))?,
            other => return Err(unexpected(&reader, "a header", &other)),
        };
        let mut import = Import {
            storage: self,
            vault: &vault,
            options,
            reader,
            progress: Progress::default(),
            report,
            last: None,
        };
        loop {
            match import.next("a memory or the footer").await? {
                Line::VaultItem(line) if import.last.is_none() => import.vault_item(&line).await?,
                Line::Memory(line) => import.memory(line, done).await?,
                Line::Footer(footer) if footer.memories == import.progress.memories => {
                    return import.reader.end().await;
                }
                Line::Footer(footer) => {
                    let (counted, were) = (footer.memories, import.progress.memories);
                    let problem = format!("memories: the footer counts {counted}, the file has {were}");
                    return Err(import.reader.broken(problem));
                }
                other => return Err(unexpected(&import.reader, "a memory or the footer", &other)),
            }
        }
    }
}

fn vault_of(header: &Header, options: &ImportOptions) -> Result<VaultId, LineError> {
    if header.format != FORMAT || !(OLDEST_VERSION..=FORMAT_VERSION).contains(&header.version) {
        return Err(LineError::Problem(format!(
            "format: {FORMAT} of a version from {OLDEST_VERSION} to {FORMAT_VERSION} is expected; a newer program may have \
             written this file"
        )));
    }
    let own = super::line::id("vault_id", &header.vault_id)?;
    Ok(options.into_vault.clone().unwrap_or(own))
}

fn unexpected<R: AsyncBufRead + Unpin>(reader: &Reader<R>, expected: &str, found: &Line) -> ImportError {
    reader.broken(format!("{expected} is expected here, not: {}", found.name()))
}

/// A running import.
struct Import<'i, R> {
    storage: &'i Storage,
    vault: &'i VaultId,
    options: &'i ImportOptions,
    reader: Reader<R>,
    progress: Progress,
    report: &'i mut dyn FnMut(&Progress),
    /// The previous memory.
    last: Option<MemoryId>,
}

impl<R: AsyncBufRead + Unpin> Import<'_, R> {
    async fn next(&mut self, expected: &'static str) -> Result<Line, ImportError> {
        let line = self.reader.next(expected).await?;
        self.progress.bytes = self.reader.bytes();
        (self.report)(&self.progress);
        Ok(line)
    }

    /// Stores an item of the vault, unless it exists.
    async fn vault_item(&mut self, line: &ItemLine) -> Result<(), ImportError> {
        let stored = async {
            line.check(self.options.max_document_bytes)?;
            let mut transaction = self.storage.begin(Class::Maintenance).await?;
            items::insert(&mut transaction, self.vault, items::OF_VAULT, line).await?;
            transaction.commit().await?;
            Ok(())
        };
        stored
            .await
            .map_err(|error: LineError| error.at(self.reader.number()))
    }

    /// Reads the lines of one memory, and commits it if its end line matches.
    async fn memory(&mut self, line: MemoryLine, done: &mut Imported) -> Result<(), ImportError> {
        self.reader.begin_hash();
        let first = self.reader.number();
        let begun = Incoming::begin(self.storage, self.vault, self.options.on_conflict, line).await;
        let mut incoming = begun.map_err(|error| error.at(first))?;
        let memory = incoming.memory().clone();
        if self.last.as_ref().is_some_and(|last| *last >= memory) {
            let problem = format!("memory_id: {memory} must come before the memory above it, and only once");
            return Err(self.reader.broken(problem));
        }
        self.last = Some(memory.clone());
        if incoming.is_refused() {
            let vault = self.vault;
            return Err(self.reader.broken(format!(
                "the memory {memory} of the vault {vault} exists already; with --on-conflict skip it is left as it is, \
                 with --on-conflict append the versions it does not have are added behind its newest"
            )));
        }
        loop {
            let line = self
                .next("a context, a record, a run, a handoff, an item, a path or the end of the memory")
                .await?;
            if let Line::End(end) = line {
                let hash = self.reader.take_hash();
                let finished = incoming.finish(&end, &hash, done).await;
                finished.map_err(|error| error.at(self.reader.number()))?;
                self.progress.memories += 1;
                return Ok(());
            }
            self.reader.continue_hash();
            let imported = match line {
                Line::Context(line) => {
                    self.progress.contexts += 1;
                    incoming.context(*line, self.options.max_document_bytes).await
                }
                Line::Record(line) => incoming.record(&line).await,
                Line::Run(line) => incoming.run(&line).await,
                Line::Handoff(line) => incoming.handoff(&line).await,
                Line::Item(line) => incoming.item(&line, self.options.max_document_bytes).await,
                Line::Path(line) => incoming.path(&line, self.options.on_conflict).await,
                other => {
                    return Err(unexpected(
                        &self.reader,
                        "a line of this memory or its end",
                        &other,
                    ));
                }
            };
            imported.map_err(|error| error.at(self.reader.number()))?;
        }
    }
}

/// How to handle a memory that exists and differs from the one in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The target vault; `None` for the vault of the file.
    pub into_vault: Option<VaultId>,
    /// How to handle existing memories.
    pub on_conflict: OnConflict,
    /// Maximum length of a line in bytes; a line is in memory as a whole.
    pub max_line_bytes: usize,
    /// Maximum size of a document in bytes.
    pub max_document_bytes: usize,
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
