//! `working-memory window`: the window and its archive as a folder of Markdown files ([`folder`]), exported from and imported
//! into a running service. `window export` writes the folder, once or for as long as it runs.

mod folder;
mod import;
mod memory;

use self::folder::{EPICS, FILES, render};
use self::memory::Memory;
use crate::cli::client::{Failure, Output, Service, ServiceArgs, note};
use crate::cli::folder::engine::{Bases, Engine, Report, Sent, Sides};
use crate::cli::folder::hash;
use crate::cli::folder::plan::{Base, Local};
use crate::cli::folder::swap;
use crate::cli::folder::tree::Tree;
use crate::cli::folder::watch;
use crate::domain::handoff::Window as Length;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
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
            return self.write(&Memory::read(&service).await?, true).await;
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
            self.write(&memory, is_first).await?;
            last = Some((memory, Instant::now()));
            Ok(())
        })
        .await
    }

    async fn write(&self, memory: &Memory, is_first: bool) -> Result<(), Failure> {
        let report = write(&self.folder, render(&memory.folder).into_iter().collect()).await?;
        let written: BTreeSet<&String> = report.received.iter().chain(report.conflicts.keys()).collect();
        let (written_count, removed) = (written.len(), &report.removed);
        if !is_first && written.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let (shown, version) = (self.folder.display().to_string(), memory.version);
        let line = if self.service.is_json() {
            let kept: Vec<&String> = report.conflicts.values().collect();
            json!({ "folder": shown, "version": version, "written": written, "removed": removed, "kept": kept })
                .to_string()
        } else {
            let done = match (written_count, removed.len()) {
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

/// By path, the SHA-256 of the text that this command wrote there.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnFiles {
    files: BTreeMap<String, BTreeSet<String>>,
}

/// A folder, and the texts that it follows.
struct Rendered {
    tree: Tree,
    texts: BTreeMap<String, String>,
}

/// Brings the files of a folder up to date. Files that this command did not write are copied beside the new file; files
/// that are no longer needed are removed only if they are still as they were written.
///
/// # Errors
/// An I/O error, or an entry in the folder is not a regular file or folder.
async fn write(shown: &Path, texts: BTreeMap<String, String>) -> Result<Report, Failure> {
    let failed = |error| Failure::failed(format!("{} {error}", shown.display()));
    let tree = Tree::create(shown).map_err(failed)?;
    tree.lock().map_err(failed)?;
    // In a file of another form nothing is known, so that every file counts as written by others.
    let own: OwnFiles = match tree.state(NAME) {
        Err(error) if error.kind() != ErrorKind::InvalidData => return Err(tree.failed(NAME, &error)),
        own => own.ok().flatten().unwrap_or_default(),
    };
    // The list came with the folder and is not trusted.
    let own = own.files.into_iter().filter(|(path, _)| is_of_window(path));
    let bases: Bases = own
        .filter_map(|(path, hashes)| Some((path, base(hashes.into_iter().next()?))))
        .collect();
    let known = |path: &str| bases.get(path).map(|base| base.sha256.clone());
    swap::recover(&tree, ["", "active/", "archive/", EPICS], known)?;
    let mut sides = Rendered { tree, texts };
    let mut engine = Engine::new(&mut sides, bases);
    let report = engine.run(true).await?;
    for (path, copy) in &report.conflicts {
        note(&format!(
            "{path} was not written by this command; its text is kept as {copy}"
        ));
    }
    for (path, why) in &report.skipped {
        if engine.sides.texts.contains_key(path) {
            return Err(Failure::failed(format!("{} {why}", shown.join(path).display())));
        }
        note(&format!("{path} {why}"));
        engine.bases.remove(path);
        engine.sides.save(&engine.bases).await?;
    }
    Ok(report)
}

/// The version of a text is its hash.
fn base(sha256: String) -> Base {
    Base {
        version: sha256.clone(),
        sha256,
    }
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

impl Sides for Rendered {
    const FOLLOWS: bool = true;

    fn tree(&self) -> &Tree {
        &self.tree
    }

    async fn local(&mut self, bases: &Bases) -> Result<BTreeMap<String, Local>, Failure> {
        let mut found = BTreeMap::new();
        for path in self.texts.keys().chain(bases.keys()) {
            match self.tree.read(path) {
                Ok(Some(text)) => drop(found.insert(path.clone(), Local::Text(hash(&text)))),
                Ok(None) => {}
                // Nothing is written if a file cannot be read.
                Err(error) if self.texts.contains_key(path) => return Err(self.tree.failed(path, &error)),
                Err(_) => drop(found.insert(path.clone(), Local::Unusable)),
            }
        }
        Ok(found)
    }

    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let texts = self.texts.iter();
        Ok(texts
            .map(|(path, text)| (path.clone(), hash(text.as_bytes())))
            .collect())
    }

    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure> {
        let text = self.texts.get(path);
        Ok(text.map(|text| (hash(text.as_bytes()), text.clone())))
    }

    async fn send(&mut self, _: &str, _: &str, _: Option<&str>) -> Result<Sent, Failure> {
        Ok(Sent::Refused(
            "is no longer needed but was changed by others: it is kept".to_owned(),
        ))
    }

    async fn unlink(&mut self, _: &str, _: &str) -> Result<bool, Failure> {
        Ok(false)
    }

    async fn save(&mut self, bases: &Bases) -> Result<(), Failure> {
        let files = bases
            .iter()
            .map(|(path, base)| (path.clone(), [base.sha256.clone()].into()));
        let files = files.collect();
        self.tree.save(NAME, &OwnFiles { files })
    }
}
