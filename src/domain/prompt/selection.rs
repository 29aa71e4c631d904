//! Selects the parts of a prompt.

use super::category::{GENERATED, PLACED};
use super::item::PromptItem;

use crate::domain::ids::RecordId;
use std::collections::{BTreeMap, BTreeSet};

/// Names of parts to include and to exclude.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these parts; all parts if `None`.
    pub include: Option<BTreeSet<String>>,
    /// None of these parts.
    pub exclude: BTreeSet<String>,
    /// The purpose of the prompt: under a budget, records relevant to it are dropped last.
    pub query: Option<String>,
    /// The semantically nearest records, with their similarity in thousandths.
    pub near: BTreeMap<RecordId, u16>,
}

impl Selection {
    /// Whether a part is selected.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|names| names.contains(name));
        included && !self.exclude.contains(name)
    }

    /// Included names that match neither a part nor a category of these items: most likely misspelt.
    #[must_use]
    pub fn unknown(&self, items: &[PromptItem]) -> Vec<&str> {
        let known = |name: &&str| {
            GENERATED.contains(name)
                || PLACED.contains(name)
                || items.iter().any(|item| item.category.as_str() == *name)
        };
        let wanted = self.include.iter().flatten().map(String::as_str);
        wanted.filter(|name| !known(name)).collect()
    }
}
