//! A file read into a vault: one transaction a memory, lines checked and stored as they come.

use super::append::Append;
use super::contexts::{self, ContextLine};
use super::error::{ImportError, LineError};
use super::line::{Counts, End, Header, Line};
use super::memory::{self, MemoryLine};
use super::reader::Reader;
use super::records::{self, RecordLine};
use super::runs::{self, RunLine};
use super::{FORMAT, FORMAT_VERSION, Progress};
use crate::domain::ids::{ActorId, ContextId, MemoryId, RecordId, VaultId};
use crate::domain::memory::{Counters, project};
use crate::storage::{Storage, record_changes};
use chrono::{DateTime, Utc};
use sqlx::{Postgres, Transaction};
use tokio::io::AsyncBufRead;

/// What becomes of a memory that exists already and is not the one in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The import ends.
    Fail,
    /// It stays as it is.
    Skip,
    /// The versions it does not have are put behind its newest, in order: same `context_id`, text and actor;
    /// new number; source `import`, the time of the import. A text equal to the version before makes none. Runs,
    /// operations and record lines are left out; the records are what the texts say.
    Append,
}

/// How a file is imported.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The vault it goes into; `None`: the one it came from.
    pub into_vault: Option<VaultId>,
    /// What becomes of memories that exist.
    pub on_conflict: OnConflict,
    /// The longest line that is read, in bytes; a line is held in memory as a whole.
    pub max_line_bytes: usize,
    /// The largest document that is taken, in bytes.
    pub max_document_bytes: usize,
}

/// What an import came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Memories that are new.
    pub created: u64,
    /// Memories that got further versions.
    pub appended: u64,
    /// Memories that had all of it before.
    pub unchanged: u64,
    /// Memories left as they are though they differ.
    pub skipped: u64,
}

impl Storage {
    /// Reads a file that [`Storage::export_vault`] wrote. Each memory is imported completely or not at all; one
    /// that is there completely (its head in the file is a version of it, under the same number) is left as it
    /// is, so that an import that ended can be run again.
    ///
    /// `report` is called after each line.
    ///
    /// # Errors
    /// As [`ImportError`] says. `done` counts the memories before it, which stay.
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
                Line::Memory(line) => import.memory(line, done).await?,
                Line::Footer(footer) if footer.memories == import.progress.memories => {
                    return import.reader.end().await;
                }
                Line::Footer(footer) => {
                    let (said, were) = (footer.memories, import.progress.memories);
                    let problem = format!("memories: the footer counts {said}, the file has {were}");
                    return Err(import.reader.broken(problem));
                }
                other => return Err(unexpected(&import.reader, "a memory or the footer", &other)),
            }
        }
    }
}

fn vault_of(header: &Header, options: &ImportOptions) -> Result<VaultId, LineError> {
    if header.format != FORMAT || header.version != FORMAT_VERSION {
        return Err(LineError::Problem(format!(
            "format: {FORMAT} of version {FORMAT_VERSION} is expected; a newer program may have written this file"
        )));
    }
    let own = super::check::id("vault_id", &header.vault_id)?;
    Ok(options.into_vault.clone().unwrap_or(own))
}

fn unexpected<R: AsyncBufRead + Unpin>(reader: &Reader<R>, expected: &str, found: &Line) -> ImportError {
    reader.broken(format!("{expected} is expected here, not: {}", found.name()))
}

/// An import on its way.
struct Import<'i, R> {
    storage: &'i Storage,
    vault: &'i VaultId,
    options: &'i ImportOptions,
    reader: Reader<R>,
    progress: Progress,
    report: &'i mut dyn FnMut(&Progress),
    /// The memory before.
    last: Option<MemoryId>,
}

