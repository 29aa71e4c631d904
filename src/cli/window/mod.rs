//! `working-memory window`: the window and its archive as a folder of Markdown files ([`folder`]), exported from and imported
//! into a running service. `window export` writes the folder, once or for as long as it runs.

mod folder;
mod import;
mod memory;

use self::folder::{is_exported_older, render};
use self::memory::Memory;
use crate::cli::client::{Failure, Output, Service, ServiceArgs};
use crate::cli::folder::follow::follow;
use crate::cli::folder::watch;
use crate::domain::handoff::Window as Length;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The commands below `window`.
#[derive(Debug, Subcommand)]
pub enum Window {
    /// Write rules, status, decisions and history as files.
    Export(Export),
    /// Import a folder of such files, also a hand-written one.
    Import(import::Import),
}

impl Window {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Export(command) => command.run().await,
            Self::Import(command) => command.run().await,
        }
    }
}

/// Arguments of `window export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep it up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the interval at which the memory is looked at.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Everything is read again at this interval, also if nothing seems to have changed: a redaction makes no version.
const FULL_LOOK: Duration = Duration::from_secs(60);

impl Export {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let mut last: Option<(Memory, Instant)> = None;
        // Writing files has no await point at which it could be dropped.
        watch(self.watch.then_some(&self.every), async |is_first| {
            if let Some((memory, read_at)) = &last
                && read_at.elapsed() < FULL_LOOK
                && !memory.has_changed(&service).await?
            {
                return Ok(());
            }
            let memory = Memory::read(&service).await?;
            self.write(&memory, is_first)?;
            last = Some((memory, Instant::now()));
            Ok(())
        })
        .await
    }

    fn write(&self, memory: &Memory, is_first: bool) -> Result<(), Failure> {
        let texts = render(&memory.folder).into_iter().collect();
        let done = follow(&self.folder, &texts, is_exported_older)?;
        if !is_first && done.written.is_empty() && done.removed.is_empty() {
            return Ok(());
        }
        let (shown, version) = (self.folder.display().to_string(), memory.version);
        let line = if self.service.is_json() {
            let mut body = json!(done);
            (body["folder"], body["version"]) = (shown.into(), version.into());
            body.to_string()
        } else {
            let done = match (done.written.len(), done.removed.len()) {
                (0, 0) => "unchanged".to_owned(),
                (written, 0) => format!("{written} written"),
                (written, removed) => format!("{written} written, {removed} removed"),
            };
            format!("{shown}: {done}, version {version}")
        };
        Output::new().text(&line).end().write()
    }
}
