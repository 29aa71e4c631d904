//! Keeps a folder equal to another side: scans both, plans a step for each path, executes the steps, in rounds.
//!
//! Three states of a path are known: the last state that was equal on both sides (the base, stored beside the
//! files), the current file in the folder, and the current version on the service. They determine one step. A step that
//! finds another state than planned does nothing and is planned again in the next round. The bases are saved after each
//! round; a step whose result was not saved leads to the same result when it is planned again: if both sides have
//! changed they are compared, and equal content becomes the base. So a text that the other side has not seen is never
//! overwritten, whenever the program stops.
//!
//! | base | folder | service | step |
//! |---|---|---|---|
//! | – | – | there | [`Step::Pull`] |
//! | – | there | – | [`Step::Push`] as new |
//! | – | there | there | [`Step::Compare`] |
//! | there | – | – | [`Step::Forget`] |
//! | there | – | as it was | [`Step::Unlink`] |
//! | there | – | changed | [`Step::Pull`]: a change outlives a deletion |
//! | there | as it was | – | [`Step::Remove`] |
//! | there | changed | – | [`Step::Push`] as new, likewise |
//! | there | as it was | as it was | [`Step::Nothing`] |
//! | there | changed | as it was | [`Step::Push`] |
//! | there | as it was | changed | [`Step::Pull`] |
//! | there | changed | changed | [`Step::Compare`] |
//!
//! Files in the folder that cannot be read as text are skipped: nothing is done at their paths.

use super::hash;
use super::swap::Placed;
use crate::cli::client::{Exit, Failure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of rounds of one sync; more are needed only if others keep writing.
const MAX_ROUNDS: usize = 20;

/// Number of deletions that is always allowed.
const FEW_DELETIONS: usize = 3;

/// The last state of a file that was equal on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Base {
    /// The version on the service: its context id.
    pub(in crate::cli) version: String,
    /// The SHA-256 of its text.
    pub(in crate::cli) sha256: String,
}

/// The state of a path in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Local {
    /// A text with this SHA-256.
    Text(String),
    /// Something else, which is not touched.
    Unusable,
}

/// The step for a path. Each is done only if both sides are still as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Both sides are unchanged.
    Nothing,
    /// Send the folder's text.
    Push,
    /// Fetch the service's text.
    Pull,
    /// Fetch the service's text: if it equals the folder's text nothing is done, otherwise both are kept.
    Compare,
    /// Delete the file on the service.
    Unlink,
    /// Delete the file in the folder.
    Remove,
    /// The file was deleted on both sides: forget its base.
    Forget,
}

/// Plans the step for a path, from the base, the folder and the service's version.
fn plan(base: Option<&Base>, local: Option<&Local>, remote: Option<&str>) -> Step {
    let local = match local {
        Some(Local::Unusable) => return Step::Nothing,
        Some(Local::Text(hash)) => Some(hash),
        None => None,
    };
    match (base, local, remote) {
        (None, None, None) => Step::Nothing,
        (None, None, Some(_)) => Step::Pull,
        (None, Some(_), None) => Step::Push,
        (None, Some(_), Some(_)) => Step::Compare,
        (Some(_), None, None) => Step::Forget,
        (Some(base), None, Some(remote)) if remote == base.version => Step::Unlink,
        (Some(_), None, Some(_)) => Step::Pull,
        (Some(base), Some(local), None) if *local == base.sha256 => Step::Remove,
        (Some(_), Some(_), None) => Step::Push,
        (Some(base), Some(local), Some(remote)) => match (*local == base.sha256, remote == base.version) {
            (true, true) => Step::Nothing,
            (false, true) => Step::Push,
            (true, false) => Step::Pull,
            (false, false) => Step::Compare,
        },
    }
}

/// Whether so many of the known files are to be deleted that it looks like a mistake, such as a folder that
/// is not mounted or a wrong service address.
fn deletes_too_much(deletions: usize, known: usize) -> bool {
    deletions > FEW_DELETIONS && deletions * 2 > known
}

/// The result of sending a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Sent {
    /// The service has it as this version.
    Version(String),
    /// The service has another version than was expected; nothing was changed.
    Moved,
    /// The service rejects it.
    Refused(String),
}

/// By path, what was last equal on both sides.
pub(in crate::cli) type Bases = BTreeMap<String, Base>;