impl<R: AsyncBufRead + Unpin> Import<'_, R> {
    async fn next(&mut self, expected: &'static str) -> Result<Line, ImportError> {
        let line = self.reader.next(expected).await?;
        self.progress.bytes = self.reader.bytes();
        (self.report)(&self.progress);
        Ok(line)
    }

    /// Reads the lines of one memory, and commits it when its end fits.
    async fn memory(&mut self, line: MemoryLine, done: &mut Imported) -> Result<(), ImportError> {
        self.reader.begin_hash();
        let first = self.reader.number();
        let mut incoming = self.begin(line).await.map_err(|error| error.at(first))?;
        if matches!(incoming.target, Target::Refuse) {
            return Err(ImportError::Exists {
                line: first,
                vault: self.vault.clone(),
                memory: incoming.memory,
            });
        }
        loop {
            let line = self
                .next("a context, a record, a run or the end of the memory")
                .await?;
            if let Line::End(end) = line {
                let hash = self.reader.take_hash();
                let finished = incoming.finish(&end, &hash, done).await;
                finished.map_err(|error| error.at(self.reader.number()))?;
                self.progress.memories += 1;
                return Ok(());
            }
            self.reader.continue_hash();
            let taken = match line {
                Line::Context(line) => {
                    self.progress.contexts += 1;
                    incoming.context(*line, self.options.max_document_bytes).await
                }
                Line::Record(line) => incoming.record(&line).await,
                Line::Run(line) => incoming.run(&line).await,
                other => {
                    return Err(unexpected(
                        &self.reader,
                        "a line of this memory or its end",
                        &other,
                    ));
                }
            };
            taken.map_err(|error| error.at(self.reader.number()))?;
        }
    }

    /// Opens the memory's transaction and decides what becomes of it.
    async fn begin(&mut self, line: MemoryLine) -> Result<Incoming, LineError> {
        let (memory, head) = line.check()?;
        if self.last.as_ref().is_some_and(|last| *last >= memory) {
            return Err(LineError::Problem(format!(
                "memory_id: {memory} must come before the memory above it, and only once"
            )));
        }
        self.last = Some(memory.clone());
        let vault = self.vault.clone();
        let mut transaction = self.storage.begin().await?;
        let target = if memory::insert(&mut transaction, &vault, &line).await? {
            Target::Create
        } else {
            let there = contexts::present(&mut transaction, &vault, &memory, &head, "").await?;
            match self.options.on_conflict {
                _ if there.is_some_and(|there| there.version == line.head_version) => Target::Unchanged,
                OnConflict::Fail => Target::Refuse,
                OnConflict::Skip => Target::Skip,
                OnConflict::Append => {
                    let append =
                        Append::begin(&mut transaction, self.storage, &vault, &memory, &line).await?;
                    Target::Append(Box::new(append))
                }
            }
        };
        Ok(Incoming {
            vault,
            memory,
            line,
            transaction,
            target,
            counts: Counts::default(),
            last_record: None,
            last_run: None,
            text: String::new(),
            newest: None,
        })
    }
}

/// What becomes of the lines of a memory.
enum Target {
    /// They make it.
    Create,
    /// They go behind what is there.
    Append(Box<Append>),
    /// They are there.
    Unchanged,
    /// They are read and left out.
    Skip,
    /// They are not wanted.
    Refuse,
}

/// A memory while its lines come.
struct Incoming {
    vault: VaultId,
    memory: MemoryId,
    line: MemoryLine,
    transaction: Transaction<'static, Postgres>,
    target: Target,
    counts: Counts,
    last_record: Option<(&'static str, i64)>,
    last_run: Option<String>,
    /// The newest version's text, while the memory is made.
    text: String,
    /// The newest version's id and time.
    newest: Option<(String, DateTime<Utc>)>,
}

impl Incoming {
    async fn context(&mut self, line: ContextLine, max_bytes: usize) -> Result<(), LineError> {
        if self.counts.records + self.counts.runs > 0 {
            return Err(problem(
                "a context stands behind records or runs; it must come before them",
            ));
        }
        let ids = line.check(max_bytes)?;
        self.counts.contexts += 1;
        let expected = i64::try_from(self.counts.contexts).unwrap_or(i64::MAX);
        if line.version != expected {
            let found = line.version;
            return Err(problem(format!(
                "version: {expected} is expected here, not {found}"
            )));
        }
        if let Some((_, before)) = &self.newest
            && line.creation_time < *before
        {
            return Err(problem(
                "creation_time: must not be before that of the version before",
            ));
        }
        let seen = Counters::seen_in(&line.context);
        if self.line.counters().raised_by(&seen) != self.line.counters() {
            return Err(problem(
                "context: it has a record with a number over the memory's counter, so the number could be used again",
            ));
        }
        self.newest = Some((line.context_id.clone(), line.creation_time));
        match &mut self.target {
            Target::Create => self.create(line, ids).await,
            Target::Append(append) => {
                let place = (&self.vault, &self.memory);
                append.context(&mut self.transaction, place, line, ids).await
            }
            Target::Unchanged | Target::Skip | Target::Refuse => Ok(()),
        }
    }

