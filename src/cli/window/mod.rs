//! `working-memory window`: the window and its archive as a folder of Markdown files
//! ([`crate::domain::window::folder`]), written from a running service and taken over into one.

mod export;
mod import;
mod memory;
mod report;
mod send;
mod watch;
mod written;

use super::client::Failure;
use clap::Subcommand;

/// The commands below `window`.
#[derive(Debug, Subcommand)]
pub enum Window {
    /// Write rules, status, decisions and history as files.
    Export(export::Export),
    /// Take over a folder of such files, also one that people keep.
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
