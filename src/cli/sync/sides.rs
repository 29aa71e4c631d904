//! The two sides: a folder on this machine, and a root of a running service.

use super::engine::{Sent, Sides};
use super::scan::Scanner;
use crate::cli::client::{Failure, Method, Service, all, found, note};
use crate::cli::folder::swap::{self, Placed};
use crate::cli::folder::tree::{Lock, Tree};
use crate::cli::sync::folder::{NAME, State};
use crate::cli::sync::plan::{Base, Local, is_wanted, path_in_folder};
use crate::domain::ids::MemoryId;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The route below the vault.
const FILES: [&str; 2] = ["memory-tool", "files"];

/// Both sides.
pub(super) struct Pair<'p> {
    pub(super) service: &'p Service,
    pub(super) shown: &'p Path,
    pub(super) tree: &'p Tree,
    pub(super) lock: &'p Lock<'p>,
    pub(super) scanner: &'p mut Scanner,
    pub(super) state: State,
    /// Whether files of all kinds are synchronised.
    pub(super) all: bool,
    /// The memory of each file of the service.
    pub(super) memories: BTreeMap<String, MemoryId>,
    /// What the last scan skipped in the folder and on the service, and why.
    pub(super) skipped: BTreeMap<String, String>,
}

/// An entry of the service's list.
#[derive(Debug, Deserialize)]
struct Entry {
    path: String,
    memory_id: String,
    context_id: String,
}

#[derive(Debug, Deserialize)]
struct PutResult {
    context_id: String,
}

impl Pair<'_> {
    fn failed(&self, path: &str, error: &io::Error) -> Failure {
        Failure::failed(format!("{} {error}", self.shown.join(path).display()))
    }

    /// An error of a single file is reported and the other files continue; a full disk ends the sync.
    fn placed(&self, path: &str, done: io::Result<Placed>) -> Result<Placed, Failure> {
        match done {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::StorageFull
                        | io::ErrorKind::QuotaExceeded
                        | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Err(self.failed(path, &error))
            }
            Err(error) => Ok(Placed::Blocked(error.to_string())),
            Ok(placed) => Ok(placed),
        }
    }

    /// The path of a file on the service.
    fn there(path: &str) -> String {
        format!("/memories/{path}")
    }

    /// Cleans up what a killed program left behind in the folder.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn recover(&mut self) -> Result<(), Failure> {
        let found = self.scanner.scan(self.tree, self.all);
        let found = found.map_err(|error| self.failed("", &error))?;
        for (above, name) in found.left_behind {
            let base = |path: &str| self.state.files.get(path).map(|base| base.sha256.clone());
            let kept = swap::recover(self.tree, &above, &name, base);
            if let Some(copy) = kept.map_err(|error| self.failed(&format!("{above}{name}"), &error))? {
                note(&format!(
                    "an earlier sync was interrupted; a text of it is kept as {copy}"
                ));
            }
        }
        Ok(())
    }
}

impl Sides for Pair<'_> {
    async fn local(&mut self) -> Result<BTreeMap<String, Local>, Failure> {
        let found = self.scanner.scan(self.tree, self.all);
        let found = found.map_err(|error| self.failed("", &error))?;
        self.skipped = found.skipped;
        let mut files = found.files;
        // A file behind a symbolic link does not count as deleted.
        for path in self.state.files.keys() {
            if found.links.iter().any(|link| path.starts_with(link)) {
                files.insert(path.clone(), Local::Unusable);
            }
        }
        Ok(files)
    }

    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let root = &self.state.root;
        let list = || {
            let call = self.service.of_vault(Method::GET, &FILES)?;
            Ok(call.query("root", root))
        };
        let entries: Vec<Entry> = all(list).await?;
        let (mut versions, mut memories) = (BTreeMap::new(), BTreeMap::new());
        for entry in entries {
            let path = match path_in_folder(&entry.path) {
                Ok(path) if is_wanted(&path, self.all) => path,
                Ok(_) => continue,
                Err(why) => {
                    self.skipped.insert(entry.path, why);
                    continue;
                }
            };
            let memory = entry
                .memory_id
                .parse()
                .map_err(|rule| Failure::failed(format!("the service's memory_id {rule}")))?;
            memories.insert(path.clone(), memory);
            versions.insert(path, entry.context_id);
        }
        self.memories = memories;
        Ok(versions)
    }

    async fn read(&mut self, path: &str) -> Result<Option<String>, Failure> {
        let bytes = self.tree.read(path).map_err(|error| self.failed(path, &error))?;
        // A file that is no longer text is handled by the next scan.
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure> {
        let Some(memory) = self.memories.get(path) else {
            return Ok(None);
        };
        let call = self
            .service
            .of_vault(Method::GET, &["memories", memory.as_str(), "context"])?;
        let Some(answer) = found(call.accept("text/plain").send().await)? else {
            return Ok(None);
        };
        let tag = answer.etag().and_then(|tag| tag.to_str().ok());
        let version = tag.and_then(|tag| tag.strip_prefix('"')?.strip_suffix('"'));
        let version = version.ok_or_else(|| Failure::failed("the service's answer has no entity tag"))?;
        Ok(Some((version.to_owned(), answer.text()?.to_owned())))
    }

    async fn send(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Sent, Failure> {
        let call = self
            .service
            .of_vault(Method::PUT, &FILES)?
            .query("root", &self.state.root)
            .query("path", &Self::there(path))
            .text(text.as_bytes().to_vec());
        let call = match expected {
            Some(version) => call.if_match(Some(version))?,
            None => call.header("if-none-match", "*")?,
        };
        let answer = call.exchange().await?;
        match answer.status {
            412 => return Ok(Sent::Moved),
            // These are caused by the file; others can continue.
            409 | 413 | 422 => {
                let failure = answer.into_success("").err();
                let why =
                    failure.map_or_else(|| "the service rejects it".to_owned(), |failure| failure.sentence);
                return Ok(Sent::Refused(why));
            }
            _ => {}
        }
        let written: PutResult = answer.into_success(&format!("file {path}"))?.json()?;
        Ok(Sent::Version(written.context_id))
    }

    async fn unlink(&mut self, path: &str, version: &str) -> Result<bool, Failure> {
        let call = self
            .service
            .of_vault(Method::DELETE, &FILES)?
            .query("root", &self.state.root)
            .query("path", &Self::there(path))
            .if_match(Some(version))?;
        let answer = call.exchange().await?;
        if matches!(answer.status, 404 | 412) {
            return Ok(false);
        }
        answer.into_success(&format!("file {path}")).map(|_| true)
    }

    async fn write(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Placed, Failure> {
        let done = match expected {
            Some(expected) => swap::replace(self.tree, path, text.as_bytes(), expected),
            None => swap::create(self.tree, path, text.as_bytes()),
        };
        self.placed(path, done)
    }

    async fn remove(&mut self, path: &str, expected: &str) -> Result<Placed, Failure> {
        self.placed(path, swap::remove(self.tree, path, expected))
    }

    async fn keep(&mut self, path: &str, text: &str) -> Result<String, Failure> {
        swap::keep(self.tree, path, text.as_bytes()).map_err(|error| self.failed(path, &error))
    }

    async fn save(&mut self, bases: &BTreeMap<String, Base>) -> Result<(), Failure> {
        self.state.files.clone_from(bases);
        self.state
            .write(self.lock)
            .map_err(|error| self.failed(NAME, &error))
    }
}
