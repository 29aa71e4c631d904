//! Writes a handoff: the folder of its run and the current copy, each atomically.

use super::home::{MANIFEST, MARKDOWN, Workspace};
use super::manifest::{self, Handoff, Local};
use crate::cli::client::{Failure, MemoryRef};
use crate::cli::folder::tree::Tree;
use crate::domain::ids::ContextId;
use chrono::{DateTime, Utc};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum number of runs of one handoff in one second.
const MAX_RUNS: u32 = 1_000;

/// Writes a handoff and returns the path of its current Markdown.
///
/// # Errors
/// It is not of this memory, or a file cannot be written.
pub(super) fn write(
    workspace: &Workspace,
    memory_ref: &MemoryRef,
    handoff: &Handoff,
    local: &Local,
) -> Result<PathBuf, Failure> {
    if !local.is_of(&memory_ref.vault, &memory_ref.memory) {
        return Err(Failure::failed(
            "the service answered with the handoff of another memory",
        ));
    }
    // It becomes part of a path, so it is validated.
    let id: ContextId = handoff
        .handoff_id
        .parse()
        .map_err(|rule| Failure::failed(format!("the service's handoff_id {rule}")))?;
    let pair = Pair {
        markdown: handoff.markdown.as_bytes(),
        manifest: manifest::bytes(handoff, local)?,
    };
    let unwritable = |error: io::Error| {
        let folder = workspace.folder().display();
        Failure::failed(format!("cannot write below {folder}: {error}"))
    };
    pair.write_run(workspace, &id, local.refreshed_at)
        .map_err(unwritable)?;
    let current = workspace.current(memory_ref);
    pair.replace(workspace, &current).map_err(unwritable)?;
    Ok(current.join(MARKDOWN))
}

struct Pair<'p> {
    markdown: &'p [u8],
    manifest: Vec<u8>,
}

impl Pair<'_> {
    /// The folder of the run is renamed to its name when both files are in it.
    fn write_run(&self, workspace: &Workspace, id: &ContextId, now: DateTime<Utc>) -> io::Result<()> {
        let day = workspace.folder().join(now.format("%Y/%m/%d").to_string());
        let name = format!("working-memory-{}-{id}", now.format("%Y%m%dT%H%M%SZ"));
        let unfinished = Unfinished(day.join(format!(".{name}.{}.part", std::process::id())));
        self.write_into(&unfinished.0, "")?;
        for number in 1..=MAX_RUNS {
            let name = match number {
                1 => name.clone(),
                number => format!("{name}-{number}"),
            };
            match fs::rename(&unfinished.0, day.join(name)) {
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
                // The new name is on disk when its folder is.
                Ok(()) => return fs::File::open(&day)?.sync_all(),
            }
        }
        Err(io::Error::other("too many runs in one second"))
    }

    /// Replaces the two files of a folder one after the other. A lock prevents two refreshes from mixing theirs, and
    /// readers detect by the hash that they read between the two replacements.
    fn replace(&self, workspace: &Workspace, folder: &Path) -> io::Result<()> {
        let current = workspace.folder().join("current");
        let below = folder.strip_prefix(&current).map_err(io::Error::other)?;
        let below = below.to_str().ok_or_else(|| io::Error::other("is not UTF-8"))?;
        self.write_into(&current, &format!("{below}/"))
    }

    fn write_into(&self, folder: &Path, below: &str) -> io::Result<()> {
        let tree = Tree::create_private(folder)?;
        let lock = tree.lock()?;
        lock.replace(&format!("{below}{MARKDOWN}"), self.markdown)?;
        lock.replace(&format!("{below}{MANIFEST}"), &self.manifest)
    }
}

/// Whether a rename failed because the name exists.
fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
    )
}

/// A folder that is removed unless it was renamed to its final name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After the rename no folder has that name any more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
