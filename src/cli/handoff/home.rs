//! The paths of handoffs on this machine.

use crate::cli::client::{Failure, MemoryRef};
use std::path::{Path, PathBuf};

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
    pub(super) fn below(home: &Path) -> Self {
        Self(home.join("workspace"))
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// The folder of the current copy of a memory's handoff. Ids begin with a letter or digit and contain no slash, so
    /// that each names exactly one folder.
    pub(super) fn current(&self, memory_ref: &MemoryRef) -> PathBuf {
        let MemoryRef { vault, memory } = memory_ref;
        self.0.join("current").join(vault.as_str()).join(memory.as_str())
    }
}
