//! `working-memory window export`: writes the folder, once or for as long as it runs.

use super::folder::render;
use super::memory::Memory;
use super::watch::watch;
use super::written::{print_changes, write};
use crate::cli::client::{Failure, Service, ServiceArgs};
use crate::cli::handoff::Window as Length;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `window export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep it up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the polling interval for changes without an event: rules, and everything if there is no event
    /// stream.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Export {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        if self.watch {
            return watch(
                &service,
                &self.folder,
                self.every.duration(),
                self.service.is_json(),
            )
            .await;
        }
        let memory = Memory::read(&service).await?;
        let changes = write(&self.folder, &render(&memory.folder))?;
        print_changes(&self.folder, memory.version, &changes, self.service.is_json())
    }
}
