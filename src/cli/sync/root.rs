//! Makes a folder and its root on the service equal: scans both, plans a step for each path and executes the steps, in rounds,
//! until there is nothing to do.
//!
//! Three states of a path are known: the last state that was equal on both sides (the base, stored beside the
//! files), the current file in the folder, and the current version on the service. A side has changed if it is not as the
//! base says, and that determines the step. A step that finds another state than planned does nothing and is planned again
//! in the next round. The bases are saved every few steps; a step whose result was not saved leads to the same result when it
//! is planned again: equal content becomes the base. Only a text that is edited before that looks like a conflict. A text that
//! the other side has not seen is never overwritten, whenever the program stops.
//!
//! | folder | service | step |
//! |---|---|---|
//! | changed, or new | as it was | [`Step::Push`] |
//! | deleted | as it was | [`Step::Unlink`] |
//! | as it was, changed, or deleted | changed, or new | [`Step::Pull`]: a change outlives a deletion, and a text that the service never had, or has no more, is kept as a copy |
//! | as it was | deleted | [`Step::Remove`] |
//! | changed | deleted | [`Step::Push`] as new: a change outlives a deletion |
//! | deleted | deleted | [`Step::Forget`] |
//!
//! Nothing is done at paths that are skipped: what cannot be read as text, and what one of the sides refused.

use super::scan::{ROOT, ScanResult, is_wanted, path_in_folder};
use super::{NAME, State};
use crate::cli::client::{Call, Exit, Failure, Method, Service, ServiceResponse, all, found};
use crate::cli::folder::hash;
use crate::cli::folder::swap::{self, conflict_path};
use crate::cli::folder::tree::Tree;
use crate::domain::ids::{ContextId, MemoryId};
use crate::http::responses::PutFileBody;
use crate::storage::memories::paths::StoredFile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};

/// The maximum number of rounds of one sync; more are needed only if others keep writing.
const MAX_ROUNDS: usize = 20;

/// The most changes of the state that wait to be saved.
const MAX_UNSAVED: usize = 8;

/// Number of deletions that is always allowed.
const FEW_DELETIONS: usize = 3;

/// The route below the vault.
const FILES: [&str; 2] = ["memory-tool", "files"];

/// The last state of a file that was equal on both sides.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Base {
    /// The memory that it is on the service. Format 1 did not note it.
    #[serde(default)]
    memory_id: Option<MemoryId>,
    /// That memory's version.
    version: ContextId,
    /// The SHA-256 of its text.
    pub(super) sha256: String,
}

