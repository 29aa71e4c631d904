//! Which parts a prompt is to have.

use super::category::{GENERATED, PLACED};
use super::item::PromptItem;

use crate::domain::ids::RecordId;
use std::collections::{BTreeMap, BTreeSet};

/// Names of parts: those that are wanted, and those that are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these; all, if it is `None`.
    pub include: Option<BTreeSet<String>>,
    /// None of these.
    pub exclude: BTreeSet<String>,
    /// What the prompt is for: under a budget, records that matter to it are kept before others.
    pub query: Option<String>,
    /// The records that are nearest to it in meaning, with their similarity in thousandths.
    pub near: BTreeMap<RecordId, u16>,
}

impl Selection {
    /// Whether a part is wanted.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|names| names.contains(name));
        included && !self.exclude.contains(name)
    }

    /// The names that are wanted and that neither a part nor a category of these items has: most likely misspelt.
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
