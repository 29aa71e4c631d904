//! Writes a handoff: the folder of its run and the current copy, each atomically.

use super::home::{MANIFEST, MARKDOWN, Workspace};
use super::manifest::{self, Handoff, Local};
use crate::cli::client::{Failure, MemoryRef};
use crate::domain::ids::ContextId;
use chrono::{DateTime, Utc};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
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
        private_folders(&day)?;
        let name = format!("working-memory-{}-{id}", now.format("%Y%m%dT%H%M%SZ"));
        let unfinished = Unfinished(day.join(format!(".{name}.{}.part", std::process::id())));
        DirBuilder::new().mode(0o700).create(&unfinished.0)?;
        write_synced(&unfinished.0.join(MARKDOWN), self.markdown)?;
        write_synced(&unfinished.0.join(MANIFEST), &self.manifest)?;
        sync_folder(&unfinished.0)?;
        for number in 1..=MAX_RUNS {
            let name = match number {
                1 => name.clone(),
                number => format!("{name}-{number}"),
            };
            match fs::rename(&unfinished.0, day.join(name)) {
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
                Ok(()) => return sync_folder(&day),
            }
        }
        Err(io::Error::other("too many runs in one second"))
    }

    /// Replaces the two files of a folder one after the other. A lock prevents two refreshes from mixing theirs, and
    /// readers detect by the hash that they read between the two replacements.
    fn replace(&self, workspace: &Workspace, folder: &Path) -> io::Result<()> {
        private_folders(folder)?;
        let lock = private_file(&workspace.folder().join("current/.lock"))?;
        lock.lock()?;
        let part = |name: &str| Unfinished(folder.join(format!(".{name}.{}.part", std::process::id())));
        let (markdown, manifest) = (part(MARKDOWN), part(MANIFEST));
        write_synced(&markdown.0, self.markdown)?;
        write_synced(&manifest.0, &self.manifest)?;
        fs::rename(&markdown.0, folder.join(MARKDOWN))?;
        fs::rename(&manifest.0, folder.join(MANIFEST))?;
        sync_folder(folder)
    }
}

/// Whether a rename failed because the name exists.
fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
    )
}

/// Creates a folder and its missing parents, accessible by its owner only: a handoff quotes a memory.
fn private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file readable by its owner only, or truncates an existing one.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Syncs new names in a folder to disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A file or folder that is removed unless it was renamed to its final name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After the rename no file has that name any more.
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