    /// Stores a version as it was, and what it did to the records.
    async fn create(
        &mut self,
        line: ContextLine,
        (id, actor): (ContextId, ActorId),
    ) -> Result<(), LineError> {
        if !contexts::insert(&mut self.transaction, &self.vault, &self.memory, &line).await? {
            return Err(problem(format!("context_id: {id} stands twice in this memory")));
        }
        let changes = project(&self.text, &line.context);
        let place = record_changes::Place {
            vault: &self.vault,
            memory: &self.memory,
            version: line.version,
            at: line.creation_time,
            by: &actor,
        };
        record_changes::save(&mut self.transaction, &place, &changes, &[]).await?;
        self.text = line.context;
        Ok(())
    }

    async fn record(&mut self, line: &RecordLine) -> Result<(), LineError> {
        if self.counts.runs > 0 {
            return Err(problem("a record stands behind runs; it must come before them"));
        }
        let id = line.check()?;
        let key = (id.kind.prefix(), id.number);
        if self.last_record.is_some_and(|last| last >= key) {
            return Err(problem(format!(
                "{id} must come before the record above it, by kind and number, and only once"
            )));
        }
        self.last_record = Some(key);
        self.counts.records += 1;
        if matches!(self.target, Target::Create) {
            self.compare(line, id).await?;
        }
        Ok(())
    }

    /// Holds a record line to what the documents say, and takes from it what they do not say.
    async fn compare(&mut self, line: &RecordLine, id: RecordId) -> Result<(), LineError> {
        let Some(made) = records::made(&mut self.transaction, &self.vault, &self.memory, id).await? else {
            return Err(problem(format!("{id} is in none of the memory's documents")));
        };
        if let Some(column) = line.differs_from(&made) {
            return Err(problem(format!(
                "{id}.{column}: the memory's documents say something else"
            )));
        }
        if line.knows_more() {
            records::complete(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    async fn run(&mut self, line: &RunLine) -> Result<(), LineError> {
        line.check()?;
        if line
            .version
            .is_some_and(|version| version > self.line.head_version)
        {
            return Err(problem("version: the memory has no such version"));
        }
        if self.last_run.as_ref().is_some_and(|last| *last >= line.update_id) {
            return Err(problem(format!(
                "update_id: {} must come before the run above it, and only once",
                line.update_id
            )));
        }
        self.last_run = Some(line.update_id.clone());
        self.counts.runs += 1;
        if matches!(self.target, Target::Create) {
            runs::insert(&mut self.transaction, &self.vault, &self.memory, line).await?;
        }
        Ok(())
    }

    /// Checks that all of the memory was there, and commits it.
    async fn finish(mut self, end: &End, hash: &str, done: &mut Imported) -> Result<(), LineError> {
        if end.memory_id != self.memory.as_str() {
            return Err(problem(format!(
                "memory_id: the end of {} is expected here",
                self.memory
            )));
        }
        if end.counts != self.counts || end.sha256 != hash {
            return Err(problem(format!(
                "the lines of {} are not those that were exported: {} contexts, {} records and {} runs with the \
                 sha256 {hash} came before this line",
                self.memory, self.counts.contexts, self.counts.records, self.counts.runs
            )));
        }
        let Some((head, changed)) = &self.newest else {
            return Err(problem(format!("the memory {} has no context", self.memory)));
        };
        let last = i64::try_from(self.counts.contexts).unwrap_or(i64::MAX);
        if self.line.head_version != last || self.line.head_context_id.as_ref() != Some(head) {
            return Err(problem(format!(
                "the memory's line says that its newest version is {}, but it is {last}, {head}",
                self.line.head_version
            )));
        }
        if self.line.changed_at < *changed {
            return Err(problem(
                "changed_at of the memory's line is before its newest version",
            ));
        }
        match &self.target {
            Target::Create => {
                let made = records::count(&mut self.transaction, &self.vault, &self.memory).await?;
                if u64::try_from(made) != Ok(self.counts.records) {
                    let listed = self.counts.records;
                    return Err(problem(format!(
                        "the documents of {} have {made} records, but {listed} are listed",
                        self.memory
                    )));
                }
                self.transaction.commit().await?;
                done.created += 1;
            }
            Target::Append(append) if append.appended() > 0 => {
                self.transaction.commit().await?;
                done.appended += 1;
            }
            Target::Append(_) | Target::Unchanged => done.unchanged += 1,
            Target::Skip | Target::Refuse => done.skipped += 1,
        }
        Ok(())
    }
}

fn problem(text: impl Into<String>) -> LineError {
    LineError::Problem(text.into())
}
