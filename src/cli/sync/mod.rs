//! `working-memory sync`: synchronises a folder of Markdown files with a root of the memory tool (docs/files.md).

mod engine;
mod folder;
mod plan;
mod scan;
mod sides;

use self::folder::{Folder, State, print_report, watch};
use self::scan::Scanner;
use super::client::{Failure, Service, ServiceArgs};
use super::handoff::Window as Length;
use crate::cli::folder::tree::Tree;
use crate::domain::ids::{RootName, VaultId};
use clap::Args;
use std::collections::BTreeMap;
use std::io;
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
            return watch(folder, self.every.duration(), self.service.is_json()).await;
        }
        let report = folder.sync().await?;
        print_report(&self.folder, &report, self.service.is_json())
    }

    /// The stored state of the folder, which must match the vault and root given now.
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
                "{shown} is synchronised with root {} of vault {}; use another folder for another root, or remove {} in it",
                state.root,
                state.vault,
                folder::NAME
            )));
        }
        Ok(state)
    }
}
