//! `working-memory path`: prints the path of the local copy.

use super::copy::Copy;
use super::home::Workspace;
use crate::cli::client::{Failure, Output, PlaceArgs, ago, note};
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
    place: PlaceArgs,
}

impl Path {
    /// Prints the path on standard output, for `cat "$(working-memory path)"`, and its age on standard error.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (place, workspace) = (self.place.place()?, Workspace::of_process()?);
        let copy = Copy::read(&workspace, &place).map_err(|none| none.failure(&place, &workspace))?;
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
