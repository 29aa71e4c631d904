//! `working-memory window`: the window and its archive as a folder of Markdown files ([`folder`]), exported from and imported
//! into a running service. `window export` writes the folder, once or for as long as it runs.

mod folder;
mod import;
mod memory;

use self::folder::{EPICS, FILES, render};
use self::memory::Memory;
use crate::cli::client::{Exit, Failure, Output, Service, ServiceArgs, note};
use crate::cli::folder::swap::{self, Placed, kept_paths};
use crate::cli::folder::tree::Tree;
use crate::cli::folder::{hash, watch};
use crate::domain::handoff::Window as Length;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The commands below `window`.
#[derive(Debug, Subcommand)]
pub enum Window {
    /// Write rules, status, decisions and history as files.
    Export(Export),
    /// Import a folder of such files, also a hand-written one.
    Import(import::Import),
}

impl Window {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Export(command) => command.run().await,
            Self::Import(command) => command.run().await,
        }
    }
}

/// Arguments of `window export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep it up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the interval at which the memory is looked at.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Everything is read again at this interval, also if nothing seems to have changed: a redaction makes no version.
const FULL_LOOK: Duration = Duration::from_secs(60);

impl Export {
    async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        if !self.watch {
            return self.write(&Memory::read(&service).await?, true);
        }
        let mut last: Option<(Memory, Instant)> = None;
        // Writing files has no await point at which it could be dropped.
        watch(&self.every, async |is_first| {
            if let Some((memory, read_at)) = &last
                && read_at.elapsed() < FULL_LOOK
                && !memory.has_changed(&service).await?
            {
                return Ok(());
            }
            let memory = Memory::read(&service).await?;
            self.write(&memory, is_first)?;
            last = Some((memory, Instant::now()));
            Ok(())
        })
        .await
    }

    fn write(&self, memory: &Memory, is_first: bool) -> Result<(), Failure> {
        let texts = render(&memory.folder).into_iter().collect();
        let Written {
            written,
            removed,
            kept,
        } = write(&self.folder, &texts)?;
        if !is_first && written.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let (shown, version) = (self.folder.display().to_string(), memory.version);
        let line = if self.service.is_json() {
            json!({ "folder": shown, "version": version, "written": written, "removed": removed, "kept": kept })
                .to_string()
        } else {
            let done = match (written.len(), removed.len()) {
                (0, 0) => "unchanged".to_owned(),
                (written, 0) => format!("{written} written"),
                (written, removed) => format!("{written} written, {removed} removed"),
            };
            format!("{shown}: {done}, version {version}")
        };
        Output::new().text(&line).end().write()
    }
}

/// The name of the state file.
const NAME: &str = ".working-memory-folder.json";

/// How often a file is read again that somebody else changed before it was replaced.
const MAX_TRIES: usize = 20;

/// By path, the SHA-256 of the texts that this command wrote there.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnFiles {
    files: BTreeMap<String, BTreeSet<String>>,
}

impl OwnFiles {
    fn wrote(&self, path: &str, sha256: &str) -> bool {
        self.files.get(path).is_some_and(|own| own.contains(sha256))
    }
}

/// What was done with the files of a folder, by path.
#[derive(Debug, Default)]
struct Written {
    written: BTreeSet<String>,
    removed: BTreeSet<String>,
    /// The copies of texts that somebody else wrote.
    kept: BTreeSet<String>,
}

/// Brings the files of a folder up to date. Files that this command did not write are copied beside the new file; files
/// that are no longer needed are removed only if they are still as they were written.
///
/// # Errors
/// An I/O error, or an entry in the folder is not a regular file or folder.
fn write(shown: &Path, texts: &BTreeMap<String, String>) -> Result<Written, Failure> {
    let failed = |error| Failure::failed(format!("{} {error}", shown.display()));
    let tree = Tree::create(shown).map_err(failed)?;
    tree.lock().map_err(failed)?;
    // In a file of another form nothing is known, so that every file counts as written by others.
    let mut own: OwnFiles = match tree.state(NAME) {
        Err(error) if error.kind() != ErrorKind::InvalidData => return Err(tree.failed(NAME, &error)),
        own => own.ok().flatten().unwrap_or_default(),
    };
    // The list came with the folder and is not trusted.
    own.files.retain(|path, _| is_of_window(path));
    let folders = ["", "active/", "archive/", EPICS];
    swap::recover(&tree, folders, |path, sha256| own.wrote(path, sha256))?;
    // Nothing is written if a file cannot be read.
    for path in texts.keys() {
        tree.read(path).map_err(|error| tree.failed(path, &error))?;
    }
    // If this is killed in between, the next run knows the old texts and the new ones.
    for (path, text) in texts {
        let hashes = own.files.entry(path.clone()).or_default();
        hashes.insert(hash(text.as_bytes()));
    }
    tree.save(NAME, &own)?;
    let mut done = Written::default();
    for (path, text) in texts {
        write_file(&tree, path, text, &own, &mut done)?;
    }
    for path in own.files.keys().filter(|path| !texts.contains_key(*path)) {
        let Ok(Some(there)) = tree.read(path) else {
            continue;
        };
        let sha256 = hash(&there);
        let removed = match own.wrote(path, &sha256) {
            true => swap::remove(&tree, path, &sha256),
            false => Ok(Placed::Changed),
        };
        match removed {
            Ok(Placed::Done) => drop(done.removed.insert(path.clone())),
            Err(error) => note(&format!("{path} {error}")),
            _ => note(&format!(
                "{path} is no longer needed but was changed by others: it is kept"
            )),
        }
    }
    let written = texts
        .iter()
        .map(|(path, text)| (path.clone(), [hash(text.as_bytes())].into()));
    let files = written.collect();
    tree.save(NAME, &OwnFiles { files })?;
    Ok(done)
}

/// Writes one file, unless it has this text.
fn write_file(
    tree: &Tree,
    path: &str,
    text: &str,
    own: &OwnFiles,
    done: &mut Written,
) -> Result<(), Failure> {
    let failed = |error: io::Error| tree.failed(path, &error);
    for _ in 0..MAX_TRIES {
        let placed = match tree.read(path).map_err(failed)? {
            Some(there) if there == text.as_bytes() => return Ok(()),
            Some(there) => {
                let sha256 = hash(&there);
                if !own.wrote(path, &sha256) {
                    let copy = swap::keep(tree, kept_paths(path), &there).map_err(failed)?;
                    note(&format!(
                        "{path} was not written by this command; its text is kept as {copy}"
                    ));
                    done.kept.insert(copy);
                }
                swap::replace(tree, path, text.as_bytes(), &sha256)
            }
            None => swap::create(tree, path, text.as_bytes()),
        };
        if placed.map_err(failed)? == Placed::Done {
            done.written.insert(path.to_owned());
            return Ok(());
        }
    }
    Err(Failure::new(
        Exit::Busy,
        "the files change faster than they can be written; nothing is lost, try again later",
    ))
}

/// Whether a path can be that of a file of a window.
fn is_of_window(path: &str) -> bool {
    let name = path.strip_prefix(EPICS);
    let is_name = |name: &str| {
        let fits = |c: char| c == 'W' || c == '-' || c.is_ascii_lowercase() || c.is_ascii_digit();
        !name.is_empty() && name.chars().all(fits)
    };
    FILES.contains(&path)
        || name
            .and_then(|name| name.strip_suffix(".md"))
            .is_some_and(is_name)
}
