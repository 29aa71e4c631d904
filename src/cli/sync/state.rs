//! The last state that was equal on both sides: a small file in the folder.

use crate::cli::client::Failure;
use crate::cli::folder::state;
use crate::cli::folder::tree::{Lock, Tree};
use crate::cli::sync::plan::Base;
use crate::domain::ids::{RootName, VaultId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

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