/// The step for a path, with the hash of the folder's text and the service's file that it is for. Each is done only if both
/// sides are still as they were found.
enum Step<'f> {
    /// Send the folder's text in place of this file, or of nothing.
    Push(Option<&'f StoredFile>),
    /// Fetch the service's text in place of this one, or of nothing.
    Pull(Option<&'f str>, &'f StoredFile),
    /// Delete the file on the service.
    Unlink(&'f StoredFile),
    /// Delete the file in the folder.
    Remove(&'f str),
    /// The file was deleted on both sides: forget its base.
    Forget,
}

/// Plans the step for a path, from the base, the folder and the service; `None` if there is nothing to do.
fn plan<'f>(base: Option<&Base>, local: Option<&'f str>, remote: Option<&'f StoredFile>) -> Option<Step<'f>> {
    let has_changed_here = local != base.map(|base| base.sha256.as_str());
    let has_changed_there = remote.map(|file| &file.context_id) != base.map(|base| &base.version);
    Some(match (has_changed_here, has_changed_there, local, remote) {
        (false, false, ..) => return None,
        (_, _, None, None) => Step::Forget,
        (_, true, local, Some(remote)) => Step::Pull(local, remote),
        (false, true, Some(local), None) => Step::Remove(local),
        (true, false, None, Some(remote)) => Step::Unlink(remote),
        (true, _, Some(_), remote) => Step::Push(remote),
    })
}

/// Whether so many of the known files are to be deleted that it looks like a mistake, such as a folder that
/// is not mounted or a wrong service address.
fn deletes_too_much(deletions: usize, known: usize) -> bool {
    deletions > FEW_DELETIONS && deletions * 2 > known
}

/// What a sync did.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Sent to the service.
    pub(super) sent: BTreeSet<String>,
    /// Written into the folder.
    pub(super) received: BTreeSet<String>,
    /// Removed from the service's tree.
    pub(super) unlinked: BTreeSet<String>,
    /// Removed from the folder.
    pub(super) removed: BTreeSet<String>,
    /// Files that both sides had changed, or that were made anew there, and the path of the copy of the folder's text.
    pub(super) conflicts: BTreeMap<String, String>,
    /// What was skipped in the folder and on the service, and why.
    pub(super) skipped: BTreeMap<String, String>,
    /// How many of these may not be written on the service.
    #[serde(skip)]
    pub(super) forbidden: usize,
}

impl Report {
    /// Whether anything was changed.
    pub(super) fn is_quiet(&self) -> bool {
        let changes = [&self.sent, &self.received, &self.unlinked, &self.removed];
        changes.iter().all(|paths| paths.is_empty()) && self.conflicts.is_empty()
    }
}

/// A folder, the root that it is synchronised with, and what both had last. No operation on either of them overwrites an
/// unexpected state.
pub(super) struct Root<'r> {
    service: &'r Service,
    tree: Tree,
    state: State,
    /// Whether the folder has no state file yet.
    is_new: bool,
    /// Whether files of all kinds are synchronised.
    all: bool,
    /// Texts that the service rejected as such, by path: they are not sent again.
    refused: BTreeMap<String, (String, String)>,
    /// What the last sync did, also if it failed or was dropped.
    pub(super) report: Report,
    /// The number of changes of the state that are not in the folder's file.
    unsaved: usize,
}

impl<'r> Root<'r> {
    pub(super) fn new(service: &'r Service, tree: Tree, (state, is_new): (State, bool), all: bool) -> Self {
        Self {
            service,
            tree,
            state,
            is_new,
            all,
            refused: BTreeMap::new(),
            report: Report::default(),
            unsaved: 0,
        }
    }

    /// Makes both sides equal. With `deletions`, the number of deletions is not limited.
    ///
    /// # Errors
    /// One of the sides cannot be read or written; completed steps stay, and are in the report. Or nothing was done, since too many files
    /// would be deleted.
    pub(super) async fn sync(&mut self, deletions: bool) -> Result<(), Failure> {
        self.report = Report::default();
        for _ in 0..MAX_ROUNDS {
            if !self.round(deletions).await? {
                return Ok(());
            }
        }
        Err(Failure::new(
            Exit::Busy,
            "the files change faster than they can be synchronised; nothing is lost, try again later",
        ))
    }

