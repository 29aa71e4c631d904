//! `working-memory rebuild-records`: rebuilds records and their history from the versions.
#![expect(clippy::print_stdout, reason = "a command line tells its user what it did")]

use super::offline::{Access, Offline};
use super::process::{fail, load_config};
use super::stop::Stop;
use crate::domain::ids::{MemoryId, VaultId};
use clap::Args;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `rebuild-records`. The database is `DATABASE_URL` or `database.url`, which a service may be using
/// meanwhile, or else the embedded one, which none may.
///
/// Records and their history are a projection of the versions. What the remaining versions do not contain, because
/// texts were redacted or pruned, is kept as it is.
#[derive(Debug, Args)]
pub struct RebuildRecords {
    /// Only this vault.
    #[arg(long, value_name = "VAULT")]
    vault: Option<VaultId>,
    /// Only this memory of the vault.
    #[arg(long, value_name = "MEMORY", requires = "vault")]
    memory: Option<MemoryId>,
    /// Read this file instead of `working-memory.toml`.
    #[arg(long, value_name = "FILE", env = "WORKING_MEMORY_CONFIG")]
    config: Option<PathBuf>,
}

impl RebuildRecords {
    pub(super) async fn run(self) -> ExitCode {
        match self.rebuild().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error),
        }
    }

    async fn rebuild(&self) -> Result<(), Box<dyn Error>> {
        let mut stop = Stop::listen()?;
        let config = load_config(self.config.as_deref())?;
        let database = tokio::select! {
            opened = Offline::open(&config, Access::Write) => opened?,
            () = stop.wait() => return Err("stopped".into()),
        };
        let rebuilt = tokio::select! {
            rebuilt = database.storage.rebuild_records(self.vault.as_ref(), self.memory.as_ref()) => rebuilt,
            () = stop.wait() => {
                database.close().await?;
                return Err("stopped; memories rebuilt so far are saved".into());
            }
        };
        database.close().await?;
        let rebuilt = rebuilt?;
        if self.memory.is_some() && rebuilt.memories == 0 {
            return Err("there is no such memory".into());
        }
        println!(
            "{} memories checked, {} corrected",
            rebuilt.memories, rebuilt.mended
        );
        Ok(())
    }
}
