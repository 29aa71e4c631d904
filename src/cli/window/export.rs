//! `working-memory window export`: writes the folder, once or for as long as it runs.
//!
//! A list in the folder says which texts this command wrote, so that the text of somebody else is never lost.

use crate::cli::client::{Exit, Failure, Feed, FeedEvent, Output, Service, ServiceArgs, note};
use crate::cli::folder::state::{self, hash};
use crate::cli::folder::swap::{self, Placed};
use crate::cli::folder::tree::{Lock, Tree};
use crate::cli::folder::watch::{Backoff, until_stopped};
use crate::cli::handoff::Window as Length;
use crate::cli::window::folder::{EPICS, WEEKLY, render};
use crate::cli::window::memory::{Memory, rules};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// Arguments of `window export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep it up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the polling interval for changes without an event: rules, and everything if there is no event
    /// stream.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Export {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        if self.watch {
            return watch(
                &service,
                &self.folder,
                self.every.duration(),
                self.service.is_json(),
            )
            .await;
        }
        let memory = Memory::read(&service).await?;
        let changes = write(&self.folder, &render(&memory.folder))?;
        print_changes(&self.folder, memory.version, &changes, self.service.is_json())
    }
}

/// Everything is read again at this interval, also without events: a redaction makes no version.
const FULL_LOOK: Duration = Duration::from_secs(60);

/// Failures after which the folder is looked at again. A memory that is gone may be written again.
const MAY_PASS: [Exit; 4] = [Exit::NoService, Exit::Failed, Exit::Busy, Exit::NotFound];

/// What is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Everything.
    Whole,
    /// The rules, and everything if the window has changed.
    Window,
    /// Only the rules: the stream reports other changes.
    Rules,
}

/// Writes the folder, and again whenever the memory changes, until SIGINT or SIGTERM.
///
/// # Errors
/// The first time, no service answers, or there is no such memory; later, the service rejects permanently. An I/O error.
pub(super) async fn watch(
    service: &Service,
    folder: &Path,
    every: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    // Dropped at a signal; writing files has no await point at which that could happen.
    until_stopped(Watch::new(service, folder, every, as_json).run()).await
}

struct Watch<'w> {
    service: &'w Service,
    folder: &'w Path,
    backoff: Backoff,
    every: Duration,
    as_json: bool,
    memory: Option<Memory>,
    /// When everything was last read.
    looked: Instant,
    /// Whether the missing stream was reported.
    reported_unavailable: bool,
}

impl<'w> Watch<'w> {
    fn new(service: &'w Service, folder: &'w Path, every: Duration, as_json: bool) -> Self {
        Self {
            service,
            folder,
            backoff: Backoff::new(every),
            every,
            as_json,
            memory: None,
            looked: Instant::now(),
            reported_unavailable: false,
        }
    }

    async fn run(mut self) -> Result<(), Failure> {
        // A wrong setting is reported at once.
        let first = Memory::read(self.service).await?;
        self.write(first, true)?;
        let mut feed = Feed::of(self.service);
        loop {
            let wait = self.backoff.wait();
            let mut look = tokio::select! {
                event = feed.next() => match event {
                    FeedEvent::Opened => {
                        self.reported_unavailable = false;
                        Look::Whole
                    }
                    FeedEvent::Happened(_) => Look::Whole,
                    FeedEvent::Broken(failure) => {
                        self.report_unavailable(&failure);
                        continue;
                    }
                },
                () = tokio::time::sleep(wait) => if feed.is_open() { Look::Rules } else { Look::Window },
            };
            if self.looked.elapsed() >= FULL_LOOK || self.backoff.is_failing() {
                look = Look::Whole;
            }
            match self.look(look).await {
                Ok(Some(memory)) => {
                    self.backoff.succeeded();
                    self.write(memory, false)?;
                }
                Ok(None) => self.backoff.succeeded(),
                Err(failure) => self.backoff.failed(failure, &MAY_PASS)?,
            }
        }
    }

    /// The memory, if it may have changed since the last write.
    async fn look(&mut self, look: Look) -> Result<Option<Memory>, Failure> {
        if let Some(memory) = self.memory.as_ref().filter(|_| look != Look::Whole) {
            let is_current = memory.folder.rules == rules(self.service).await?
                && (look == Look::Rules || !memory.has_changed(self.service).await?);
            if is_current {
                return Ok(None);
            }
        }
        let memory = Memory::read(self.service).await?;
        self.looked = Instant::now();
        Ok(Some(memory))
    }

