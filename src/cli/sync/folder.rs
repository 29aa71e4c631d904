//! A folder that is synchronised with a root, and the report about it.

use super::engine::{Engine, Report, Sides as _};
use super::scan::Scanner;
use super::sides::Pair;
use super::state::State;
use crate::cli::client::{Failure, Look, Output, Service, note};
use crate::cli::folder::tree::{Lock, Tree};
use std::collections::BTreeMap;
use std::path::Path;

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
