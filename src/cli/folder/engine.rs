//! Keeps a folder equal to another side: scans both, plans, executes, in rounds.
//!
//! A step that finds another state than planned does nothing and is planned again in the next round. The bases are
//! saved after each round; the results of steps that were not saved are found by comparing ([`plan`](super::plan)).

use super::hash;
use super::plan::{Base, Local, Step, deletes_too_much, plan};
use super::swap::Placed;
use crate::cli::client::{Exit, Failure};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of rounds of one sync; more are needed only if others keep writing.
const MAX_ROUNDS: usize = 20;

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
    /// Files that were skipped, and why.
    pub(in crate::cli) skipped: BTreeMap<String, String>,
}

impl Report {
    /// Whether anything was changed.
    pub(in crate::cli) fn is_quiet(&self) -> bool {
        self.sent.is_empty()
            && self.received.is_empty()
            && self.unlinked.is_empty()
            && self.removed.is_empty()
            && self.conflicts.is_empty()
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
                Ok(self.is_more_behind(path, placed))
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
                Ok(self.is_more_behind(path, placed))
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
        Ok(self.is_more_behind(path, placed))
    }

    /// Whether to scan again after a change of the folder; a change that is not possible is reported and skipped.
    fn is_more_behind(&mut self, path: &str, placed: Placed) -> bool {
        match placed {
            Placed::Done | Placed::Changed => true,
            Placed::Blocked(why) => {
                self.report.skipped.insert(path.to_owned(), why);
                false
            }
        }
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
