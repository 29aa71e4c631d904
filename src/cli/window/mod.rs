//! `working-memory window`: the window and its archive as a folder of Markdown files
//! ([`folder`]), exported from and imported into a running service.

mod export;
mod folder;
mod import;
mod memory;

use super::client::Failure;
use clap::Subcommand;

/// The commands below `window`.
#[derive(Debug, Subcommand)]
pub enum Window {
    /// Write rules, status, decisions and history as files.
    Export(export::Export),
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
