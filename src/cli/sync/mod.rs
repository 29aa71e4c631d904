//! `working-memory sync`: synchronises a folder of Markdown files with a root of the memory tool (docs/files.md). Here are the
//! command and the state file; [`root`] makes both sides equal, and [`scan`] finds the files of the folder that are meant.

mod root;
mod scan;

use super::client::{Exit, Failure, Look, Output, Service, ServiceArgs, note};
use crate::cli::folder::tree::Tree;
use crate::cli::folder::watch;
use crate::domain::handoff::Window as Length;
use crate::domain::ids::RootName;
use clap::Args;
use root::{Base, Report, Root};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use serde_json::json;
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
        let locked = tree.lock(FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => {
                Failure::failed(format!("another sync of {} is running", self.folder.display()))
            }
            _ => failed(error),
        })?;
        let stored = State::read(&tree)?;
        let is_new = stored.is_none();
        let state = self.state(stored, &service)?;
        let mut root = Root::new(&service, tree, (state, is_new), self.all);
        let mut reported: BTreeMap<String, String> = BTreeMap::new();
        let ended = watch(self.watch.then_some(&self.every), async |is_first| {
            let done = root.sync(self.allow_deletions).await;
            let mut report = std::mem::take(&mut root.report);
            // Skipped files are reported once, not every two seconds.
            let skipped = report.skipped.clone();
            report.skipped.retain(|path, why| reported.get(path) != Some(why));
            match done {
                Ok(()) => reported = skipped,
                Err(_) => reported.extend(skipped),
            }
            // What was done before an error is told, too.
            let told = self.print(&report, done.is_ok().then_some(is_first));
            done.and(told).and(self.allowed(&report))
        })
        .await;
        // A signal drops a round at any step.
        root.report.skipped.clear();
        let told = self.print(&root.report, None);
        ended.and(told).and(root.save(1))
    }

    /// Ok unless a file was skipped since it may not be written on the service. A folder that is watched still receives.
    fn allowed(&self, report: &Report) -> Result<(), Failure> {
        if report.forbidden == 0 || self.watch {
            return Ok(());
        }
        let sentence = format!(
            "files skipped since writing them is not allowed: {}",
            report.forbidden
        );
        Err(Failure::new(Exit::NotAllowed, sentence))
    }

    /// The state of the folder, which must match the vault and root given now.
    fn state(&self, stored: Option<State>, service: &Service) -> Result<State, Failure> {
        let (shown, vault) = (self.folder.display(), service.vault()?);
        let Some(state) = stored else {
            let root = self.root.as_ref().ok_or_else(|| {
                Failure::usage(format!(
                    "{shown} is not synchronised with anything yet: name with --root the tree of files in vault {vault}, such \
                     as --root agent-1"
                ))
            })?;
            return Ok(State {
                format: FORMAT,
                vault: vault.to_string(),
                root: root.to_string(),
                files: BTreeMap::new(),
            });
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

    /// Prints what was done: one line per file, or with `--json` an object in one line. If that is nothing, it is told only of
    /// the `first` sync, and of none that did not come to its end.
    fn print(&self, report: &Report, first: Option<bool>) -> Result<(), Failure> {
        if first != Some(true) && report.is_quiet() && report.skipped.is_empty() {
            return Ok(());
        }
        let shown = self.folder.display();
        if self.service.is_json() {
            let mut body = json!(report);
            body["folder"] = shown.to_string().into();
            return Output::new().text(&body.to_string()).end().write();
        }
        // Line by line: a pager would hold up a folder that is watched.
        for (look, word, paths) in [
            (Look::Added, "sent", &report.sent),
            (Look::Added, "received", &report.received),
            (Look::Removed, "taken out there", &report.unlinked),
            (Look::Removed, "removed here", &report.removed),
        ] {
            for path in paths {
                let mut out = Output::new();
                out.styled(look, word).text(" ").text(path).end().write()?;
            }
        }
        if first.is_some() && report.is_quiet() {
            let rest = if report.skipped.is_empty() {
                ""
            } else {
                ", but for what was skipped"
            };
            let line = format!("{shown}: both sides are equal{rest}");
            Output::new().text(&line).end().write()?;
        }
        for (path, copy) in &report.conflicts {
            note(&format!(
                "conflict: {path} was changed on both sides, or made anew on the service; it has the service's text now, and \
                 the folder's text is in {copy}"
            ));
        }
        for (path, why) in &report.skipped {
            note(&format!("skipped: {path}: {why}"));
        }
        Ok(())
    }
}

/// The name of the state file.
const NAME: &str = ".working-memory-sync.json";

/// The version of the file's format.
const FORMAT: u32 = 2;

/// The stored state of a folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    format: u32,
    /// The vault that the folder is synchronised with.
    vault: String,
    /// The root in it.
    root: String,
    /// By path below the folder, the base of each file.
    files: BTreeMap<String, Base>,
}

impl State {
    /// Reads the folder's file; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged. The state is not guessed: with a wrong base, deletions would look like new files.
    fn read(tree: &Tree) -> Result<Option<Self>, Failure> {
        let why = match tree.state::<Self>(NAME) {
            Ok(None) => return Ok(None),
            // Format 1 is the same without the memories of the files.
            Ok(Some(state)) if (1..=FORMAT).contains(&state.format) => {
                return Ok(Some(Self {
                    format: FORMAT,
                    ..state
                }));
            }
            Ok(Some(state)) => format!("format {} is not supported", state.format),
            Err(error) => error.to_string(),
        };
        Err(Failure::failed(format!(
            "{NAME} is damaged ({why}); remove it to begin anew: then files that differ are kept twice, and deletions that \
             were not carried over come back"
        )))
    }
}