    fn write(&mut self, memory: Memory, is_first: bool) -> Result<(), Failure> {
        let changes = write(self.folder, &render(&memory.folder))?;
        if is_first || !changes.written.is_empty() || !changes.removed.is_empty() {
            print_changes(self.folder, memory.version, &changes, self.as_json)?;
        }
        self.memory = Some(memory);
        Ok(())
    }

    fn report_unavailable(&mut self, failure: &Failure) {
        if !self.reported_unavailable {
            self.reported_unavailable = true;
            let (sentence, every) = (&failure.sentence, self.every.as_secs());
            note(&format!(
                "no events: {sentence}; polling every {every} s until the stream is open"
            ));
        }
    }
}

/// The file's name.
const NAME: &str = ".working-memory-folder.json";

/// How often a file is written anew that others change meanwhile.
const MAX_TRIES: usize = 10;

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
    recover(&tree, &before).map_err(|error| failed("", error))?;
    let mut wanted = OwnFiles::default();
    for (path, text) in files {
        // Nothing is written if a file cannot be read.
        tree.read(path).map_err(|error| failed(path, error))?;
        let hashes = BTreeSet::from([hash(text.as_bytes())]);
        wanted.files.insert(path.clone(), hashes);
    }
    // If the program is interrupted, the next run knows the new texts and the old ones.
    let mut between = before.clone();
    for (path, hashes) in &wanted.files {
        let known = between.files.entry(path.clone()).or_default();
        known.extend(hashes.clone());
    }
    write_own(&lock, &before, &between).map_err(|error| failed(NAME, error))?;
    let mut changes = Changes::default();
    for (path, text) in files {
        put(&tree, &lock, (path, text), &before, &mut changes).map_err(|error| failed(path, error))?;
    }
    for path in before.files.keys().filter(|path| is_of_archive(path)) {
        if wanted.files.contains_key(path) {
            continue;
        }
        let there = tree.read(path).ok();
        let own = there
            .as_ref()
            .map(|there| there.as_ref().filter(|there| before.wrote(path, there)));
        match (&there, own) {
            (Some(None), _) => {}
            (Some(Some(there)), Some(Some(_)))
                if swap::remove(&tree, path, &hash(there)).map_err(|error| failed(path, error))?
                    == Placed::Done =>
            {
                changes.removed.push(path.clone());
            }
            // The file there now was written by somebody else.
            _ => note(&format!(
                "{path} is no longer needed but was changed by others: it is kept"
            )),
        }
    }
    write_own(&lock, &between, &wanted).map_err(|error| failed(NAME, error))?;
    Ok(changes)
}

/// Writes one file in place of the text that was read, which is kept beside it if it is another's.
fn put(
    tree: &Tree,
    lock: &Lock<'_>,
    (path, text): (&str, &str),
    before: &OwnFiles,
    changes: &mut Changes,
) -> io::Result<()> {
    for _ in 0..MAX_TRIES {
        let placed = match tree.read(path)? {
            Some(there) if there == text.as_bytes() => return Ok(()),
            None => swap::create(tree, path, text.as_bytes())?,
            Some(there) => {
                if !before.wrote(path, &there) {
                    let kept = lock.keep(path, &there)?;
                    note(&format!(
                        "{path} was not written by this command; its text is kept as {kept}"
                    ));
                    changes.kept.push(kept);
                }
                swap::replace(tree, path, text.as_bytes(), &hash(&there))?
            }
        };
        match placed {
            Placed::Done => {
                changes.written.push(path.to_owned());
                return Ok(());
            }
            Placed::Changed => {}
            Placed::Blocked(why) => return Err(io::Error::other(why)),
        }
    }
    Err(io::Error::other("changes faster than it can be written"))
}

/// Cleans up what a killed program left behind.
fn recover(tree: &Tree, own: &OwnFiles) -> io::Result<()> {
    for above in ["", "active/", "archive/", EPICS, WEEKLY] {
        let names = tree.names(above).unwrap_or_default();
        for name in names.into_iter().filter(|name| swap::is_left_behind(name)) {
            let base = |path: &str| own.files.get(path).and_then(|hashes| hashes.first().cloned());
            if let Some(kept) = swap::recover(tree, above, &name, base)? {
                note(&format!(
                    "an earlier export was interrupted; a text of it is kept as {kept}"
                ));
            }
        }
    }
    Ok(())
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

/// The list of the last run; empty if it has another form, so that every file counts as written by others.
fn read_own(tree: &Tree) -> io::Result<OwnFiles> {
    match state::read(tree, NAME) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(OwnFiles::default()),
        read => read.map(Option::unwrap_or_default),
    }
}

fn write_own(lock: &Lock<'_>, there: &OwnFiles, wanted: &OwnFiles) -> io::Result<()> {
    if there == wanted {
        return Ok(());
    }
    state::write(lock, NAME, wanted)
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
