//! `working-memory window export`: writes the folder, once or for as long as it runs.

use super::memory::Memory;
use super::watch::watch;
use super::written::{Changes, write};
use crate::cli::client::{Failure, Output, Service, ServiceArgs};
use crate::cli::handoff::Window as Length;
use crate::domain::window::folder::render;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `window export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The folder; it is made if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep it current until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, how often to look for what no event tells: rules, and everything where there is no stream of
    /// events.
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
                self.service.is_raw(),
            )
            .await;
        }
        let memory = Memory::read(&service).await?;
        let changes = write(&self.folder, &render(&memory.folder))?;
        tell(&self.folder, memory.version, &changes, self.service.is_raw())
    }
}

/// Says what was done: a line, or with `--json` an object in one line.
pub(super) fn tell(folder: &Path, version: i64, changes: &Changes, as_json: bool) -> Result<(), Failure> {
    let shown = folder.display().to_string();
    if as_json {
        let Changes {
            written,
            removed,
            kept,
        } = changes;
        let told = json!({ "folder": shown, "version": version, "written": written, "removed": removed,
                           "kept": kept });
        return Output::new().text(&told.to_string()).end().write();
    }
    let done = match (changes.written.len(), changes.removed.len()) {
        (0, 0) => "unchanged".to_owned(),
        (written, 0) => format!("{written} written"),
        (written, removed) => format!("{written} written, {removed} removed"),
    };
    let line = format!("{shown}: {done}, version {version}");
    Output::new().text(&line).end().write()
}
