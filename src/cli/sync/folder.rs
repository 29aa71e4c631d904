//! A folder that is synchronised with a root, once or for as long as it runs: its state file, and the report about it.

use crate::cli::client::{Exit, Failure, Look, Output, Service, note};
use crate::cli::folder::state;
use crate::cli::folder::tree::{Lock, Tree};
use crate::cli::folder::watch::{Backoff, until_stopped};
use crate::cli::sync::engine::{Engine, Report, Sides as _};
use crate::cli::sync::plan::Base;
use crate::cli::sync::scan::Scanner;
use crate::cli::sync::sides::Pair;
use crate::domain::ids::{RootName, VaultId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A folder, locked by this process, that is synchronised with a root.
pub(super) struct Folder<'f> {
    pub(super) service: &'f Service,
    pub(super) shown: &'f Path,
    pub(super) tree: &'f Tree,
    pub(super) lock: Lock<'f>,
    pub(super) scanner: Scanner,
    pub(super) state: State,
    pub(super) refused: BTreeMap<String, (String, String)>,
    pub(super) all: bool,
    pub(super) allow_deletions: bool,
}

impl Folder<'_> {
    fn pair(&mut self) -> Pair<'_> {
        Pair {
            service: self.service,
            shown: self.shown,
            tree: self.tree,
            lock: &self.lock,
            scanner: &mut self.scanner,
            state: self.state.clone(),
            all: self.all,
            memories: BTreeMap::new(),
            skipped: BTreeMap::new(),
        }
    }

    pub(super) fn recover(&mut self) -> Result<(), Failure> {
        self.pair().recover()
    }

    /// Makes both sides equal.
    pub(super) async fn sync(&mut self) -> Result<Report, Failure> {
        let mut bases = self.state.files.clone();
        let mut refused = std::mem::take(&mut self.refused);
        let deletions = self.allow_deletions;
        let is_new = bases.is_empty();
        let mut pair = self.pair();
        let done = Engine::new(&mut pair, &mut bases, &mut refused)
            .run(deletions)
            .await;
        if done.is_ok() && is_new {
            // The root is saved also if there are no files yet.
            pair.save(&bases).await?;
        }
        let skipped = std::mem::take(&mut pair.skipped);
        self.state.files = bases;
        self.refused = refused;
        let mut report = done?;
        report.skipped.extend(skipped);
        Ok(report)
    }
}

/// Prints what was done: one line per file, or with `--json` an object in one line.
pub(super) fn print_report(folder: &Path, report: &Report, as_json: bool) -> Result<(), Failure> {
    let mut out = Output::new();
    if as_json {
        let mut body = serde_json::to_value(report).map_err(|error| Failure::failed(error.to_string()))?;
        body["folder"] = folder.display().to_string().into();
        return out.text(&body.to_string()).end().write();
    }
    for (look, word, paths) in [
        (Look::Added, "sent", &report.sent),
        (Look::Added, "received", &report.received),
        (Look::Removed, "taken out there", &report.unlinked),
        (Look::Removed, "removed here", &report.removed),
    ] {
        for path in paths {
            out.styled(look, word).text(" ").text(path).end();
        }
    }
    if report.is_quiet() {
        out.text(&format!("{}: both sides are equal", folder.display()))
            .end();
    }
    out.write()?;
    for (path, copy) in &report.conflicts {
        note(&format!(
            "conflict: {path} was changed on both sides; it has the service's text now, and the folder's text is in {copy}"
        ));
    }
    for (path, why) in &report.skipped {
        note(&format!("skipped: {path}: {why}"));
    }
    Ok(())
}

/// Failures after which the sync is tried again.
const MAY_PASS: [Exit; 3] = [Exit::NoService, Exit::Failed, Exit::Busy];

/// Syncs repeatedly, until SIGINT or SIGTERM.
///
/// # Errors
/// The first time, no service answers; later, the service rejects permanently, or an I/O error.
pub(super) async fn watch(folder: Folder<'_>, every: Duration, as_json: bool) -> Result<(), Failure> {
    until_stopped(run(folder, every, as_json)).await
}

async fn run(mut folder: Folder<'_>, every: Duration, as_json: bool) -> Result<(), Failure> {
    let mut is_first = true;
    let mut reported: BTreeMap<String, String> = BTreeMap::new();
    let mut backoff = Backoff::new(every);
    loop {
        match folder.sync().await {
            Ok(mut report) => {
                backoff.succeeded();
                // Skipped files are reported once, not every two seconds.
                let skipped = report.skipped.clone();
                report.skipped.retain(|path, why| reported.get(path) != Some(why));
                reported = skipped;
                if is_first || !report.is_quiet() || !report.skipped.is_empty() {
                    print_report(folder.shown, &report, as_json)?;
                }
            }
            Err(failure) if is_first => return Err(failure),
            Err(failure) => backoff.failed(failure, &MAY_PASS)?,
        }
        is_first = false;
        tokio::time::sleep(backoff.wait()).await;
    }
}

/// The file's name.
pub(super) const NAME: &str = ".working-memory-sync.json";

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The stored state of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    /// The vault that the folder is synchronised with.
    pub(super) vault: String,
    /// The root in it.
    pub(super) root: String,
    /// By path below the folder, the base of each file.
    pub(super) files: BTreeMap<String, Base>,
}

impl State {
    /// For a folder that was never synchronised.
    pub(super) fn new(vault: &VaultId, root: &RootName) -> Self {
        Self {
            format: FORMAT,
            vault: vault.to_string(),
            root: root.to_string(),
            files: BTreeMap::new(),
        }
    }

    /// Reads the folder's file; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged. The state is not guessed: with a wrong base, deletions would look like new files.
    pub(super) fn read(tree: &Tree) -> Result<Option<Self>, Failure> {
        let damaged = |why: &dyn std::fmt::Display| {
            Failure::failed(format!(
                "{NAME} is damaged ({why}); remove it to begin anew: then files that differ are kept twice, and \
                 deletions that were not carried over come back"
            ))
        };
        let state: Option<Self> = state::read(tree, NAME).map_err(|error| damaged(&error))?;
        let Some(state) = state else { return Ok(None) };
        if state.format != FORMAT {
            return Err(damaged(&format!("format {} is not supported", state.format)));
        }
        Ok(Some(state))
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// An I/O error.
    pub(super) fn write(&self, lock: &Lock<'_>) -> io::Result<()> {
        state::write(lock, NAME, self)
    }
}
