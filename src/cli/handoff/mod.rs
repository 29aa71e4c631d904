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
mod home;
mod live;
mod manifest;
mod show;
mod write;

pub(super) use home::{Path, Window, home};
pub(super) use show::{Show, Status};
pub(super) use write::Refresh;
