//! The two sides of a sync: a folder on this machine, and a root of a running service.

use super::scan::{ROOT, ScanResult, is_wanted, path_in_folder};
use crate::cli::client::{Call, Failure, Method, Service, all, found};
use crate::cli::folder::disk::Disk;
use crate::cli::folder::disk::hash;
use crate::cli::folder::engine::{Bases, Sent, Sides};
use crate::cli::folder::plan::Local;
use crate::cli::folder::swap::conflict_paths;
use crate::domain::ids::{RootName, VaultId};
use crate::http::responses::{FileBody, PutFileBody};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The route below the vault.
const FILES: [&str; 2] = ["memory-tool", "files"];

/// The name of the state file.
pub(super) const NAME: &str = ".working-memory-sync.json";

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The stored state of a folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    /// The vault that the folder is synchronised with.
    pub(super) vault: String,
    /// The root in it.
    pub(super) root: String,
    /// By path below the folder, the base of each file.
    pub(super) files: Bases,
}

impl State {
    /// For a folder that was never synchronised.
    pub(super) fn new(vault: &VaultId, root: &RootName) -> Self {
        Self {
            format: FORMAT,
            vault: vault.to_string(),
            root: root.to_string(),
            files: Bases::new(),
        }
    }

    /// Reads the folder's file; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged. The state is not guessed: with a wrong base, deletions would look like new files.
    pub(super) fn read(disk: &Disk<'_>) -> Result<Option<Self>, Failure> {
        let why = match disk.state::<Self>(NAME) {
            Ok(Some(state)) if state.format != FORMAT => format!("format {} is not supported", state.format),
            Ok(state) => return Ok(state),
            Err(error) => error.to_string(),
        };
        Err(Failure::failed(format!(
            "{NAME} is damaged ({why}); remove it to begin anew: then files that differ are kept twice, and deletions that \
             were not carried over come back"
        )))
    }
}

/// Both sides.
pub(super) struct Root<'r> {
    service: &'r Service,
    disk: Disk<'r>,
    state: State,
    /// Whether files of all kinds are synchronised.
    all: bool,
    /// The memory of each file of the service.
    memories: BTreeMap<String, String>,
    /// What the last scan skipped in the folder and on the service, and why.
    pub(super) skipped: BTreeMap<String, String>,
}

impl<'r> Root<'r> {
    pub(super) fn new(service: &'r Service, disk: Disk<'r>, state: State, all: bool) -> Self {
        Self {
            service,
            disk,
            state,
            all,
            memories: BTreeMap::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// A request about a file.
    fn file(&self, method: Method, path: &str) -> Result<Call<'_>, Failure> {
        let call = self.service.of_vault(method, &FILES)?;
        let call = call.query("root", &self.state.root);
        Ok(call.query("path", format!("{ROOT}{path}")))
    }
}

impl Sides for Root<'_> {
    const FOLLOWS: bool = false;

    fn disk(&self) -> &Disk<'_> {
        &self.disk
    }

    async fn local(&mut self, bases: &Bases) -> Result<BTreeMap<String, Local>, Failure> {
        let found = ScanResult::of(&self.disk.tree, self.all);
        let found = found.map_err(|error| self.disk.failed("", &error))?;
        self.skipped = found.skipped;
        let mut files = found.files;
        // A file behind a symbolic link does not count as deleted.
        for path in bases.keys() {
            if found.links.iter().any(|link| path.starts_with(link)) {
                files.insert(path.clone(), Local::Unusable);
            }
        }
        Ok(files)
    }

    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let list = || {
            let call = self.service.of_vault(Method::GET, &FILES)?;
            Ok(call.query("root", &self.state.root))
        };
        let entries: Vec<FileBody> = all(list).await?;
        let mut versions = BTreeMap::new();
        self.memories.clear();
        for entry in entries {
            match path_in_folder(&entry.path) {
                Ok(path) if is_wanted(&path, self.all) => {
                    self.memories.insert(path.clone(), entry.memory_id);
                    versions.insert(path, entry.context_id);
                }
                Ok(_) => {}
                Err(why) => drop(self.skipped.insert(entry.path, why)),
            }
        }
        Ok(versions)
    }

    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure> {
        let Some(memory) = self.memories.get(path) else {
            return Ok(None);
        };
        let call = self
            .service
            .of_vault(Method::GET, &["memories", memory, "context"])?;
        let Some(answer) = found(call.accept("text/plain").send().await)? else {
            return Ok(None);
        };
        let version = answer.version()?.trim_matches('"').to_owned();
        Ok(Some((version, answer.text()?.to_owned())))
    }

    async fn send(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Sent, Failure> {
        let call = self.file(Method::PUT, path)?.text(text.as_bytes().to_vec());
        let answer = call.on_version(expected)?.exchange().await?;
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
        let written: PutFileBody = answer.into_success(&format!("file {path}"))?.json()?;
        Ok(Sent::Version(written.file.context_id))
    }

    async fn unlink(&mut self, path: &str, version: &str) -> Result<bool, Failure> {
        let call = self.file(Method::DELETE, path)?;
        let answer = call.if_match(Some(version))?.exchange().await?;
        if matches!(answer.status, 404 | 412) {
            return Ok(false);
        }
        answer.into_success(&format!("file {path}")).map(|_| true)
    }

    async fn keep(&mut self, path: &str, text: &[u8]) -> Result<String, Failure> {
        self.disk.keep(conflict_paths(path, &hash(text)), path, text)
    }

    async fn save(&mut self, bases: &Bases) -> Result<(), Failure> {
        self.state.files.clone_from(bases);
        self.disk.save(NAME, &self.state)
    }
}
