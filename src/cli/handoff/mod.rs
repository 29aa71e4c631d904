//! The handoff on this machine: `refresh` updates a local copy, `path` prints its path, and `show` and `status` call the
//! service with a short timeout and use the copy if it does not answer.
//!
//! Under the home folder (`~/.working-memory`, or `$WORKING_MEMORY_HOME`) each refresh has a folder of its own, and
//! the last valid one is copied to a fixed path:
//!
//! ```text
//! workspace/2026/11/21/working-memory-20261121T105500Z-<handoff id>/WORKING_MEMORY.md
//!                                                                   WORKING_MEMORY.manifest.json
//! workspace/current/<vault>/<memory>/WORKING_MEMORY.md
//!                                    WORKING_MEMORY.manifest.json
//! ```

mod copy;
mod git;
mod refresh;
mod show;

use super::client::Failure;
use std::path::PathBuf;

pub(super) use refresh::Refresh;
pub(super) use show::{Path, Show, Status};

/// The home folder of this process: `$WORKING_MEMORY_HOME`, or `~/.working-memory`.
///
/// # Errors
/// The environment names neither.
pub(super) fn home() -> Result<PathBuf, Failure> {
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
