//! `working-memory sync`: a folder of Markdown files and a root of the memory tool, kept equal both ways (docs/sync.md).

mod engine;
mod scan;
mod sides;
mod state;
mod swap;
mod watch;

use self::engine::{Engine, Report, Sides as _};
use self::scan::Scanner;
use self::sides::Pair;
use self::state::State;
use super::client::{Failure, Look, Output, Service, ServiceArgs, note};
use super::handoff::Window as Length;
use super::tree::{Lock, Tree};
use crate::domain::ids::{RootName, VaultId};
use clap::Args;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// The folder; it is made if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The tree of files on the service, as in the memory tool's `?root=`. Said once, the folder remembers it.
    #[arg(long, value_name = "ROOT")]
    root: Option<RootName>,
    /// Go on until interrupted.
    #[arg(long)]
    watch: bool,
    /// With --watch, how often to look at both sides.
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "watch")]
    every: Length,
    /// Files of all kinds that are text, not Markdown alone.
    #[arg(long)]
    all: bool,
    /// Delete also more than half of the files at once.
    #[arg(long)]
    allow_deletions: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// A folder that this process alone keeps equal to a root.
struct Folder<'f> {
    service: &'f Service,
    shown: &'f Path,
    tree: &'f Tree,
    lock: Lock<'f>,
    scanner: Scanner,
    state: State,
    refused: BTreeMap<String, (String, String)>,
    all: bool,
    allow_deletions: bool,
}

impl Sync {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let vault = service.vault()?;
        let failed = |error: io::Error| Failure::failed(format!("{} {error}", self.folder.display()));
        let tree = Tree::create(&self.folder).map_err(failed)?;
        let lock = tree.try_lock().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                Failure::failed(format!("another sync of {} is running", self.folder.display()))
            }
            _ => failed(error),
        })?;
        let state = self.state(&tree, &vault)?;
        let mut folder = Folder {
            service: &service,
            shown: &self.folder,
            tree: &tree,
            lock,
            scanner: Scanner::default(),
            state,
            refused: BTreeMap::new(),
            all: self.all,
            allow_deletions: self.allow_deletions,
        };
        folder.recover()?;
        if self.watch {
            return watch::watch(folder, self.every.duration(), self.service.is_raw()).await;
        }
        let report = folder.sync().await?;
        tell(&self.folder, &report, self.service.is_raw())
    }

    /// What the folder remembers, which has to be of what is named now.
    fn state(&self, tree: &Tree, vault: &VaultId) -> Result<State, Failure> {
        let shown = self.folder.display();
        let Some(state) = State::read(tree)? else {
            let root = self.root.as_ref().ok_or_else(|| {
                Failure::usage(format!(
                    "{shown} was never kept equal to anything: say with --root which tree of files of vault {vault} \
                     it is to be"
                ))
            })?;
            return Ok(State::new(vault, root));
        };
        let other = self.root.as_ref().is_some_and(|root| root.as_str() != state.root);
        if other || state.vault != vault.as_str() {
            return Err(Failure::usage(format!(
                "{shown} is kept equal to root {} of vault {}; for another one take another folder, or remove {} in it",
                state.root,
                state.vault,
                state::NAME
            )));
        }
        Ok(state)
    }
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

    fn recover(&mut self) -> Result<(), Failure> {
        self.pair().recover()
    }

    /// Makes both sides equal.
    async fn sync(&mut self) -> Result<Report, Failure> {
        let mut bases = self.state.files.clone();
        let mut refused = std::mem::take(&mut self.refused);
        let deletions = self.allow_deletions;
        let is_new = bases.is_empty();
        let mut pair = self.pair();
        let done = Engine::new(&mut pair, &mut bases, &mut refused)
            .run(deletions)
            .await;
        if done.is_ok() && is_new {
            // What the folder is to be is remembered also where there is no file yet.
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

/// Says what was done: a line each, or with `--json` an object in one line.
fn tell(folder: &Path, report: &Report, as_json: bool) -> Result<(), Failure> {
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
            "conflict: {path} was changed on both sides; it is now as on the service, and what the folder had is {copy}"
        ));
    }
    for (path, why) in &report.skipped {
        note(&format!("skipped: {path}: {why}"));
    }
    Ok(())
}
