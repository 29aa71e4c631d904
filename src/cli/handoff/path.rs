//! `working-memory path`: prints the path of the local copy.

use super::copy::Copy;
use super::home::Workspace;
use crate::cli::client::{Failure, MemoryArgs, Output, ago, note};
use crate::clock::{Clock as _, SystemClock};
use clap::Args;
use serde_json::json;

/// Arguments of `path`.
#[derive(Debug, Args)]
pub struct Path {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory_ref: MemoryArgs,
}

impl Path {
    /// Prints the path on standard output, for `cat "$(working-memory path)"`, and its age on standard error.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (memory_ref, workspace) = (self.memory_ref.memory_ref()?, Workspace::of_process()?);
        let copy =
            Copy::read(&workspace, &memory_ref).map_err(|none| none.failure(&memory_ref, &workspace))?;
        if self.json {
            let body =
                json!({ "path": copy.path.to_string_lossy(), "refreshed_at": copy.local.refreshed_at });
            return Output::new().text(&body.to_string()).end().write();
        }
        Output::new()
            .text(&copy.path.display().to_string())
            .end()
            .write()?;
        note(&format!("refreshed {}", ago(copy.age(SystemClock.now()))));
        Ok(())
    }
}
