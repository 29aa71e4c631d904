//! `[window]`: how many recent tasks and decisions are in a document.

use super::values::{section, within};
use crate::domain::ids::VaultId;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The largest window that any configuration allows.
pub const MOST: usize = 1_000;

section! {
    /// The size of the window; older entries are archived.
    pub struct WindowConfig in "window" {
        /// Recent tasks.
        pub tasks: usize = 5, in 1..=MOST;
        /// Decisions.
        pub decisions: usize = 10, in 1..=MOST;
        /// Other sizes for single vaults, by vault id: `[window.vaults.<vault_id>]`. In the file only.
        pub vaults: BTreeMap<String, VaultWindow> = BTreeMap::new();
    }
}

/// The window of one vault; unset values are the general ones.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VaultWindow {
    /// Recent tasks.
    pub tasks: Option<usize>,
    /// Decisions.
    pub decisions: Option<usize>,
}

impl WindowConfig {
    /// The number of tasks and decisions in the documents of a vault.
    #[must_use]
    pub fn of_vault(&self, vault: &str) -> (usize, usize) {
        let own = self.vaults.get(vault);
        let tasks = own.and_then(|own| own.tasks).unwrap_or(self.tasks);
        let decisions = own.and_then(|own| own.decisions).unwrap_or(self.decisions);
        (tasks, decisions)
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.ranges()?;
        for vault in self.vaults.keys() {
            vault
                .parse::<VaultId>()
                .map_err(|rule| format!("window.vaults.\"{vault}\" is not a valid vault id: an id {rule}"))?;
            let (tasks, decisions) = self.of_vault(vault);
            within(&format!("window.vaults.{vault}.tasks"), tasks, 1..=MOST)?;
            within(&format!("window.vaults.{vault}.decisions"), decisions, 1..=MOST)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn a_vault_may_have_a_window_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("working-memory.toml");
        let text = "[window]\ntasks = 7\n[window.vaults.\"Acme.eu\"]\ntasks = 2\n";
        std::fs::write(&file, text).unwrap();
        let window = Config::load(Some(&file), []).unwrap().window;
        assert_eq!(window.of_vault("Acme.eu"), (2, 10));
        assert_eq!(window.of_vault("acme.eu"), (7, 10));
        for bad in [
            "tasks = 0",
            "decisions = 1001",
            "[window.vaults.v]\ntasks = 0",
            "[window.vaults.v]\ntask = 1",
            "[window.vaults.\"no vault\"]\ntasks = 1",
        ] {
            std::fs::write(&file, format!("[window]\n{bad}\n")).unwrap();
            let error = Config::load(Some(&file), []).unwrap_err().to_string();
            let is_named = error.contains("window.") || error.contains("task");
            assert!(is_named, "{bad}: {error}");
        }
    }
}