    /// One scan and its steps. Returns whether there may be more to do.
    async fn round(&mut self, deletions: bool) -> Result<bool, Failure> {
        let local = self.local()?;
        let remote = self.remote().await?;
        self.is_in_place()?;
        // A new folder's root is saved also if there are no files yet: the service has answered.
        self.unsaved += usize::from(std::mem::take(&mut self.is_new));
        // A file that this sync does not look at keeps its base.
        let bases = self.state.files.keys().filter(|path| is_wanted(path, self.all));
        let bases: Vec<&String> = bases.collect();
        let known = bases.iter().copied().chain(local.keys()).chain(remote.keys());
        let paths: BTreeSet<&String> = known
            .filter(|path| !self.report.skipped.contains_key(*path))
            .collect();
        let steps = paths.into_iter().filter_map(|path| {
            let local = local.get(path).map(String::as_str);
            let step = plan(self.state.files.get(path), local, remote.get(path))?;
            Some((path.clone(), step))
        });
        let steps: Vec<(String, Step<'_>)> = steps.collect();
        let count = |is_meant: fn(&Step<'_>) -> bool| steps.iter().filter(|(_, step)| is_meant(step)).count();
        let here = count(|step| matches!(step, Step::Remove(_)));
        let there = count(|step| matches!(step, Step::Unlink(_)));
        if !deletions && deletes_too_much(here + there, bases.len()) {
            return Err(Failure::new(
                Exit::Refused,
                format!(
                    "nothing was done: {here} files would be removed from the folder and {there} taken out of the service's \
                     tree, which is more than half of what both have; if that is meant, say --allow-deletions"
                ),
            ));
        }
        let mut done = Ok(());
        for (path, step) in &steps {
            done = self.step(path, step).await.and_then(|()| self.save(MAX_UNSAVED));
            if done.is_err() {
                break;
            }
        }
        self.save(1)?;
        // What is skipped now is not tried again.
        let mut tried = steps.iter().map(|(path, _)| path);
        done.map(|()| tried.any(|path| !self.report.skipped.contains_key(path)))
    }

    /// Saves the state if at least so many changes of it are not saved yet.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn save(&mut self, changes: usize) -> Result<(), Failure> {
        if self.unsaved >= changes {
            self.tree.save(NAME, &self.state)?;
            self.unsaved = 0;
        }
        Ok(())
    }

    /// Ok if the folder is still at its path: of one that was removed since, all files would count as deleted.
    fn is_in_place(&self) -> Result<(), Failure> {
        match self.tree.is_in_place() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::new(
                Exit::Refused,
                format!("{} was moved, removed or replaced", self.tree.shown.display()),
            )),
            Err(error) => Err(self.tree.failed("", &error)),
        }
    }

    /// The hashes of the folder's texts, by path.
    fn local(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let found = ScanResult::of(&self.tree, self.all, &self.state.files)?;
        let skipped = &mut self.report.skipped;
        skipped.extend(found.skipped);
        let missing = self.state.files.keys();
        for path in missing.filter(|path| !found.files.contains_key(*path)) {
            match self.tree.read(path) {
                // Below what is a file by now there is none.
                Err(error) if error.kind() == ErrorKind::NotADirectory => {}
                // A file behind a symbolic link, or in a folder that may not be read, does not count as deleted.
                Err(error) => {
                    skipped.entry(path.clone()).or_insert_with(|| error.to_string());
                }
                Ok(_) => {}
            }
        }
        Ok(found.files)
    }

    /// The files of the service, by path.
    async fn remote(&mut self) -> Result<BTreeMap<String, StoredFile>, Failure> {
        let list = || {
            let call = self.service.of_vault(Method::GET, &FILES)?;
            Ok(call.query("root", &self.state.root))
        };
        let entries: Vec<StoredFile> = all(list).await?;
        let mut files = BTreeMap::new();
        for entry in entries {
            match path_in_folder(entry.path.as_str()) {
                Ok(path) if is_wanted(path, self.all) => drop(files.insert(path.to_owned(), entry)),
                Ok(_) => {}
                Err(why) => drop(self.report.skipped.insert(entry.path.to_string(), why)),
            }
        }
        for (path, base) in &mut self.state.files {
            let same = files.get(path).filter(|file| file.context_id == base.version);
            if let (None, Some(file)) = (&base.memory_id, same) {
                base.memory_id = Some(file.memory_id.clone());
                self.unsaved += 1;
            }
        }
        Ok(files)
    }

    async fn step(&mut self, path: &str, step: &Step<'_>) -> Result<(), Failure> {
        match step {
            Step::Push(remote) => self.push(path, *remote).await,
            Step::Pull(local, remote) => self.pull(path, *local, remote).await,
            Step::Unlink(remote) => self.unlink(path, remote).await,
            Step::Remove(local) => self.remove(path, local).await,
            Step::Forget => {
                self.forget(path);
                Ok(())
            }
        }
    }

    /// Sends the folder's text in place of the service's file, or of nothing.
    async fn push(&mut self, path: &str, remote: Option<&StoredFile>) -> Result<(), Failure> {
        // A file that is gone, or is no longer text, is handled by the next scan.
        let bytes = self.tree.read(path).ok().flatten();
        let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(());
        };
        let sha256 = hash(text.as_bytes());
        if let Some((refused, why)) = self.refused.get(path)
            && *refused == sha256
        {
            self.report.skipped.insert(path.to_owned(), why.clone());
            return Ok(());
        }
        let call = self.file(Method::PUT, path)?.text(text.into_bytes());
        let expected = remote.map(|file| file.context_id.as_str());
        let answer = call.on_version(expected)?.exchange().await?;
        // Another version than expected: the next scan finds it.
        if answer.status == 412 {
            return Ok(());
        }
        // What is in the way of a path can go, as can a limit; a text stays what it is.
        let is_of_text = matches!(answer.status, 413 | 422);
        if let Some(answer) = self.accepted(path, answer)? {
            let PutFileBody { file, .. } = answer.json()?;
            self.report.sent.insert(path.to_owned());
            self.note(path, file.memory_id, file.context_id, sha256);
        } else if let Some(why) = self.report.skipped.get(path).filter(|_| is_of_text) {
            self.refused.insert(path.to_owned(), (sha256, why.clone()));
        }
        Ok(())
    }

    /// The answer to a change of a file. `None` if it was refused for a reason that is the file's: it is skipped.
    fn accepted(&mut self, path: &str, answer: ServiceResponse) -> Result<Option<ServiceResponse>, Failure> {
        let status = answer.status;
        match answer.into_success(&format!("file {path}")) {
            Err(failure) if matches!(status, 403 | 409 | 413 | 422 | 507) => {
                self.report.skipped.insert(path.to_owned(), failure.sentence);
                self.report.forbidden += usize::from(status == 403);
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    /// Writes the service's text in place of the folder's text with this hash, or of nothing. If that text is not the same, and
    /// has changed too or is not on the service any more, a copy of it is kept beside its file first.
    async fn pull(&mut self, path: &str, local: Option<&str>, remote: &StoredFile) -> Result<(), Failure> {
        let Some((version, text)) = self.fetch(remote).await? else {
            return Ok(());
        };
        let sha256 = hash(text.as_bytes());
        if local == Some(&*sha256) {
            self.note(path, remote.memory_id.clone(), version, sha256);
            return Ok(());
        }
        let base = self.state.files.get(path);
        let is_known = match base.filter(|base| Some(base.sha256.as_str()) == local) {
            None => false,
            // A later version of the memory was made from this text, also if retention has pruned it since.
            Some(Base {
                memory_id: Some(memory),
                version: old,
                ..
            }) if *memory == remote.memory_id && *old < version => true,
            Some(_) => self.has_text(path, Some(&remote.memory_id)).await?,
        };
        let mut copy = None;
        let done = match local {
            None => swap::create(&self.tree, path, text.as_bytes(), ""),
            Some(local) if is_known => swap::replace(&self.tree, path, text.as_bytes(), local),
            Some(local) => {
                let ours = self.tree.read(path).ok().flatten();
                let Some(ours) = ours.filter(|ours| hash(ours) == local) else {
                    return Ok(());
                };
                swap::keep(&self.tree, path, |end| conflict_path(path, local, end), &ours).and_then(|kept| {
                    copy = Some(kept);
                    swap::replace(&self.tree, path, text.as_bytes(), local)
                })
            }
        };
        if self.placed(path, done)? {
            match copy {
                Some(copy) => drop(self.report.conflicts.insert(path.to_owned(), copy)),
                None => drop(self.report.received.insert(path.to_owned())),
            }
            self.note(path, remote.memory_id.clone(), version, sha256);
        }
        Ok(())
    }

    /// Removes the file from the service, if it still has this version.
    async fn unlink(&mut self, path: &str, remote: &StoredFile) -> Result<(), Failure> {
        let call = self.file(Method::DELETE, path)?;
        let call = call.if_match(Some(remote.context_id.as_str()))?;
        let answer = call.exchange().await?;
        if !matches!(answer.status, 404 | 412) && self.accepted(path, answer)?.is_some() {
            self.report.unlinked.insert(path.to_owned());
            self.forget(path);
        }
        Ok(())
    }

    /// Removes the file from the folder, if it still has the text with this hash.
    async fn remove(&mut self, path: &str, expected: &str) -> Result<(), Failure> {
        if !self.has_text(path, None).await? {
            let why = format!(
                "the service has neither the file nor its text: the memory was deleted, or this is another service; delete the \
                 file here too, or send it again by removing {NAME}"
            );
            self.report.skipped.insert(path.to_owned(), why);
            return Ok(());
        }
        let done = swap::remove(&self.tree, path, expected);
        if self.placed(path, done)? {
            self.report.removed.insert(path.to_owned());
            self.forget(path);
        }
        Ok(())
    }

    fn note(&mut self, path: &str, memory_id: MemoryId, version: ContextId, sha256: String) {
        let base = Base {
            memory_id: Some(memory_id),
            version,
            sha256,
        };
        self.state.files.insert(path.to_owned(), base);
        self.unsaved += 1;
    }

    fn forget(&mut self, path: &str) {
        self.state.files.remove(path);
        self.unsaved += 1;
    }

    /// A request about a file.
    fn file(&self, method: Method, path: &str) -> Result<Call<'_>, Failure> {
        let call = self.service.of_vault(method, &FILES)?;
        let call = call.query("root", &self.state.root);
        Ok(call.query("path", format!("{ROOT}{path}")))
    }

    /// The newest version and text of a file of the service; `None` if its memory was deleted.
    async fn fetch(&self, file: &StoredFile) -> Result<Option<(ContextId, String)>, Failure> {
        let call = self
            .service
            .of_memory_named(&file.memory_id, Method::GET, &["context"])?;
        let Some(answer) = found(call.accept("text/plain").send().await)? else {
            return Ok(None);
        };
        let version = answer.version()?.trim_matches('"').parse();
        let version = version.map_err(|_| Failure::failed("the answer has no valid version"))?;
        Ok(Some((version, answer.text()?.to_owned())))
    }

    /// Whether the service has the text that a file had when both sides were equal. A file that is deleted there leaves its memory
    /// with all versions; a deleted memory, another service or a new database has none of them.
    /// `otherwise` is the memory of a file whose base names none.
    async fn has_text(&self, path: &str, otherwise: Option<&MemoryId>) -> Result<bool, Failure> {
        let base = self.state.files.get(path);
        let memory = base.and_then(|base| base.memory_id.as_ref()).or(otherwise);
        let (Some(base), Some(memory)) = (base, memory) else {
            return Ok(false);
        };
        let version = ["contexts", base.version.as_str()];
        let call = self.service.of_memory_named(memory, Method::GET, &version)?;
        let answer = call.exchange().await?;
        match answer.status {
            404 => Ok(false),
            // It was redacted: what is not to be read there is not to be read here.
            410 => Ok(true),
            _ => answer.into_success(&format!("file {path}")).map(|_| true),
        }
    }

    /// Whether a change was made. An error of a single file is reported and the other files continue; a full disk ends the work.
    fn placed(&mut self, path: &str, done: io::Result<bool>) -> Result<bool, Failure> {
        use ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        done.or_else(|error| match error.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem => Err(self.tree.failed(path, &error)),
            _ => {
                self.report.skipped.insert(path.to_owned(), error.to_string());
                Ok(false)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_deletions_at_once_look_like_a_mistake() {
        assert!(!deletes_too_much(3, 3));
        assert!(deletes_too_much(4, 7));
        assert!(!deletes_too_much(4, 8));
    }
}