/// The operations of both sides. None of them overwrites an unexpected state, in the folder or on the service.
pub(in crate::cli) trait Sides {
    /// The files of the folder, by path.
    async fn local(&mut self, bases: &Bases) -> Result<BTreeMap<String, Local>, Failure>;
    /// The versions on the service, by path.
    async fn remote(&mut self) -> Result<BTreeMap<String, String>, Failure>;
    /// A file of the folder; `None` if it was deleted.
    async fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, Failure>;
    /// The newest version and text of a file of the service; `None` if it was deleted.
    async fn fetch(&mut self, path: &str) -> Result<Option<(String, String)>, Failure>;
    /// Sends a text that replaces this version, or nothing.
    async fn send(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Sent, Failure>;
    /// Removes a file with this version from the service; false if it has another one.
    async fn unlink(&mut self, path: &str, version: &str) -> Result<bool, Failure>;
    /// Writes a file of the folder in place of a text with this hash, or of nothing.
    async fn write(&mut self, path: &str, text: &str, expected: Option<&str>) -> Result<Placed, Failure>;
    /// Removes a file of the folder that has a text with this hash.
    async fn remove(&mut self, path: &str, expected: &str) -> Result<Placed, Failure>;
    /// Saves a copy of a text beside its file in the folder; returns the path of the copy.
    async fn keep(&mut self, path: &str, text: &[u8]) -> Result<String, Failure>;
    /// Saves what both sides have.
    async fn save(&mut self, bases: &Bases) -> Result<(), Failure>;
}

/// What a sync did.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Report {
    /// Sent to the service.
    pub(in crate::cli) sent: BTreeSet<String>,
    /// Written into the folder.
    pub(in crate::cli) received: BTreeSet<String>,
    /// Removed from the service's tree.
    pub(in crate::cli) unlinked: BTreeSet<String>,
    /// Removed from the folder.
    pub(in crate::cli) removed: BTreeSet<String>,
    /// Files that both sides had changed, and the path of the copy of the folder's text.
    pub(in crate::cli) conflicts: BTreeMap<String, String>,
    /// Files that the service rejected, and why; the sides add those that they skip.
    pub(in crate::cli) skipped: BTreeMap<String, String>,
}

impl Report {
    /// Whether anything was changed.
    pub(in crate::cli) fn is_quiet(&self) -> bool {
        let changes = [&self.sent, &self.received, &self.unlinked, &self.removed];
        changes.iter().all(|paths| paths.is_empty()) && self.conflicts.is_empty()
    }
}

/// Two sides, and what is known of them.
pub(in crate::cli) struct Engine<'s, S> {
    pub(in crate::cli) sides: &'s mut S,
    pub(in crate::cli) bases: Bases,
    /// Texts that the service rejected, by path: they are not sent again.
    refused: BTreeMap<String, (String, String)>,
    report: Report,
    /// Whether the bases have changed since they were saved.
    is_unsaved: bool,
}

impl<'s, S: Sides> Engine<'s, S> {
    pub(in crate::cli) fn new(sides: &'s mut S, bases: Bases) -> Self {
        Self {
            sides,
            bases,
            refused: BTreeMap::new(),
            report: Report::default(),
            is_unsaved: false,
        }
    }

    /// Makes both sides equal. With `deletions`, the number of deletions is not limited.
    ///
    /// # Errors
    /// One of the sides cannot be read or written; completed steps stay. Or nothing was done, since too many files
    /// would be deleted.
    pub(in crate::cli) async fn run(&mut self, deletions: bool) -> Result<Report, Failure> {
        self.report = Report::default();
        for _ in 0..MAX_ROUNDS {
            let round = self.round(deletions).await;
            if std::mem::take(&mut self.is_unsaved) {
                self.sides.save(&self.bases).await?;
            }
            if !round? {
                return Ok(std::mem::take(&mut self.report));
            }
        }
        Err(Failure::new(
            Exit::Busy,
            "the files change faster than they can be synchronised; nothing is lost, try again later",
        ))
    }

