//! `[prompt]`: limits of prompt items.

use super::limits::MOST_BYTES;
use crate::domain::prompt::ItemLimits;
use serde::Deserialize;

/// Limits of a memory's own items, and of a vault's own items.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptConfig {
    /// The content of one item, in bytes.
    pub item_bytes: usize,
    /// Items per memory, and per vault for those of the vault.
    pub max_items: usize,
    /// Total bytes of the contents of these items: a prompt is assembled in memory.
    pub total_bytes: usize,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self {
            item_bytes: 65_536,
            max_items: 500,
            total_bytes: 1_048_576,
        }
    }
}

impl PromptConfig {
    /// The limits that storage enforces.
    #[must_use]
    pub fn limits(&self) -> ItemLimits {
        ItemLimits {
            item_bytes: self.item_bytes,
            max_items: self.max_items,
            total_bytes: self.total_bytes,
        }
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        for (key, value, most) in [
            ("prompt.item_bytes", self.item_bytes, MOST_BYTES),
            ("prompt.max_items", self.max_items, 10_000),
            ("prompt.total_bytes", self.total_bytes, MOST_BYTES),
        ] {
            if value == 0 || value > most {
                return Err(format!("{key} must be 1 to {most}"));
            }
        }
        Ok(())
    }
}
