//! `working-memory export`: writes a vault to a file of JSON Lines.

use super::offline::{Access, Offline};
use super::process::{fail, load_config};
use super::progress::ProgressLine;
use super::stop::Stop;
use crate::domain::ids::{MemoryId, VaultId};
use crate::storage::Storage;
use clap::Args;
use std::error::Error;
use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::io::{AsyncWriteExt as _, BufWriter};

/// Arguments of `export`. The database is `DATABASE_URL` or `database.url`, or else the embedded one of the
/// folder, also while a service runs it; this command never creates it.
#[derive(Debug, Args)]
pub struct Export {
    /// The vault to export.
    #[arg(long, value_name = "VAULT")]
    vault: VaultId,
    /// Only this memory of the vault.
    #[arg(long, value_name = "MEMORY")]
    memory: Option<MemoryId>,
    /// Write to this file, which appears when it is complete, instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
}

impl Export {
    pub(super) async fn run(self) -> ExitCode {
        match self.export().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        }
    }

    async fn export(&self) -> Result<(), Box<dyn Error>> {
        let mut stop = Stop::listen()?;
        let config = load_config(self.config.as_deref())?;
        let database = tokio::select! {
            opened = Offline::open(&config, Access::Read) => opened?,
            () = stop.wait() => return Err("stopped".into()),
        };
        let written = tokio::select! {
            written = self.write(&database.storage) => written,
            () = stop.wait() => Err("stopped; the file was not written".into()),
        };
        database.close().await?;
        written
    }

    async fn write(&self, storage: &Storage) -> Result<(), Box<dyn Error>> {
        let Some(path) = self.output.as_deref().filter(|path| *path != Path::new("-")) else {
            let stdout = fs::File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
            let mut out = BufWriter::new(tokio::fs::File::from_std(stdout));
            return self.write_to(storage, &mut out).await;
        };
        let unfinished = Unfinished::beside(path)?;
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            // The file contains whole documents: readable by its owner only.
            .mode(0o600)
            .open(&unfinished.path);
        let file = file.map_err(|error| format!("cannot create {}: {error}", unfinished.path.display()))?;
        let mut out = BufWriter::new(tokio::fs::File::from_std(file));
        self.write_to(storage, &mut out).await?;
        out.into_inner().sync_all().await?;
        unfinished.take_place(path)?;
        Ok(())
    }

    async fn write_to(
        &self,
        storage: &Storage,
        out: &mut (impl tokio::io::AsyncWrite + Unpin),
    ) -> Result<(), Box<dyn Error>> {
        let mut line = ProgressLine::new();
        let written = storage
            .export_vault(&self.vault, self.memory.as_ref(), out, &mut |progress| {
                line.show(progress)
            })
            .await;
        line.clear();
        written?;
        out.flush().await?;
        Ok(())
    }
}

/// A temporary file that is removed unless it is renamed to its final name.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// A new name in the folder of `path`: a rename is atomic only within one folder.
    fn beside(path: &Path) -> Result<Self, Box<dyn Error>> {
        let name = path.file_name().ok_or("--output must name a file")?;
        let mut unfinished = name.to_owned();
        unfinished.push(format!(".{}.part", std::process::id()));
        Ok(Self {
            path: path.with_file_name(unfinished),
        })
    }

    fn take_place(self, path: &Path) -> std::io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After the rename no file has that name any more.
        let _ = fs::remove_file(&self.path);
    }
}
