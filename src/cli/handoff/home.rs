//! The paths of handoffs on this machine, `working-memory path`, and windows of time.

use crate::cli::client::{Failure, MemoryArgs, MemoryRef, Output, ago, note};
use crate::cli::handoff::copy::Copy;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::duration;
use chrono::TimeDelta;
use clap::Args;
use serde_json::json;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The Markdown.
pub(super) const MARKDOWN: &str = "WORKING_MEMORY.md";
/// The manifest.
pub(super) const MANIFEST: &str = "WORKING_MEMORY.manifest.json";

/// The home folder of this process: `$WORKING_MEMORY_HOME`, or `~/.working-memory`.
///
/// # Errors
/// The environment names neither.
pub(in crate::cli) fn home() -> Result<PathBuf, Failure> {
    let folder = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = folder("WORKING_MEMORY_HOME")
        .or_else(|| folder("HOME").map(|home| home.join(".working-memory")))
        .ok_or_else(|| Failure::usage("set WORKING_MEMORY_HOME: the environment names no home folder"))?;
    std::path::absolute(&home)
        .map_err(|error| Failure::usage(format!("WORKING_MEMORY_HOME {}: {error}", home.display())))
}

/// The folder `workspace` of the home folder.
#[derive(Debug, Clone)]
pub(super) struct Workspace(PathBuf);

impl Workspace {
    /// The workspace of this process.
    ///
    /// # Errors
    /// The environment names no home folder.
    pub(super) fn of_process() -> Result<Self, Failure> {
        Ok(Self::below(&home()?))
    }

    /// The workspace of a home folder.
    pub(super) fn below(home: &std::path::Path) -> Self {
        Self(home.join("workspace"))
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &std::path::Path {
        &self.0
    }

    /// The folder of the current copy of a memory's handoff. Ids begin with a letter or digit and contain no slash, so
    /// that each names exactly one folder.
    pub(super) fn current(&self, memory_ref: &MemoryRef) -> PathBuf {
        let MemoryRef { vault, memory } = memory_ref;
        self.0.join("current").join(vault.as_str()).join(memory.as_str())
    }
}

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

/// The longest, in seconds: a hundred years.
const MAX_SECONDS: u64 = 100 * 366 * 86_400;

/// A duration, as [`duration`] parses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Window {
    seconds: u64,
}

impl Window {
    /// As a time to wait.
    pub(in crate::cli) fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.seconds)
    }

    /// As a difference of times.
    pub(super) fn length(self) -> TimeDelta {
        // A hundred years fit.
        TimeDelta::seconds(i64::try_from(self.seconds).unwrap_or(i64::MAX / 1_000))
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = duration::seconds(text).filter(|seconds| (1..=MAX_SECONDS).contains(seconds));
        seconds
            .map(|seconds| Self { seconds })
            .ok_or_else(|| format!("must be a duration of {}", duration::FORMS))
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::iso(self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_read_as_the_service_reads_it() {
        for (text, shown) in [
            ("6h", "PT6H"),
            ("PT6H", "PT6H"),
            ("2d", "P2D"),
            ("1h30m", "PT1H30M"),
        ] {
            assert_eq!(
                text.parse::<Window>().map(|window| window.to_string()),
                Ok(shown.to_owned())
            );
        }
        for bad in ["", "6", "0h", "PT", "P1M", "9999999d"] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
    }
}