    /// One scan and its steps. Returns whether there may be more to do.
    async fn round(&mut self, deletions: bool) -> Result<bool, Failure> {
        let local = self.sides.local(&self.bases).await?;
        let remote = self.sides.remote().await?;
        let known = self.bases.keys().chain(local.keys()).chain(remote.keys());
        let paths: BTreeSet<&String> = known.collect();
        let steps = paths.into_iter().map(|path| {
            let remote = remote.get(path).map(String::as_str);
            (path.clone(), plan(self.bases.get(path), local.get(path), remote))
        });
        let steps: Vec<(String, Step)> = steps.filter(|(_, step)| *step != Step::Nothing).collect();
        let count = |wanted: Step| steps.iter().filter(|(_, step)| *step == wanted).count();
        let (here, there) = (count(Step::Remove), count(Step::Unlink));
        if !deletions && deletes_too_much(here + there, self.bases.len()) {
            return Err(Failure::new(
                Exit::Refused,
                format!(
                    "nothing was done: {here} files would be removed from the folder and {there} taken out of the service's \
                     tree, which is more than half of what both have; if that is meant, say --allow-deletions"
                ),
            ));
        }
        let mut is_more = false;
        for (path, step) in steps {
            let found = match local.get(&path) {
                Some(Local::Text(sha256)) => Some(sha256.as_str()),
                _ => None,
            };
            let version = remote.get(&path).map(String::as_str);
            is_more |= self.step(&path, step, found, version).await?;
        }
        Ok(is_more)
    }

    /// Executes a step on the text with this hash in the folder and this version on the service; returns whether another scan
    /// is needed.
    async fn step(
        &mut self,
        path: &str,
        step: Step,
        local: Option<&str>,
        version: Option<&str>,
    ) -> Result<bool, Failure> {
        match step {
            Step::Nothing => Ok(false),
            Step::Forget => {
                self.forget(path);
                Ok(false)
            }
            Step::Push => self.push(path, version).await,
            Step::Pull => {
                let Some((version, text)) = self.sides.fetch(path).await? else {
                    return Ok(true);
                };
                let placed = self.sides.write(path, &text, local).await?;
                if placed == Placed::Done {
                    self.report.received.insert(path.to_owned());
                    self.note(path, version, &text);
                }
                Ok(placed != Placed::Blocked)
            }
            Step::Compare => self.compare(path, local.unwrap_or_default()).await,
            Step::Unlink => {
                if self.sides.unlink(path, version.unwrap_or_default()).await? {
                    self.report.unlinked.insert(path.to_owned());
                    self.forget(path);
                }
                Ok(true)
            }
            Step::Remove => {
                let placed = self.sides.remove(path, local.unwrap_or_default()).await?;
                if placed == Placed::Done {
                    self.report.removed.insert(path.to_owned());
                    self.forget(path);
                }
                Ok(placed != Placed::Blocked)
            }
        }
    }

    async fn push(&mut self, path: &str, expected: Option<&str>) -> Result<bool, Failure> {
        // A file that is gone, or is no longer text, is handled by the next scan.
        let text = self.sides.read(path).await?;
        let Some(text) = text.and_then(|text| String::from_utf8(text).ok()) else {
            return Ok(true);
        };
        let sha256 = hash(text.as_bytes());
        if let Some((refused, why)) = self.refused.get(path)
            && *refused == sha256
        {
            self.report.skipped.insert(path.to_owned(), why.clone());
            return Ok(false);
        }
        match self.sides.send(path, &text, expected).await? {
            Sent::Version(version) => {
                self.report.sent.insert(path.to_owned());
                self.report.skipped.remove(path);
                self.note(path, version, &text);
                Ok(true)
            }
            Sent::Moved => Ok(true),
            Sent::Refused(why) => {
                self.report.skipped.insert(path.to_owned(), why.clone());
                self.refused.insert(path.to_owned(), (sha256, why));
                Ok(false)
            }
        }
    }

    /// Both sides have changed: if the texts differ, the folder's text is copied beside its file before it is replaced.
    async fn compare(&mut self, path: &str, local: &str) -> Result<bool, Failure> {
        let Some((version, theirs)) = self.sides.fetch(path).await? else {
            return Ok(true);
        };
        if hash(theirs.as_bytes()) == local {
            self.note(path, version, &theirs);
            return Ok(false);
        }
        let Some(ours) = self.sides.read(path).await? else {
            return Ok(true);
        };
        if hash(&ours) != local {
            return Ok(true);
        }
        let copy = self.sides.keep(path, &ours).await?;
        let placed = self.sides.write(path, &theirs, Some(local)).await?;
        if placed == Placed::Done {
            self.report.conflicts.insert(path.to_owned(), copy);
            self.note(path, version, &theirs);
        }
        Ok(placed != Placed::Blocked)
    }

    fn note(&mut self, path: &str, version: String, text: &str) {
        let sha256 = hash(text.as_bytes());
        self.bases.insert(path.to_owned(), Base { version, sha256 });
        self.is_unsaved = true;
    }

    fn forget(&mut self, path: &str) {
        self.bases.remove(path);
        self.is_unsaved = true;
    }
}

#[cfg(test)]
mod tests;
