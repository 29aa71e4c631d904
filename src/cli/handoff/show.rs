//! `working-memory show`: the handoff, from its local copy.

use super::copy::Copy;
use super::home::Workspace;
use super::time::ago;
use crate::cli::client::{Failure, Output, PlaceArgs};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::document::written_time;
use clap::Args;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    place: PlaceArgs,
}

impl Show {
    /// A quoted line says how old the copy is; below it stands the copy as it is.
    pub(in crate::cli) fn run(self) -> Result<(), Failure> {
        let (place, workspace) = (self.place.place()?, Workspace::of_process()?);
        let copy = Copy::read(&workspace, &place).map_err(|none| none.failure(&place, &workspace))?;
        let now = SystemClock.now();
        let refreshed = copy.local.refreshed_at;
        let mut out = Output::new();
        out.text(&format!(
            "> Local copy, refreshed {} ({}), of version {}.",
            ago(copy.age(now)),
            written_time(refreshed),
            copy.local.base_version
        ));
        if copy.stale(now).is_empty() {
            out.text("\n\n");
        } else {
            out.text(" Stale: run `working-memory refresh`.\n\n");
        }
        out.whole_lines(&copy.markdown).write()
    }
}
