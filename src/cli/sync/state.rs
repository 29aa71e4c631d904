//! What was last seen equal on both sides: a small file in the folder.

use crate::cli::client::Failure;
use crate::cli::tree::Lock;
use crate::cli::tree::Tree;
use crate::domain::folder_sync::Base;
use crate::domain::ids::{RootName, VaultId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// Its name.
pub(super) const NAME: &str = ".working-memory-sync.json";

/// What it looks like.
const FORMAT: u32 = 1;

/// What is known of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    /// The vault that the folder is equal to.
    pub(super) vault: String,
    /// The root in it.
    pub(super) root: String,
    /// By path below the folder, what both sides had.
    pub(super) files: BTreeMap<String, Base>,
}

impl State {
    /// Of a folder that was never kept equal to anything.
    pub(super) fn new(vault: &VaultId, root: &RootName) -> Self {
        Self {
            format: FORMAT,
            vault: vault.to_string(),
            root: root.to_string(),
            files: BTreeMap::new(),
        }
    }

    /// What the folder's file says; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged. Nothing is guessed: with a wrong base, deletions would look like news.
    pub(super) fn read(tree: &Tree) -> Result<Option<Self>, Failure> {
        let damaged = |why: &dyn std::fmt::Display| {
            Failure::failed(format!(
                "{NAME} is damaged ({why}); remove it to begin anew: then files that differ are kept twice, and \
                 deletions that were not carried over come back"
            ))
        };
        let bytes = tree.read(NAME).map_err(|error| damaged(&error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let state: Self = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
        if state.format != FORMAT {
            return Err(damaged(&format!("format {} is not known here", state.format)));
        }
        Ok(Some(state))
    }

    /// Writes it as a whole.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn write(&self, lock: &Lock<'_>) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        lock.replace(NAME, &json)
    }
}
