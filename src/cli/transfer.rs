//! `working-memory export` and `import`: a vault as a file of JSON Lines, or a memory as Markdown.

use crate::cli::client::{Failure, MemoryArgs, Method, Output, Service, ServiceArgs, note};
use crate::cli::folder::file::{new_file, place, write_file};
use crate::cli::offline::{Access, on_database};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::bring::as_markdown;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::Storage;
use crate::storage::transfer::{ImportOptions, Imported, OnConflict};
use clap::Args;
use std::error::Error;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufRead, AsyncWriteExt as _, BufReader, BufWriter};

/// Arguments of `export`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the
/// folder, also while a service runs it; this command never creates it. With `--format` it asks the service instead.
#[derive(Debug, Args)]
pub struct Export {
    /// The vault to export; with --format also that of the other commands' settings.
    #[arg(long, value_name = "VAULT", required_unless_present = "format")]
    vault: Option<VaultId>,
    /// Only this memory of the vault; with --format also that of the other commands' settings.
    #[arg(long, value_name = "MEMORY")]
    memory: Option<MemoryId>,
    /// Write to this file, which appears when it is complete, instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write one memory of a running service as Markdown, without ids, times and reasons, the way back from `bring`:
    /// claude-md, what applies to every session, not progress, status and tasks; or markdown, the whole document.
    #[arg(long, value_name = "FORMAT", value_parser = ["claude-md", "markdown"])]
    format: Option<String>,
    /// Address of the service [env: WORKING_MEMORY_URL] [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL", requires = "format")]
    url: Option<String>,
    /// A file with the API key; without it the key is that of the environment's WORKING_MEMORY_API_KEY.
    #[arg(long, value_name = "FILE", requires = "format")]
    key_file: Option<PathBuf>,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    config: Option<PathBuf>,
}

const OLDER_SCHEMA: &str = "the schema of the database is older than this program: run `working-memory migrate` first, or \
                            export with the program that migrated it";

impl Export {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        if let Some(format) = &self.format {
            return self.export_markdown(format).await;
        }
        let stopped = Some("stopped; the file was not written");
        let work = async |storage: &Storage| match storage.schema_is_current().await? {
            true => self.write(storage).await,
            false => Err(OLDER_SCHEMA.into()),
        };
        on_database(self.config.as_deref(), Access::Read, stopped, work).await
    }

    async fn export_markdown(&self, format: &str) -> Result<(), Box<dyn Error>> {
        let args = ServiceArgs {
            url: self.url.clone(),
            key_file: self.key_file.clone(),
            memory_ref: MemoryArgs {
                vault: self.vault.clone(),
                memory: self.memory.clone(),
            },
            ..ServiceArgs::default()
        };
        let service = Service::of(&args)?;
        let call = service.of_memory(Method::GET, &["context"])?;
        let answer = call.accept("text/plain").send().await?;
        // What has expired applies to no session any more.
        let (is_whole, now) = (format == "markdown", SystemClock.now());
        let text = as_markdown(answer.text()?, is_whole, (!is_whole).then_some(now));
        match self.file() {
            Some(path) => write_file(path, &text, 0o600, true)?,
            None => Output::of_document().text(&text).write()?,
        }
        Ok(())
    }

    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    async fn write(&self, storage: &Storage) -> Result<(), Box<dyn Error>> {
        let Some(path) = self.file() else {
            let stdout = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
            let mut out = BufWriter::new(tokio::fs::File::from_std(stdout));
            return self.write_to(storage, &mut out).await;
        };
        // It contains whole documents: readable by its owner only.
        let new = new_file(path, 0o600)?;
        let file = new.as_file().try_clone()?;
        let mut out = BufWriter::new(tokio::fs::File::from_std(file));
        self.write_to(storage, &mut out).await?;
        out.into_inner().sync_all().await?;
        Ok(place(new, path, true)?)
    }

    async fn write_to(
        &self,
        storage: &Storage,
        out: &mut (impl tokio::io::AsyncWrite + Unpin),
    ) -> Result<(), Box<dyn Error>> {
        let vault = self
            .vault
            .as_ref()
            .ok_or_else(|| Failure::usage("--vault is missing"))?;
        storage.export_vault(vault, self.memory.as_ref(), out).await?;
        Ok(out.flush().await?)
    }
}

/// Arguments of `import`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the
/// folder, also while a service runs it; this command never creates it.
///
/// Each memory is imported completely or not at all; an interrupted import can be run again.
#[derive(Debug, Args)]
pub struct Import {
    /// The file; standard input without one.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Import into this vault instead of the one that was exported.
    #[arg(long, value_name = "VAULT")]
    into_vault: Option<VaultId>,
    /// What happens if a memory exists and is not the one in the file: fail ends the import, and memories imported before stay;
    /// skip leaves it unchanged; append adds versions that it does not have after its newest.
    #[arg(long, default_value = "fail", value_parser = on_conflict)]
    on_conflict: OnConflict,
    /// Read this file instead of `working-memory.toml` [env: WORKING_MEMORY_CONFIG].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn on_conflict(name: &str) -> Result<OnConflict, String> {
    name.parse()
        .map_err(|_| "must be fail, skip or append".to_owned())
}

impl Import {
    pub(super) async fn run(self) -> Result<(), Box<dyn Error>> {
        // Fail on a missing file before a database is started.
        let file = if self.file == Path::new("-") {
            File::from(std::io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(&self.file)
                .map_err(|error| Failure::usage(format!("cannot open {}: {error}", self.file.display())))?
        };
        let input = BufReader::new(tokio::fs::File::from_std(file));
        let mut done = None;
        let work =
            async |storage: &Storage| self.read(storage, input, done.insert(Imported::default())).await;
        let read = on_database(self.config.as_deref(), Access::Write, Some("stopped"), work).await;
        if let Some(Imported {
            created,
            appended,
            unchanged,
            skipped,
        }) = done
        {
            note(&format!(
                "memories: {created} new, {appended} appended to, {unchanged} unchanged, {skipped} skipped"
            ));
        }
        read
    }

    async fn read(
        &self,
        storage: &Storage,
        input: impl AsyncBufRead + Unpin,
        done: &mut Imported,
    ) -> Result<(), Box<dyn Error>> {
        let options = ImportOptions {
            into_vault: self.into_vault.clone(),
            on_conflict: self.on_conflict,
        };
        Ok(storage.import_vault(input, &options, done).await?)
    }
}
