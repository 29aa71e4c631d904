//! `working-memory sync`: synchronises a folder of Markdown files with a root of the memory tool (docs/files.md).

mod root;
mod scan;

use self::root::{NAME, Root, State};
use self::scan::ScanResult;
use super::client::{Failure, Look, Output, Service, ServiceArgs, note};
use crate::cli::folder::disk::Disk;
use crate::cli::folder::engine::{Engine, Report, Sides as _};
use crate::cli::folder::tree::Tree;
use crate::cli::folder::watch::watch;
use crate::domain::handoff::Window as Length;
use crate::domain::ids::RootName;
use clap::Args;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The tree of files on the service, as in the memory tool's `?root=`. Needed once: the folder stores it.
    #[arg(long, value_name = "ROOT")]
    root: Option<RootName>,
    /// Continue until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, the interval between two comparisons.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    /// All text files, not only Markdown.
    #[arg(long)]
    all: bool,
    /// Delete also more than half of the files at once.
    #[arg(long)]
    allow_deletions: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Sync {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let failed = |error| Failure::failed(format!("{} {error}", self.folder.display()));
        let tree = Tree::create(&self.folder).map_err(failed)?;
        tree.try_lock().map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => {
                Failure::failed(format!("another sync of {} is running", self.folder.display()))
            }
            _ => failed(error),
        })?;
        let disk = Disk {
            shown: &self.folder,
            tree,
        };
        let stored = State::read(&disk)?;
        let state = self.state(stored, &service)?;
        let found = ScanResult::of(&disk.tree, self.all).map_err(failed)?;
        disk.recover(found.folders.iter().map(String::as_str), &state.files)?;
        let bases = state.files.clone();
        let mut root = Root::new(&service, disk, state, self.all);
        let mut engine = Engine::new(&mut root, bases);
        if !self.watch {
            let report = self.sync(&mut engine).await?;
            return self.print(&report);
        }
        let mut reported: BTreeMap<String, String> = BTreeMap::new();
        watch(&self.every, async |is_first| {
            let mut report = self.sync(&mut engine).await?;
            // Skipped files are reported once, not every two seconds.
            let skipped = report.skipped.clone();
            report.skipped.retain(|path, why| reported.get(path) != Some(why));
            reported = skipped;
            match is_first || !report.is_quiet() || !report.skipped.is_empty() {
                true => self.print(&report),
                false => Ok(()),
            }
        })
        .await
    }

    /// The state of the folder, which must match the vault and root given now.
    fn state(&self, stored: Option<State>, service: &Service) -> Result<State, Failure> {
        let (shown, vault) = (self.folder.display(), service.vault()?);
        let Some(state) = stored else {
            let root = self.root.as_ref().ok_or_else(|| {
                Failure::usage(format!(
                    "{shown} was never kept equal to anything: say with --root which tree of files of vault {vault} \
                     it is to be"
                ))
            })?;
            return Ok(State::new(&vault, root));
        };
        let other = self.root.as_ref().is_some_and(|root| root.as_str() != state.root);
        if other || state.vault != vault.as_str() {
            let State { root, vault, .. } = state;
            return Err(Failure::usage(format!(
                "{shown} is synchronised with root {root} of vault {vault}; use another folder for another root, or remove \
                 {NAME} in it"
            )));
        }
        Ok(state)
    }

    /// Makes both sides equal.
    async fn sync(&self, engine: &mut Engine<'_, Root<'_>>) -> Result<Report, Failure> {
        let mut report = engine.run(self.allow_deletions).await?;
        if engine.bases.is_empty() {
            // The root is saved also if there are no files yet.
            engine.sides.save(&engine.bases).await?;
        }
        report.skipped.append(&mut engine.sides.skipped);
        Ok(report)
    }

    /// Prints what was done: one line per file, or with `--json` an object in one line.
    fn print(&self, report: &Report) -> Result<(), Failure> {
        let shown = self.folder.display();
        let mut out = Output::new();
        if self.service.is_json() {
            let mut body =
                serde_json::to_value(report).map_err(|error| Failure::failed(error.to_string()))?;
            body["folder"] = shown.to_string().into();
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
            out.text(&format!("{shown}: both sides are equal")).end();
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
}
