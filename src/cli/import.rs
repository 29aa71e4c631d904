//! `working-memory import`: reads a file that `export` wrote into a vault.

use super::client::Failure;
use super::offline::{Access, Offline};
use super::process::{fail, load_config};
use super::progress::ProgressLine;
use super::stop::Stop;
use crate::config::limits::MOST_BYTES;
use crate::domain::ids::VaultId;
use crate::storage::Storage;
use crate::storage::transfer::{ImportOptions, Imported, OnConflict};
use clap::{Args, ValueEnum};
use std::error::Error;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::io::{AsyncBufRead, BufReader};

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
    /// What to do with a memory that exists and is not the one in the file.
    #[arg(long, value_enum, default_value_t = Conflict::Fail)]
    on_conflict: Conflict,
    /// The longest line that is accepted, in bytes. A line is kept in memory as a whole.
    #[arg(long, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    max_line_bytes: usize,
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
}

/// `--on-conflict`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Conflict {
    /// The import ends; memories imported before stay.
    Fail,
    /// The memory is unchanged.
    Skip,
    /// Versions that the memory does not have are added after its newest.
    Append,
}

impl Import {
    pub(super) async fn run(self) -> ExitCode {
        match self.import().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        }
    }

    async fn import(&self) -> Result<(), Box<dyn Error>> {
        let mut stop = Stop::listen()?;
        let config = load_config(self.config.as_deref())?;
        // Fail on a missing file before a database is started.
        let file = if self.file == Path::new("-") {
            File::from(std::io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(&self.file)
                .map_err(|error| Failure::usage(format!("cannot open {}: {error}", self.file.display())))?
        };
        let input = BufReader::new(tokio::fs::File::from_std(file));
        let database = tokio::select! {
            opened = Offline::open(&config, Access::Write) => opened?,
            () = stop.wait() => return Err("stopped".into()),
        };
        let mut done = Imported::default();
        let read = tokio::select! {
            read = self.read(&database.storage, input, &mut done) => read,
            () = stop.wait() => Err("stopped".into()),
        };
        let Imported {
            created,
            appended,
            unchanged,
            skipped,
        } = done;
        eprintln!(
            "memories: {created} new, {appended} appended to, {unchanged} unchanged, {skipped} skipped"
        );
        database.close().await?;
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
            on_conflict: match self.on_conflict {
                Conflict::Fail => OnConflict::Fail,
                Conflict::Skip => OnConflict::Skip,
                Conflict::Append => OnConflict::Append,
            },
            max_line_bytes: self.max_line_bytes,
            max_document_bytes: MOST_BYTES,
        };
        let mut line = ProgressLine::new();
        let read = storage
            .import_vault(input, &options, done, &mut |progress| line.show(progress))
            .await;
        line.clear();
        Ok(read?)
    }
}
