//! What `window export` wrote to a folder: a small file there by which the next run distinguishes its own files from
//! those of others.

use super::folder::{EPICS, WEEKLY};
use crate::cli::client::{Failure, Output, note};
use crate::cli::tree::{Lock, Tree};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The file's name.
const NAME: &str = ".working-memory-folder.json";

/// By path, the SHA-256 of every text that this command may have written there.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct OwnFiles {
    files: BTreeMap<String, BTreeSet<String>>,
}

/// The changes of a folder by one run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Changes {
    /// Files that were written.
    pub(super) written: Vec<String>,
    /// Files of epics and weeks that are no longer needed.
    pub(super) removed: Vec<String>,
    /// Copies of others' texts that were replaced by a file.
    pub(super) kept: Vec<String>,
}

/// Brings the files of a folder up to date. Files that this command did not write are copied
/// beside the new file; files that are no longer needed are removed only if they are still as they were written.
///
/// # Errors
/// An I/O error, or an entry in the folder is not a regular file or folder.
pub(super) fn write(shown: &Path, files: &[(String, String)]) -> Result<Changes, Failure> {
    let failed = |path: &str, error: io::Error| {
        let at = shown.join(path);
        Failure::failed(format!("{} {error}", at.display()))
    };
    let tree = Tree::create(shown).map_err(|error| failed("", error))?;
    let lock = tree.lock().map_err(|error| failed("", error))?;
    let before = read_own(&tree).map_err(|error| failed(NAME, error))?;
    let mut changes = Changes::default();
    let mut wanted = OwnFiles::default();
    let mut stale = Vec::new();
    for (path, text) in files {
        let there = tree.read(path).map_err(|error| failed(path, error))?;
        wanted
            .files
            .insert(path.clone(), BTreeSet::from([hash(text.as_bytes())]));
        if there.as_deref() != Some(text.as_bytes()) {
            stale.push((path, text, there));
        }
    }
    // If the program is interrupted, the next run knows the new texts and the old ones.
    let mut between = before.clone();
    for (path, hashes) in &wanted.files {
        between
            .files
            .entry(path.clone())
            .or_default()
            .extend(hashes.clone());
    }
    write_own(&lock, &before, &between).map_err(|error| failed(NAME, error))?;
    for (path, text, there) in stale {
        if let Some(there) = there
            && !before.wrote(path, &there)
        {
            let kept = lock.keep(path, &there).map_err(|error| failed(path, error))?;
            note(&format!(
                "{path} was not written by this command; its text is kept as {kept}"
            ));
            changes.kept.push(kept);
        }
        lock.replace(path, text.as_bytes())
            .map_err(|error| failed(path, error))?;
        changes.written.push(path.clone());
    }
    for path in before.files.keys().filter(|path| is_of_archive(path)) {
        if wanted.files.contains_key(path) {
            continue;
        }
        match tree.read(path) {
            Ok(Some(there)) if before.wrote(path, &there) => {
                lock.remove(path).map_err(|error| failed(path, error))?;
                changes.removed.push(path.clone());
            }
            Ok(None) => {}
            // The file there now was written by somebody else.
            Ok(Some(_)) | Err(_) => note(&format!(
                "{path} is no longer needed but was changed by others: it is kept"
            )),
        }
    }
    write_own(&lock, &between, &wanted).map_err(|error| failed(NAME, error))?;
    Ok(changes)
}

impl OwnFiles {
    fn wrote(&self, path: &str, bytes: &[u8]) -> bool {
        self.files
            .get(path)
            .is_some_and(|hashes| hashes.contains(&hash(bytes)))
    }
}

/// Whether a path can be that of an epic or a week. The list of written files came with the folder and is not
/// trusted.
fn is_of_archive(path: &str) -> bool {
    let name = path.strip_prefix(EPICS).or_else(|| path.strip_prefix(WEEKLY));
    name.and_then(|name| name.strip_suffix(".md"))
        .is_some_and(|name| {
            !name.is_empty()
                && name.bytes().all(|byte| {
                    byte == b'W' || byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
                })
        })
}

/// The list of the last run; empty if it cannot be read, so that every file counts as written by others.
fn read_own(tree: &Tree) -> io::Result<OwnFiles> {
    let bytes = tree.read(NAME)?;
    Ok(bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default())
}

fn write_own(lock: &Lock<'_>, there: &OwnFiles, wanted: &OwnFiles) -> io::Result<()> {
    if there == wanted {
        return Ok(());
    }
    let mut json = serde_json::to_vec_pretty(wanted)?;
    json.push(b'\n');
    lock.replace(NAME, &json)
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Prints what was done to a folder: a line, or with `--json` an object in one line.
pub(super) fn print_changes(
    folder: &Path,
    version: i64,
    changes: &Changes,
    as_json: bool,
) -> Result<(), Failure> {
    let shown = folder.display().to_string();
    if as_json {
        let Changes {
            written,
            removed,
            kept,
        } = changes;
        let json_line = json!({ "folder": shown, "version": version, "written": written, "removed": removed,
                           "kept": kept });
        return Output::new().text(&json_line.to_string()).end().write();
    }
    let done = match (changes.written.len(), changes.removed.len()) {
        (0, 0) => "unchanged".to_owned(),
        (written, 0) => format!("{written} written"),
        (written, removed) => format!("{written} written, {removed} removed"),
    };
    let line = format!("{shown}: {done}, version {version}");
    Output::new().text(&line).end().write()
}
